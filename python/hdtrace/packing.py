"""Packs the files of a project into one, and takes them out again.

A packed project is a ZIP file in which files are stored as they are, so that the readers find their bytes in it, and every unzip can open it.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

Progress = Callable[[int], None]

_AT_ONCE = 1 << 20
_UNIX_TIME = struct.Struct("<HHBl")  # an extra field that unzip knows: those of entries count in steps of two seconds
_UNIX_TIME_KIND = 0x5455
_ONLY_MODIFIED = 1
_UNIX = 3


def check_folder_of(place: Path) -> None:
    """Else the error would name a file that nobody has asked for."""
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(place.parent))


def _check_free(place: Path) -> None:
    check_folder_of(place)
    if place.exists() or place.is_symlink():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place))


def _unfinished(place: Path) -> Path:
    return place.parent / f".{place.name}.unfinished-{os.getpid()}"


def _entry(name: str, mode: int, modified: int) -> zipfile.ZipInfo:
    first_year, last_year = 1980, 2107  # that an entry can tell
    date = time.localtime(modified)[:6]
    entry = zipfile.ZipInfo(name, date if first_year <= date[0] <= last_year else (first_year, 1, 1, 0, 0, 0))
    entry.create_system = _UNIX
    entry.external_attr = mode << 16
    if modified.bit_length() < 32:
        entry.extra = _UNIX_TIME.pack(_UNIX_TIME_KIND, _UNIX_TIME.size - 4, _ONLY_MODIFIED, modified)
    return entry


def _copy(source, target, progress: Progress) -> None:
    while part := source.read(_AT_ONCE):
        target.write(part)
        progress(len(part))


def pack(paths: Iterable[str], texts: dict[str, bytes], output: Path, progress: Progress) -> None:
    """Files, and texts that become files, each under its own name. The output is there only once it is whole and safe."""
    _check_free(output)
    unfinished = _unfinished(output)
    try:
        with open(unfinished, "xb") as file:
            with zipfile.ZipFile(file, "w") as packed:
                for path in paths:
                    with open(path, "rb") as source:
                        status = os.fstat(source.fileno())
                        entry = _entry(Path(path).name, status.st_mode, int(status.st_mtime))
                        with packed.open(entry, "w", force_zip64=status.st_size >= zipfile.ZIP64_LIMIT // 2) as target:
                            _copy(source, target, progress)
                for name, text in texts.items():
                    packed.writestr(_entry(name, 0o100600, int(time.time())), text)
            file.flush()
            os.fsync(file.fileno())
        _check_free(output)
        unfinished.rename(output)
    finally:
        unfinished.unlink(missing_ok=True)


def _checked(entry: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Whoever made the file: its names lead nowhere else, and it holds no more than it has."""
    if "/" in entry.filename or entry.filename in ("", ".", "..") or entry.is_dir():
        raise ValueError(f"{entry.filename}: no file of a project is called so")
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise ValueError(f"{entry.filename} is not stored as it is: another program has packed it, such as zip; unzip takes it out")
    return entry


def _modified(entry: zipfile.ZipInfo) -> float:
    extra = entry.extra[: _UNIX_TIME.size]
    if len(extra) == _UNIX_TIME.size:
        kind, _, known, modified = _UNIX_TIME.unpack(extra)
        if kind == _UNIX_TIME_KIND and known & _ONLY_MODIFIED:
            return modified
    return time.mktime((*entry.date_time, 0, 0, -1))


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def unpack(packed_file: Path, folder: Path, progress: Progress) -> int:
    """Takes all files out into a new folder, which is there only once all are whole. Returns how many."""
    _check_free(folder)
    unfinished = _unfinished(folder)
    try:
        with zipfile.ZipFile(packed_file) as packed:
            entries = [_checked(entry) for entry in packed.infolist()]
            unfinished.mkdir()
            for entry in entries:
                path = unfinished / entry.filename
                with packed.open(entry) as source, open(path, "xb", opener=_private) as target:
                    _copy(source, target, progress)  # compares the checksum at the end
                    target.flush()
                    os.fsync(target.fileno())
                path.chmod(entry.external_attr >> 16 & 0o666 & ~_mask() | 0o600)
                os.utime(path, (_modified(entry), _modified(entry)))
            unfinished.rename(folder)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OverflowError, struct.error) as error:  # damaged in one way or another
        raise ValueError(f"{packed_file}: {error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return len(entries)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
