"""Small libraries that tests compile, whose calls objdump finds."""

import re
import shutil
import subprocess

# The Clang that scripts/setup installs, where the system has one.
CLANG = list(filter(shutil.which, (f"clang-{version}" for version in range(16, 23))))[:1]
C = """\
void wanted(int, int);
void solve(int n)
{
    if (n)
        wanted(n,
               n);
    __asm__ volatile(""); // else the call is a jump
}
"""


class Library:
    """Compiled from a source beside it."""

    def __init__(self, folder, source=C, suffix="c", compiler="gcc", options=("-g", "-O2")):
        self.folder = folder
        self.source = folder / f"part.{suffix}"
        self.source.write_text(source)
        self.path = folder / "libpart.so"
        tool("env", "LC_ALL=C", compiler, "-shared", "-fPIC", *options, self.source, "-o", self.path)

    @property
    def build_id(self):
        return re.search(r"Build ID: (\w+)", tool("readelf", "-n", self.path)).group(1)

    def returns(self):
        """The return addresses of the calls of wanted(), in the order of their addresses."""
        lines = tool("objdump", "-d", "--no-show-raw-insn", self.path).splitlines()
        return [
            int(next(found for found in (re.match(r"\s*([0-9a-f]+):", line) for line in lines[i + 1:] if ">:" not in line) if found)[1], 16)
            for i, line in enumerate(lines)
            if re.search(r"\b(call|bl|jal)\S*\s.*<wanted@plt>", line)
        ]

    def described(self, build_id=None):
        """The lines of an .info with all calls of wanted()."""
        lines = f"Object id=0 path='{self.path}' buildId='{self.build_id if build_id is None else build_id}'\n"
        return lines + "".join(f"Site id={i} frames='0+{offset};'\n" for i, offset in enumerate(self.returns()))

    def line_of(self, text):
        """Of the only line that holds it."""
        (number,) = (number for number, line in enumerate(self.source.read_text().splitlines(), start=1) if text in line)
        return number

    def separate(self, debug_file, *, link=False):
        """Puts the debug information into a file of its own."""
        debug_file.parent.mkdir(parents=True, exist_ok=True)
        tool("objcopy", "--only-keep-debug", self.path, debug_file)
        tool("strip", self.path)
        if link:
            tool("objcopy", f"--add-gnu-debuglink={debug_file}", self.path)


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
