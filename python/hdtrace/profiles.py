"""Profiles of a project: what is asked most often of a trace, each in one call, as a table. They need NumPy and pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._hdtrace import Totals
from .streams import read_all

if TYPE_CHECKING:
    import numpy
    import pandas

    from .project import Project

Grouping = str | Sequence[str]

_NUMBERS = ("rank", "thread")


def values(totals: Totals) -> dict[str, int | float]:
    """The figures of a group of calls; times are in seconds."""
    return {
        "calls": totals.calls,
        "seconds": totals.time / 1e9,
        "exclusive": totals.exclusive / 1e9,
        "shortest": totals.shortest / 1e9,
        "mean": mean(totals) / 1e9,
        "longest": totals.longest / 1e9,
        "bytes": totals.bytes,
        "sent": totals.sent,
        "received": totals.received,
        "posted": totals.posted,
    }


def mean(totals: Totals) -> float:
    """Of the times of calls, in nanoseconds."""
    return totals.time / max(totals.calls, 1)


def _groupings(by: Grouping) -> list[str]:
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise ValueError("by: nothing is named")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"by: {name!r} is named twice")
    return names


def flat_profile(project: Project, by: Grouping = "call") -> pandas.DataFrame:
    import pandas

    by = _groupings(by)
    groups = read_all(project.calls().statistics([by])).groups(by)
    labels = [dict(zip(by, (int(label) if name in _NUMBERS else label for name, label in zip(by, of_group)))) for of_group, _ in groups]
    rows = [{**of_group, **values(totals)} for of_group, (_, totals) in zip(labels, groups)]
    frame = pandas.DataFrame(rows, columns=[*by, *values(Totals())]).set_index(by)
    return frame.sort_values("exclusive", ascending=False, kind="stable")


def load_imbalance(project: Project, by: str = "call") -> pandas.DataFrame:
    if by == "rank":
        raise ValueError("by: 'rank' has a single process in each group")
    of_ranks = flat_profile(project, [by, "rank"])["exclusive"].unstack("rank", fill_value=0.0)
    of_ranks = of_ranks.reindex(columns=[process.rank for process in project.processes], fill_value=0.0)
    frame = of_ranks.mean(axis=1).to_frame("mean")
    frame["maximum"] = of_ranks.max(axis=1)
    frame["rank"] = of_ranks.columns[of_ranks.to_numpy().argmax(axis=1)] if len(of_ranks) else 0
    frame["imbalance"] = frame["maximum"] / frame["mean"]
    return frame.sort_values("maximum", ascending=False, kind="stable")


def _sent_to(project: Project) -> dict[str, numpy.ndarray]:
    """A column for each of: from, to, messages, bytes; a row for each pair of processes of which one sends to the other."""
    import numpy

    cells = numpy.array(read_all(project.calls().message_matrix()).cells(), dtype=numpy.int64).reshape(-1, 4)
    is_known = (0 <= cells[:, 1]) & (cells[:, 1] < project.process_count)
    return dict(zip(("from", "to", "messages", "bytes"), cells[is_known].T))


def communication_matrix(project: Project, what: str = "bytes", ranks_together: int = 1) -> numpy.ndarray:
    import numpy

    if what not in ("messages", "bytes"):
        raise ValueError(f"{what!r} is none of messages, bytes")
    if ranks_together < 1:
        raise ValueError(f"ranks_together is {ranks_together}, not 1 or more")
    sent = _sent_to(project)
    size = -(-project.process_count // ranks_together)
    matrix = numpy.zeros((size, size), dtype=numpy.int64)
    numpy.add.at(matrix, (sent["from"] // ranks_together, sent["to"] // ranks_together), sent[what])
    return matrix


def _received_by(project: Project) -> dict[str, numpy.ndarray]:
    """A column for each of: to, messages, bytes; rows for the messages that were received. Sums do not tell which: there for all that were sent."""
    import numpy

    if project.statistics_only:
        return _sent_to(project)
    messages = project.messages().to_columns()
    was_received = ~numpy.ma.getmaskarray(messages["receive_bytes"])
    to, size = messages["destination"][was_received], messages["receive_bytes"].filled(0)[was_received]
    return {"to": to, "messages": numpy.ones_like(to), "bytes": size}


def communication_by_process(project: Project) -> pandas.DataFrame:
    import numpy
    import pandas

    sent, received = _sent_to(project), _received_by(project)
    columns = {}
    for what in ("messages", "bytes"):
        for name, side, figures in (("sent", "from", sent), ("received", "to", received)):
            columns[f"{what}_{name}"] = numpy.zeros(project.process_count, dtype=numpy.int64)
            numpy.add.at(columns[f"{what}_{name}"], figures[side], figures[what])
    return pandas.DataFrame(columns).rename_axis("rank")


def _sent_messages(project: Project) -> pandas.DataFrame:
    """When the sending of each message began, in nanoseconds after the start of the run, and how large it is."""
    messages = project.messages().to_dataframe()
    sent = messages[["send_start", "send_bytes"]].dropna().astype("int64").set_axis(["begin", "bytes"], axis=1)
    sent["begin"] -= project.start
    return sent


def message_sizes(project: Project) -> pandas.DataFrame:
    import numpy
    import pandas

    size = _sent_messages(project)["bytes"].to_numpy()
    _, exponents = numpy.frexp(size.astype(float))  # 0 for nothing, else the first power of two above it
    frame = pandas.DataFrame({"below": 2**exponents.astype("int64"), "bytes": size})
    return frame.groupby("below")["bytes"].agg(messages="count", bytes="sum")


def _bin_edges(end: float, bins: int) -> numpy.ndarray:
    """So many equal parts of the time from the start of the run, in nanoseconds after it."""
    import numpy

    if bins < 1:
        raise ValueError(f"bins is {bins}, not 1 or more")
    return numpy.linspace(0, max(end, 1), bins + 1)


def _of_bins(edges: numpy.ndarray, columns: dict[str, numpy.ndarray]) -> pandas.DataFrame:
    """A row for each, named by the seconds after the start of the run in which it begins."""
    import pandas

    return pandas.DataFrame(columns, index=pandas.Index(edges[:-1] / 1e9, name="begin"))


def communication_over_time(project: Project, bins: int = 100) -> pandas.DataFrame:
    import numpy

    sent = _sent_messages(project)
    edges = _bin_edges(sent["begin"].max() if len(sent) else 0, bins)
    messages, _ = numpy.histogram(sent["begin"], edges)
    size, _ = numpy.histogram(sent["begin"], edges, weights=sent["bytes"])
    return _of_bins(edges, {"messages": messages, "bytes": size.astype("int64")})


def _time_in_bins(edges: numpy.ndarray, begins: numpy.ndarray, ends: numpy.ndarray) -> numpy.ndarray:
    """How much of the intervals lies between each two edges."""
    import numpy

    bins = len(edges) - 1
    first, last = ((numpy.searchsorted(edges, moments, side="right") - 1).clip(0, bins - 1) for moments in (begins, ends))
    is_longer = first < last
    whole = numpy.bincount(first[is_longer] + 1, minlength=bins) - numpy.bincount(last[is_longer], minlength=bins)
    in_first = numpy.bincount(first, numpy.minimum(ends, edges[first + 1]) - begins, minlength=bins)
    in_last = numpy.bincount(last[is_longer], (ends - edges[last])[is_longer], minlength=bins)
    return in_first + whole.cumsum() * numpy.diff(edges) + in_last


def time_profile(project: Project, bins: int = 100) -> pandas.DataFrame:
    import numpy
    import pandas

    rows = project.to_dataframe()
    begins, ends = (rows[name].to_numpy() - project.start for name in ("start", "end"))  # times since the epoch are too large to be exact as floats
    edges = _bin_edges(ends.max(initial=0), bins)
    threads = pandas.DataFrame({"begin": begins, "end": ends}).groupby([rows["rank"].to_numpy(), rows["thread"].to_numpy()])
    in_all = _time_in_bins(edges, threads["begin"].min().to_numpy(), threads["end"].max().to_numpy())
    is_call = (~rows["nested"] & (rows["class"] != "other")).to_numpy()  # not a region of the program's own
    begins, ends, classes = begins[is_call], ends[is_call], rows["class"].to_numpy()[is_call]
    of_classes = {str(name): _time_in_bins(edges, begins[classes == name], ends[classes == name]) for name in sorted(set(classes))}
    computation = numpy.maximum(in_all - sum(of_classes.values()), 0)
    return _of_bins(edges, {"computation": computation, **of_classes}) / 1e9


def idle_time(project: Project) -> pandas.Series:
    waiting = project.analyze().to_dataframe("rank").set_index("rank")["waiting"]
    return waiting.sort_values(ascending=False, kind="stable")


def compare(*projects: Project, by: Grouping = "call", figure: str = "exclusive") -> pandas.DataFrame:
    """Several runs beside each other: a figure of each group of calls (those of `Project.flat_profile`), a column for each run.

    The columns are the projects' paths, in the order in which they are given; what a run does not have is 0 there.
    """
    import pandas

    profiles = {project.path: flat_profile(project, by) for project in projects}
    for profile in profiles.values():
        if figure not in profile:
            raise ValueError(f"figure: '{figure}' is none of {', '.join(profile.columns)}")
    columns = {path: profile[figure] for path, profile in profiles.items()}
    frame = pandas.DataFrame(columns).fillna(0)
    order = frame.max(axis=1).sort_values(ascending=False, kind="stable").index
    return frame.loc[order]
