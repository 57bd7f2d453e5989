"""Runs project-merger on traces of a few lines, written inline."""

import os
import pathlib
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from support.sanitizers import HAS_ADDRESS_SANITIZER

MERGER = os.environ["TESTED_MERGER"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = SOURCE / "hdtrace/schemas/hdtrace-proj.rng"
EPOCH = 1240424724


def memory_limit(size):
    """The option of prlimit."""
    return f"--as={'unlimited' if HAS_ADDRESS_SANITIZER else size}"


class Result:
    """What a run of project-merger left behind."""

    def __init__(self, process, output):
        self.code = process.returncode
        self.stdout = process.stdout.decode()
        self.stderr = process.stderr.decode(errors="replace")
        self.output = output

    @property
    def project(self):
        return ElementTree.parse(self.output).getroot()

    @property
    def warnings(self):
        return self.stderr.splitlines()

    def communicators(self):
        """(name, [(global, local, cid), ...]) of each communicator."""
        return [
            (c.get("name"), [tuple(number(r.get(key)) for key in ("global", "local", "cid")) for r in c])
            for c in self.project.find("CommunicatorList")
        ]

    def datatypes(self, rank):
        return list(self.project.find(f"Datatypes/Rank[@name='{rank}']"))

    def datatype(self, type_id, rank=0):
        return self.project.find(f"Datatypes/Rank[@name='{rank}']/*[@id='{type_id}']")


def number(text):
    return None if text is None else int(text)


class Run:
    """A folder with the traces of a run."""

    def __init__(self, folder):
        self.folder = folder

    def info(self, rank, lines="", *, size=None, host="node01", base="app", thread=0, header=True, keys=""):
        """Writes the .info of a rank; `lines` as text or bytes."""
        path = self.folder / f"{base}_{host}_{rank}_{thread}.info"
        text = b""
        if header:
            size_key = "" if size is None else f" size={size}"
            text = (
                f"Process base='{base}' host='{host}' rank={rank}{size_key} thread={thread} version=1 "
                f"timeAdjustment={EPOCH} {keys}\n"
            ).encode()
        path.write_bytes(text + (lines if isinstance(lines, bytes) else lines.encode()))
        return path.name

    def trace(self, rank, lines="", *, host="node01", base="app", thread=0, end="</Program>\n"):
        path = self.folder / f"{base}_{host}_{rank}_{thread}.trc"
        path.write_text(
            "<?xml version='1.0' encoding='UTF-8'?>\n"
            f"<Program timeAdjustment='{EPOCH}' version='1' rank='{rank}' thread='{thread}'>\n{lines}{end}"
        )
        return path.name

    def process(self, rank, lines="", trace="", **options):
        """Both files of a rank."""
        self.trace(rank, trace, **{k: v for k, v in options.items() if k in ("host", "base", "thread")})
        return self.info(rank, lines, **options)

    def merge(self, *arguments, output="app.proj", command=(MERGER,), **options):
        process = subprocess.run(
            [*command, "-o", output, *arguments], cwd=self.folder, capture_output=True, check=False, **options
        )
        result = Result(process, self.folder / output)
        assert result.stdout == ""
        assert result.code in (0, 1, 2)
        if result.code == 0:
            validate(result.output)
        return result

    def merge_cleanly(self, *arguments, **options):
        result = self.merge(*(arguments or ("app",)), **options)
        assert (result.code, result.stderr) == (0, "")
        return result

    def fail(self, *arguments, **options):
        """The messages of a run that must not write anything."""
        before = snapshot(self.folder)
        result = self.merge(*(arguments or ("app",)), **options)
        assert result.code == 1
        assert snapshot(self.folder) == before
        return result.stderr


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def validate(project):
    subprocess.run(["xmllint", "--noout", "--relaxng", SCHEMA, project], check=True, capture_output=True)


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)
