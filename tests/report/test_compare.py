"""Several runs in one page."""

import json
import shutil
import subprocess

import pytest
from projects_of_lines import write_project
from support.runs import BUILD, run_with_tracer
from test_page import NAME, SHOWN

BARRIER = "<Barrier cid='0' time='{}' end='{}' />\n"


def report_of(projects, output):
    run = subprocess.run([BUILD / "bin/hdtrace", "report", *projects, "-o", output], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    return output


@pytest.fixture(scope="module")
def two(heat, tmp_path_factory):
    """The projects of the same program with four and with two processes."""
    run = run_with_tracer(BUILD / "examples/06-heat", 2, tmp_path_factory.mktemp("run"))
    (path,) = run.trace_directory.glob("*.proj")
    return [heat, path]


@pytest.fixture
def compared(browser, two, tmp_path_factory):
    browser.said.clear()
    browser.resize(1280, 800)
    browser.open(report_of(two, two[1].with_name("both.html")))
    yield browser
    assert browser.said == []


def test_scaling_is_that_of_analyze(compared, two):
    known = json.loads(subprocess.run([BUILD / "bin/hdtrace", "analyze", "--json", *two], capture_output=True, text=True).stdout)
    rows = compared.ask("[...document.querySelectorAll('#panel-compare .efficiencies tbody tr')].map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent))")
    shown = {name: values for name, *values in rows}
    percent = lambda values: [f"{100 * value:.1f} %" for value in values]
    assert shown["global efficiency"] == percent(known["global_efficiency"])
    assert shown["computational scalability"] == percent(known["computational_scalability"])
    assert shown["parallel efficiency"] == percent(one["efficiencies"]["parallel"] for one in known["projects"])


def test_timelines_have_one_scale(compared):
    assert compared.ask("hdtrace.comparison.timelines.all.map(one => one.run.lanes.length)") == [4, 2]
    assert compared.ask("new Set(hdtrace.comparison.timelines.all.map(one => one.view.end)).size") == 1
    compared.ask("document.querySelectorAll('.compared canvas.lanes')[1].focus()")
    compared.press("w", "d")
    times = compared.ask("hdtrace.comparison.timelines.all.map(one => [one.view.begin, one.view.end])")
    assert times[0] == times[1] and times[0][0] > 0
    assert compared.ask("hdtrace.comparison.timelines.all.map(one => one.drawing.drawn.lanes)") == [4, 2]


def test_each_run_has_its_pages(compared):
    compared.ask("location.hash = '#timeline&run=2'")
    compared.frames()
    assert compared.ask("[hdtrace.run.processes, hdtrace.timeline.drawing.drawn.lanes, document.getElementById('run').value]") == [2, 2, "1"]
    compared.ask("(choice => { choice.value = '0'; choice.dispatchEvent(new Event('change')); })(document.getElementById('run'))")
    compared.frames()
    assert compared.ask("[hdtrace.run.processes, hdtrace.timeline.drawing.drawn.lanes]") == [4, 4]


def pair(tmp_path, *traces):
    """Projects of two runs of two processes."""
    projects = []
    for name, lines in zip(("one", "other"), traces):
        (tmp_path / name).mkdir()
        projects.append(write_project(tmp_path / name, *lines))
    return projects


def test_what_differs_most_comes_first(browser, tmp_path):
    receive = "<Recv cid='0' fromRank='1' fromTag='0' size='4' time='{}' end='{}' />\n"
    projects = pair(tmp_path, [BARRIER.format(1, 2) + receive.format(2, 2.5)] * 2, [BARRIER.format(1, 5) + receive.format(5, 5.5)] * 2)
    browser.open(report_of(projects, tmp_path / "both.html"))
    rows = browser.ask("[...document.querySelectorAll('#panel-compare .table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    assert rows == [["MPI_Barrier", "", "1.000 s", "4.000 s", "+3.000 s"], ["MPI_Recv", "", "500.0 ms", "500.0 ms", "0 ns"]]


def test_what_one_run_lacks_is_said(browser, tmp_path):
    projects = pair(tmp_path, [BARRIER.format(1, 2)] * 2, [BARRIER.format(1, 2).replace("Barrier", "Ibarrier").replace("cid", "rid='1' cid")] * 2)
    browser.open(report_of(projects, tmp_path / "both.html"))
    assert "not there" in browser.ask("document.querySelector('#panel-compare .table').textContent")


def test_hostile_names_do_nothing(browser, tmp_path):
    projects = pair(tmp_path, [BARRIER.format(1, 2)] * 2, [BARRIER.format(1, 2)] * 2)
    for project in projects:
        project.write_text(project.read_text().replace('name="app"', f'name="{NAME}"'))
        for trace in project.parent.glob("*.trc"):
            shutil.copy(trace, trace.with_name(trace.name.replace("app", "x")))
    browser.said.clear()
    page = tmp_path / "both.html"
    report_of(projects, page)
    browser.open(page)
    assert SHOWN in browser.ask("document.querySelector('#panel-compare').textContent")
    assert SHOWN in browser.ask("document.getElementById('run').textContent")
    assert browser.ask("document.querySelectorAll('img').length") == 0 and browser.said == []


def test_fits_on_a_telephone(compared):
    compared.resize(390, 800)
    assert compared.ask("document.documentElement.scrollWidth") <= 390
    compared.resize(1280, 800)
