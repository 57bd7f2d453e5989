"""Writes the man page and the completions of all shells, for the build: documentation VERSION MAN-PAGE FOLDER"""

import sys
from pathlib import Path

from .completion import SHELLS
from .manual import page

if __name__ == "__main__":
    version, man_page, folder = sys.argv[1:]
    Path(man_page).write_text(page(version))
    for shell, completion in SHELLS.items():
        Path(folder, f"hdtrace.{shell}").write_text(completion())
