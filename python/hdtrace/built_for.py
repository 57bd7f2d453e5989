"""Says for which Python the compiled part of this package was built, where another one imports it."""

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

_NAME = "_hdtrace"
_built = [file.name.removeprefix(_NAME) for file in Path(__file__).parent.glob(f"{_NAME}.*.so")]
if _built and not set(_built).intersection(EXTENSION_SUFFIXES):
    _builds = ", ".join(suffix.strip(".").removesuffix(".so") for suffix in _built)
    raise ImportError(
        f"hdtrace was built for another Python ({_builds}) than this one ({sys.executable}, {sys.version.split()[0]}): use that one, "
        f"or build hdtrace for this one with cmake -DPython3_EXECUTABLE={sys.executable}"
    )
