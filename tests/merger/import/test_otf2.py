"""Archives of OTF2: what hdtrace-convert made of real programs comes back."""
import shutil
from collections import Counter

import hdtrace
import pytest
from importing import convert, findings, import_well, refused, states, works_with_everything
from support.runs import SETTINGS

# OTF2 does not tell which message a receive fetches that a probe has taken.
NOT_CONVERTED = {"probe_order", "abort", "exit_early", "raise", "spawn", *(["connect"] if SETTINGS["mpi"] == "MPICH" else [])}
PROGRAMS = [name for name in SETTINGS["names"] if name not in NOT_CONVERTED]
MAY_BE_FOUND = {
    "errors": {"message-not-received"},  # of calls that failed OTF2 tells nothing
    "pcontrol": {"message-not-sent", "no-finalize"},  # nor of those that were left out
}


@pytest.fixture(scope="session")
def imported(traced, tmp_path_factory):
    """imported(program) -> the paths of what was recorded and of what has come back."""
    done = {}

    def of_program(program):
        if program not in done:
            folder = tmp_path_factory.mktemp(program)
            archive = convert(traced(program), "otf2", folder / "otf2")
            import_well(folder / "back.proj", archive / "traces.otf2")
            done[program] = traced(program), folder / "back.proj"
        return done[program]

    return of_program


def calls(project):
    """What each thread did, and when; what was called inside a call as well."""
    return {(thread.rank, thread.thread): [(call.name, call.time, call.end) for call in hdtrace.open(project).calls(rank=thread.rank, thread=thread.thread)]
            for thread in hdtrace.open(project).threads}


def messages(project):
    """From where, to where, with which tag, among whom, how many bytes, and when."""
    return Counter((row.source, row.destination, row.tag, row.communicator, row.send_bytes, row.receive_bytes, row.send_start, row.receive_end)
                   for row in hdtrace.open(project).messages().to_dataframe().dropna(subset=["send_bytes", "receive_bytes"]).itertuples())


@pytest.mark.parametrize("program", PROGRAMS)
def test_everything_works_on_it(program, imported):
    works_with_everything(imported(program)[1])


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_found_that_is_not_in_the_original(program, imported):
    original, back = imported(program)
    warning = "some of file-conflict may not have been found" if program == "io_views" else "are left out, as was asked for"
    assert findings(back, warning).keys() - findings(original).keys() <= MAY_BE_FOUND.get(program, set())


def test_files_are_opened_on_their_communicator(imported):
    """By which their collective accesses are ordered."""
    def communicators(project):
        return [call["cid"] for call in hdtrace.open(project).calls(rank=1, name="File_open")]

    original, back = imported("io_explicit")
    assert communicators(back) == communicators(original) != []


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_and_times_come_back(program, imported):
    original, back = imported(program)
    assert calls(back) == calls(original)


@pytest.mark.parametrize("program", PROGRAMS)
def test_messages_come_back(program, imported):
    original, back = imported(program)
    if program != "errors":  # of those that failed OTF2 tells nothing
        assert messages(back) == messages(original)


@pytest.mark.parametrize("program, names", [("windows", ("ccumulate", "_and_")), ("completion", ("Irecv", "Isend")), ("receive", ("ecv",))])
def test_bytes_come_back(program, names, imported):
    def volumes(project):
        statistics = hdtrace.open(project).calls().statistics([["class", "call", "rank"]])
        while statistics.read(10_000):
            pass
        return {key: (totals.sent, totals.received) for key, totals in statistics.groups(["class", "call", "rank"]) if any(name in key[1] for name in names)}

    original, back = imported(program)
    assert volumes(back) == volumes(original) and sum(map(sum, volumes(back).values())) > 0


@pytest.mark.parametrize("program", ["completion", "persistent"])
def test_requests_are_completed_where_they_were(program, imported):
    def completed(project):
        return Counter((call.rank, call.time, sum(child.name == "For" for child in call.children)) for call in hdtrace.open(project).calls()
                       if call.name.startswith(("Wait", "Test")))

    original, back = imported(program)
    assert completed(back) == completed(original) and sum(count for *_, count in completed(back)) > 0


def test_regions_marks_and_counters_come_back(imported):
    """Those that overlap are left and entered again in OTF2."""
    def events(project, *kinds):
        return [[(state["name"], state.time, state.attributes.get("value"), state.attributes.get("text"))
                 for state in states(project, rank) if state.name == "Event" and state.attributes.get("kind") in kinds] for rank in range(4)]

    original, back = imported("regions")
    assert events(back, "count", None) == events(original, "count", None) and any(events(back, "count"))
    for of_back, of_original in zip(events(back, "begin"), events(original, "begin")):
        assert set(of_original) <= set(of_back)


@pytest.fixture
def archive(traced, tmp_path):
    folder = tmp_path / "otf2"
    return convert(traced("isend_modes"), "otf2", folder)


def test_the_directory_is_as_good_as_the_file(archive, tmp_path):
    import_well(tmp_path / "app.proj", archive)
    assert hdtrace.open(tmp_path / "app.proj").process_count == 4


def test_a_missing_file_of_events_is_named(archive, tmp_path):
    (archive / "traces/2.evt").unlink()
    assert f"{archive}/traces.otf2: location 2" in refused(tmp_path, archive / "traces.otf2")


@pytest.mark.parametrize("file", ["traces.otf2", "traces.def", "traces/1.evt"])
def test_files_that_are_cut_off_are_refused(file, archive, tmp_path):
    content = (archive / file).read_bytes()
    for size in (0, 1, len(content) // 2):
        (archive / file).write_bytes(content[:size])
        assert str(archive) in refused(tmp_path, archive / "traces.otf2")


def test_an_anchor_that_lies_about_its_properties(archive, tmp_path):
    """The library would look for all of them, for minutes."""
    content = bytearray((archive / "traces.otf2").read_bytes())
    place = content.index(b"hdtrace-convert\0\0") + len(b"hdtrace-convert\0\0")
    content[place:place + 4] = b"\xff" * 4
    (archive / "traces.otf2").write_bytes(content)
    assert f"traces.otf2: at byte {place}: it has no room for the 4294967295 properties" in refused(tmp_path, archive / "traces.otf2")


def test_an_archive_is_imported_alone(archive, tmp_path):
    shutil.copytree(archive, tmp_path / "other")
    assert "an archive is imported alone" in refused(tmp_path, archive / "traces.otf2", tmp_path / "other/traces.otf2")
