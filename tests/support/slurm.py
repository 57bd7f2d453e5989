"""A Slurm cluster of this machine alone, with files, ports and keys of its own, for as long as the tests that use it run."""
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

_PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel")
_CONFIGURATION = """\
ClusterName=hdtrace
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=10
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def why_not():
    """Why there can be no cluster here; empty if there can."""
    missing = [program for program in _PROGRAMS if not _find(program)]
    if missing:
        return f"Slurm is not installed: {', '.join(missing)}"
    return "" if os.geteuid() == 0 else "Slurm's daemons need to be root"


class Cluster:
    """Starts it; `environment` is what leads Slurm's commands to it. A context manager."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self._munged = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        (self.folder / "slurm.conf").write_text(_CONFIGURATION.format(
            folder=self.folder, host=socket.gethostname().split(".")[0], ports=_free_ports(2), processors=os.cpu_count()))
        if _version() >= 23:  # it needs the file system of control groups, which a system in a folder does not have, or this
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        options = {"key-file": key, "socket": self.folder / "munge.socket", "pid-file": self.folder / "munged.pid",
                   "log-file": self.folder / "munged.log", "seed-file": self.folder / "munged.seed", "group-update-time": -1}
        self._munged = subprocess.Popen([_find("munged"), "--foreground", "--force", *(f"--{name}={value}" for name, value in options.items())],
                                        stderr=subprocess.DEVNULL)
        self._wait_until((self.folder / "munge.socket").exists)
        for daemon in ("slurmctld", "slurmd"):
            subprocess.run([_find(daemon)], env=self.environment, check=True, timeout=30)
        self._wait_until(lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T").stdout)

    def __exit__(self, *_):
        for daemon in ("slurmd", "slurmctld"):
            file = self.folder / f"{daemon}.pid"
            if file.exists():
                os.kill(int(file.read_text()), 15)
        self._wait_until(lambda: not any((self.folder / f"{daemon}.pid").exists() for daemon in ("slurmd", "slurmctld")))
        if self._munged:
            self._munged.terminate()
            self._munged.wait()

    def run(self, *command, **options):
        """What one of Slurm's commands says."""
        return subprocess.run([str(word) for word in command], env=self.environment, capture_output=True, text=True, timeout=120, **options)

    def _wait_until(self, holds):
        end = time.monotonic() + 60
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(log.read_text()[-2000:] for log in self.folder.glob("*.log"))
                pytest.fail(f"the cluster does not start or end:\n{logs}")
            time.sleep(0.1)


def _find(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")


def _version():
    said = subprocess.run([_find("slurmd"), "-V"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"\d+", said)[0])


def _free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports
