"""Programs that a command starts, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Iterator

_LONGEST_END = 5.0  # seconds until a program that was asked to end has ended what it has started


def descendants(process: int) -> list[int]:
    """Those that it has started, and those that these have; parents first."""
    children: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended
            children += map(int, task.read_text().split())
    return children + [one for child in children for one in descendants(child)]


def send(number: signal.Signals, processes: Iterable[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _started(process: int) -> str | None:
    """When it was, in the kernel's own unit: another process may have got the number since."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    return None


def end(child: subprocess.Popen[Any]) -> None:
    """With all that it has started on this host: launchers do that themselves if they are asked, unless they hang; scripts do not."""
    others = {process: _started(process) for process in descendants(child.pid)}
    send(signal.SIGTERM, [child.pid, *others])
    with suppress(subprocess.TimeoutExpired):
        child.wait(_LONGEST_END)
    left = [process for process, started in others.items() if started is not None and started == _started(process)]
    if child.poll() is None:
        left += [child.pid, *descendants(child.pid)]
    send(signal.SIGKILL, left)


@contextmanager
def ending(child: subprocess.Popen[Any]) -> Iterator[None]:
    """Whoever leaves this by an exception, such as Ctrl-C or the end of a time, leaves no process behind."""
    try:
        yield
    except BaseException:
        end(child)
        raise


def run(command: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[Any]:
    """As subprocess.run(), which only kills the program itself."""
    with subprocess.Popen(command, **options) as child, ending(child):
        output, errors = child.communicate()
    return subprocess.CompletedProcess(command, child.returncode, output, errors)
