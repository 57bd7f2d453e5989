"""Writes the man page and the completion of bash, for the build: documentation VERSION MAN-PAGE COMPLETION"""

import sys
from pathlib import Path

from .completion import bash
from .manual import page

if __name__ == "__main__":
    version, man_page, completion = sys.argv[1:]
    Path(man_page).write_text(page(version))
    Path(completion).write_text(bash())
