"""Large programs, and how far the tool says that it is."""

import os
import pty
import subprocess

import many_processes
from conftest import MERGER, memory_limit

PROCESSES = 2000


def test_many_processes_need_few_files_and_little_memory(run):
    many_processes.write_processes(PROCESSES, run.folder, with_traces=True)
    limits = ("prlimit", "--nofile=256", memory_limit(192 << 20), MERGER)
    project = run.merge_cleanly("app", command=limits).project
    assert project.get("processCount") == str(PROCESSES)
    communicators = {c.get("uid"): len(c) for c in project.find("CommunicatorList")}
    assert communicators["W"] == PROCESSES
    assert communicators["W/2@1000"] == 1000
    assert communicators["W/4@263"] == 32
    assert len(project.findall("FileList/File")) == PROCESSES + 2
    assert [len(rank) for rank in project.find("Datatypes")] == [12] * PROCESSES


def stderr_on_a_terminal(folder, *arguments):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([MERGER, "-o", "app.proj", *arguments], cwd=folder, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return text.decode()


class TestProgress:
    def test_is_shown_on_a_terminal_and_wiped_out(self, run):
        run.process(0, "Nonsense\n", size=1)
        text = stderr_on_a_terminal(run.folder, "app")
        assert "project-merger: reading processes 0 of 1\x1b[K" in text
        assert "project-merger: writing\x1b[K" in text
        assert "\r\x1b[Kapp_node01_0_0.info:2: warning: unknown line" in text
        assert text.endswith("\r\x1b[K")

    def test_is_not_shown_if_quiet(self, run):
        run.process(0, size=1)
        assert stderr_on_a_terminal(run.folder, "--quiet", "app") == ""
