"""hdtrace doctor and calibrate start what takes long: its end is theirs."""
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BUILD
from hdtrace.cli.installation import output_of

HANGS = "#!/bin/sh\ntrap '' TERM\nsetsid sleep 1000 &\necho $! >\"$STARTED.new\"\nmv \"$STARTED.new\" \"$STARTED\"\nwait\n"


@pytest.fixture
def launcher(tmp_path):
    script = tmp_path / "launch"
    script.write_text(HANGS)
    script.chmod(0o755)
    return script


def is_ended(process):
    """Within a second, though perhaps nobody has asked for its exit code."""
    for _ in range(20):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def started_by(file):
    while not file.exists():
        time.sleep(0.05)
    return int(file.read_text())


@pytest.mark.parametrize("number, code", [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)])
@pytest.mark.parametrize("command", ["doctor", "calibrate"])
def test_an_interrupted_command_leaves_nothing(tmp_path, launcher, command, number, code):
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = os.environ | {"STARTED": str(tmp_path / "started")}
    words = [BUILD / "bin/hdtrace", command, "--", launcher]
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        started = started_by(tmp_path / "started")
        process.send_signal(number)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == code
    assert is_ended(started) and list(folder.iterdir()) == []


def test_what_takes_too_long_is_ended(tmp_path, launcher):
    code, _, _ = output_of([launcher], 1, STARTED=str(tmp_path / "started"))
    assert code is None and is_ended(started_by(tmp_path / "started"))
