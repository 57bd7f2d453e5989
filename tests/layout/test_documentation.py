"""The lines of the documentation can be read and compared; tables and code may be wider."""
from conftest import SOURCE, tracked

MOST_CHARACTERS = 160


def lines_of_text(path):
    """(number, line) of all that is neither in a table nor in a block of code."""
    in_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("|"):
            yield number, line


def test_no_line_is_too_long():
    pages = tracked("*.md")
    assert pages
    too_long = [f"{page}:{number}: {len(line)} characters" for page in pages for number, line in lines_of_text(SOURCE / page)
                if len(line) > MOST_CHARACTERS]
    assert not too_long, "\n".join(too_long)
