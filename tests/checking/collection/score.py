"""What results of the collection say: in how many programs the error is found, with which kind and line."""
from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Score:
    found: int = 0
    missed: int = 0
    kinds: int = 0
    lines: int = 0
    with_line: int = 0
    clean: int = 0
    alarms: int = 0

    def add(self, result):
        if not result.kinds:
            is_clean = not result.wrong and not result.problem
            self.alarms += not is_clean
            self.clean += is_clean
            return
        self.missed += not result.wrong
        if result.wrong:
            self.found += 1
            self.kinds += result.kind_is_right
            self.with_line += bool(result.lines)
            self.lines += bool(result.lines) and result.line_is_right

    @property
    def recall(self):
        return _ratio(self.found, self.found + self.missed)

    @property
    def specificity(self):
        return _ratio(self.clean, self.clean + self.alarms)

    @property
    def f1(self):
        return _ratio(2 * self.found, 2 * self.found + self.missed + self.alarms)

    @property
    def right_kind(self):
        return _ratio(self.kinds, self.found)

    @property
    def right_line(self):
        return _ratio(self.lines, self.with_line)


def _ratio(part, whole):
    return part / whole if whole else 1.0


def score(results):
    total = Score()
    for result in results:
        if not result.is_missing and result.is_compiled:
            total.add(result)
    return total


def verdict(result):
    """What is not as expected of a result; empty if all is."""
    if result.problem or result.is_missing:
        return result.problem
    if not result.kinds:
        return "false alarm" if result.wrong else "correct, but fails" if result.ended != "0" else ""
    if not result.wrong:
        return "missed"
    if not result.kind_is_right:
        return "wrong kind"
    return "" if not result.lines or result.line_is_right else "wrong line"


def explain(result):
    """A few lines on a result that is not as expected."""
    said = [f"    {kind} {' '.join(f'{file}:{line}' for file, line in places)}: {text[:200]}" for kind, places, text in result.findings]
    expected = f"expected {' or '.join(result.kinds)} at line {', '.join(map(str, result.lines))}" if result.kinds else "expected nothing"
    return "\n".join([f"{verdict(result)}: {result.name} ({result.mpi}, {result.family}, ended {result.ended}): {expected}", *said[:4]])


def tell_if_not_as_expected(result):
    if verdict(result):
        print(explain(result), flush=True)


def groups(results, key):
    table = defaultdict(list)
    for result in results:
        table[key(result)].append(result)
    return table


def _row(name, of_name):
    total = score(of_name)
    wrong, right = total.found + total.missed, total.clean + total.alarms
    return [name, str(wrong), _percent(total.recall) if wrong else "", _percent(total.right_kind) if total.found else "",
            _percent(total.right_line) if total.with_line else "", str(right), str(total.alarms) if right else ""]


HEAD = ["", "wrong programs", "found", "right kind", "right line", "correct programs", "false alarms"]


def _percent(ratio):
    return f"{100 * ratio:.0f} %"


def _rows(results):
    for mpi, of_mpi in groups(results, lambda result: result.mpi).items():
        yield _row(mpi, of_mpi)
    of_kind = groups((result for result in results if result.kinds), lambda result: result.kinds[0])
    for kind in sorted(of_kind):
        yield _row(kind, of_kind[kind])
    of_family = groups(results, lambda result: result.family)
    for family in sorted(of_family):
        yield _row(f"({family})", of_family[family])


def summary(results):
    rows = [HEAD, *_rows(results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, _figures(results)])


def _figures(results):
    total = score(results)
    return (f"recall {total.recall:.3f}, specificity {total.specificity:.3f}, F1 {total.f1:.3f}, "
            f"right kind {total.right_kind:.3f}, right line {total.right_line:.3f}")


def page(results, command):
    """The tables as Markdown, of the run that this command made."""
    lines = ["# What is found in the collection", "",
             "Small programs with one error each, and their correct twins, traced as `hdtrace record --check` does and given to",
             "`hdtrace check --strict`. Made by", f"`{command}`;", "[the collection's own page](../../tests/checking/collection/README.md) tells what the programs are.", "", _figures(results) + ".", "",
             "*Found*: the exit code is 1. *Right kind*, *right line*: of those found, how many have a finding of the expected kind, with the expected",
             "line of the program.", "", *_markdown([HEAD, *_rows(results)]), "", "## By form", "",
             "Wrong programs that are found with the right kind, of all that there are.", ""]
    rows = [["kind", "forms"]]
    of_kind = groups((result for result in results if result.kinds and not result.is_missing), lambda result: result.kinds[0])
    for kind in sorted(of_kind):
        forms = groups(of_kind[kind], lambda result: result.form or "alone")
        rows.append([f"`{kind}`", ", ".join(_form(form, forms[form]) for form in sorted(forms))])
    lines += _markdown(rows)
    unexpected = [result for result in results if verdict(result)]
    if unexpected:
        lines += ["", "## Not as expected", "", *_markdown([["program", "library", "", "expected", "said"], *map(_unexpected, unexpected)])]
    return "\n".join(lines) + "\n"


def _form(form, of_form):
    good = sum(result.wrong and result.kind_is_right for result in of_form)
    return f"{form} {good}/{len(of_form)}"


def _unexpected(result):
    said = ", ".join(dict.fromkeys(f"`{kind}`" for kind, _, _ in result.findings))
    return [result.name, result.mpi, verdict(result).split("\n")[0][:60], f"`{result.kinds[0]}`" if result.kinds else "nothing", said]


def _markdown(rows):
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|---" * len(rows[0]) + "|", *body]
