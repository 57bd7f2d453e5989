"""Names in the product's code."""
import re
from collections import defaultdict

from conftest import SOURCE, tracked

OPENS = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{")
CLOSES = re.compile(r"\} // (anonymous )?namespace")
DEFINES = re.compile(r"(?:struct|class|union|enum class|enum) (?:alignas\(\S+\) )?(\w+)(?!::)\b(?!.*;$)")


def types_in(path):
    """With their namespaces; those in a namespace without a name are nobody else's."""
    inside = []
    opened = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        if opens := OPENS.match(line):
            inside.append(opens.group(1))
            opened = number
        elif CLOSES.match(line) or (line == "}" and number - 2 == opened):  # clang-format names the end of longer ones only
            inside.pop()
        elif (defines := DEFINES.match(line)) and "" not in inside:
            yield "::".join([*inside, defines.group(1)])


def test_no_two_types_share_a_name():
    """Programs that link both would mix up what the compiler makes of them, such as vectors of them (ISO C++, basic.def.odr)."""
    files = defaultdict(set)
    for path in tracked("hdtrace/*.h", "hdtrace/*.cpp", "merger/*.h", "merger/*.cpp", "mpiwrapper/*.h", "mpiwrapper/*.cpp", "python/*.h", "python/*.cpp"):
        for name in types_in(SOURCE / path):
            files[name].add(path.rsplit(".", 1)[0])
    assert len(files) > 500
    shared = [f"{name}: {', '.join(sorted(paths))}" for name, paths in files.items() if len(paths) > 1]
    assert not shared, "\n".join(shared)
