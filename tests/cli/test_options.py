"""The generator that turns the table of options into code, help and documentation."""
import tomllib

import pytest
from conftest import BUILD, SOURCE, run, run_well

GENERATOR = SOURCE / "scripts/generate-options"
TABLE = SOURCE / "hdtrace/options.toml"

SMALL_TABLE = """
[LOUD]
type = "bool"
default = false
short = "l"
help = "say more"

[LEVEL]
single_calls = true
type = "int"
min = 0
max = 9
default = 3
value = "N"
unit = "steps"
help = "how much"

[BUFFER]
type = "size"
min = "4K"
default = "1M"
value = "SIZE"
help = "how big"

[PAUSE]
type = "duration"
default = "5ms"
value = "TIME"
help = "how long"

[PLACE]
type = "path"
default = "."
value = "DIR"
help = "where"
default_is = "here"
library = true

[METHOD]
type = "choice"
choices = ["none", "fast", "small"]
default = "fast"
value = "HOW"
help = "which way"
library = true
"""


def generate(directory, table: str, template: str, *values):
    (directory / "table").write_text(table)
    (directory / "template").write_text(template)
    return run(GENERATOR, directory / "table", directory / "template", directory / "output", *values)


@pytest.mark.parametrize("part, expected", [
    ("OPTIONS_ROWS", """    {"HDTRACE_LOUD", "loud", 'l', Option::Type::flag, false, false, 0, 0, {}, "0 or 1", offsetof(Settings, loud)},
    {"HDTRACE_LEVEL", "level", 0, Option::Type::number, false, true, 0, 9, {}, "a number of steps from 0 to 9", offsetof(Settings, level)},
    {"HDTRACE_BUFFER", "buffer", 0, Option::Type::size, false, false, 4096, INT64_MAX, {}, "a number of bytes of at least 4K, e.g. 1M", \
offsetof(Settings, buffer)},
    {"HDTRACE_PAUSE", "pause", 0, Option::Type::duration, false, false, 0, 0, {}, "a time such as 5ms, 1s, or 0", offsetof(Settings, pause)},
    {"HDTRACE_PLACE", "place", 0, Option::Type::text, true, false, 0, 0, {}, "a path", offsetof(Settings, place)},
    {"HDTRACE_METHOD", "method", 0, Option::Type::choice, true, false, 0, 0, method_choices, "none, fast or small", offsetof(Settings, method)},\
"""),
    ("OPTIONS_CHOICES", """enum class Method { none, fast, small };
inline constexpr const char* method_choices[] = {"none", "fast", "small"};
constexpr const char* name_of(Method value)
{
    return method_choices[static_cast<int>(value)];
}"""),
    ("OPTIONS_MEMBERS", """    bool loud = false;
    int level = 3;
    int64_t buffer = 1048576;
    int64_t pause = 5000000; ///< in nanoseconds
    const char* place = ".";
    Method method = Method::fast;"""),
    ("OPTIONS_OF_LIBRARY", "`HDTRACE_PLACE` and `HDTRACE_METHOD`"),
    ("OPTIONS_HELP", """  -l, --loud
          say more [off]
  --level N
          how much [3]
  --buffer SIZE
          how big [1M]
  --pause TIME
          how long [5ms]
  --place DIR
          where [here]
  --method HOW
          which way [fast]"""),
    ("OPTIONS_MARKDOWN", """| `HDTRACE_LOUD` | `-l`, `--loud` | off | say more |
| `HDTRACE_LEVEL` | `--level` *N* | 3 | how much |
| `HDTRACE_BUFFER` | `--buffer` *SIZE* | 1M | how big |
| `HDTRACE_PAUSE` | `--pause` *TIME* | 5ms | how long |
| `HDTRACE_PLACE` | `--place` *DIR* | here | where |
| `HDTRACE_METHOD` | `--method` *HOW* | fast | which way |"""),
])
def test_each_part_comes_from_the_table(tmp_path, part, expected):
    assert generate(tmp_path, SMALL_TABLE, f"<@{part}@>").returncode == 0
    assert (tmp_path / "output").read_text() == f"<{expected}>"


def test_values_from_the_command_line_replace_their_names(tmp_path):
    assert generate(tmp_path, "", "version @VERSION@", "VERSION=1.2").returncode == 0
    assert (tmp_path / "output").read_text() == "version 1.2"


@pytest.mark.parametrize("table, template, complaint", [
    ('[A]\ntype = "colour"\n', "", "A: type must be one of bool, int, size, duration, bound, choice, text, path, file, notes"),
    ('[A]\ntype = "int"\ndefault = 1\nhelp = "h"\nmin = 0\n', "", "A: max, value is missing"),
    ('[A]\ntype = "bool"\ndefault = true\nhelp = "h"\nhepl = "h"\n', "", "A: hepl is unknown"),
    ('[A]\ntype = "choice"\nchoices = ["a", "b"]\ndefault = "c"\nvalue = "v"\nhelp = "h"\n', "", "A: the default is not a or b"),
    ('[A]\ntype = "size"\nmin = "4K"\ndefault = "1K"\nvalue = "v"\nhelp = "h"\n', "", "A: the default is not a number of bytes"),
    ('[A]\ntype = "duration"\ndefault = "5"\nvalue = "v"\nhelp = "h"\n', "", "A: the default is not a time such as 5, 1s, or 0"),
    ('[A', "", "table"),
    ("", "@NOBODY@", "template: nothing defines @NOBODY@"),
])
def test_mistakes_are_named_and_nothing_is_written(tmp_path, table, template, complaint):
    result = generate(tmp_path, table, template)
    assert result.returncode == 1
    assert result.stderr.startswith("generate-options: ") and complaint in result.stderr
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("page", ["docs/options.md", "docs/man/hdtrace-run.1"])
def test_the_documentation_has_every_option(page):
    text = (BUILD / page).read_text().replace("\\-", "-")
    for key in tomllib.loads(TABLE.read_text()):
        assert f"HDTRACE_{key}" in text
        assert "--" + key.lower().replace("_", "-") in text


def test_the_man_page_is_well_formed():
    run_well("groff", "-man", "-Tutf8", "-ww", "-z", BUILD / "docs/man/hdtrace-run.1")
