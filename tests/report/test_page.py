"""The page around the timeline: its parts, hostile names, sizes of screens."""

import re

import hdtrace
import pytest
from projects_of_lines import write_project

NAME = "&lt;/script&gt;&lt;script&gt;document.title=1&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&apos;&#x202E;@script@"
SHOWN = "</script><script>document.title=1</script><img src=x onerror=alert(1)>\"'"


@pytest.mark.parametrize("part, words", [
    ("summary", ["Where the time went", "What costs most", "Efficiencies", "processes"]),
    ("where", ["MPI_Allreduce", "Ranks"]),
    ("communication", ["Messages between processes", "Slowest collective operations"]),
    ("files", ["no files"]),
    ("checks", ["found"]),
    ("objects", ["How it was run", "Communicators", "WORLD"]),
])
def test_parts_are_shown(page, part, words):
    page.ask(f"location.hash = '#{part}'")
    page.frames()
    text = page.ask(f"document.getElementById('panel-{part}').innerText")
    assert all(word in text for word in words), text
    assert page.ask("document.querySelectorAll('main > div:not([hidden])').length") == 1


def test_iterations_are_shown(browser, make_report, tmp_path):
    lines = "".join(f"<Allreduce size='4' count='1' tid='0' cid='0' time='{step}.1' end='{step}.2' />\n" for step in range(1, 40))
    browser.open(make_report(write_project(tmp_path, lines, lines)), "#iterations")
    browser.frames()
    text = browser.ask("document.getElementById('panel-iterations').innerText")
    assert all(word in text for word in ("iterations, typically", "In each iteration:", "MPI_Allreduce")), text


def test_figures_are_those_of_analyze(page, heat):
    with hdtrace.open(heat) as project:
        parallel = project.analyze().efficiencies["parallel"]
    page.ask("location.hash = '#summary'")
    page.frames()
    assert f"{parallel * 100:.1f} %" in page.ask("document.querySelector('.efficiencies').textContent")


def test_summary_leads_to_what_may_be_better_in_files(browser, make_report, tmp_path):
    write = "<File_write fid='0' size='4' count='1' tid='0' time='{0}.1' end='{0}.2' />\n"
    browser.open(make_report(write_project(tmp_path, "".join(write.format(second) for second in range(1, 120)))), "#summary")
    assert "Files may be used better in 1 way" in browser.ask("document.getElementById('panel-summary').innerText")
    assert browser.ask("document.querySelector('#panel-summary a[href=\"#files\"]').innerText") == "see Files"


def test_tables_are_sorted_and_filtered(page):
    page.ask("location.hash = '#where'")
    page.frames()
    calls = "[...document.querySelectorAll('#panel-where tbody')[0].rows].map(row => Number(row.lastChild.textContent))"
    page.ask("[...document.querySelectorAll('#panel-where thead')[0].querySelectorAll('button')].at(-1).click()")
    assert page.ask(calls) == sorted(page.ask(calls), reverse=True)


def test_hostile_names_do_nothing(browser, make_report, tmp_path):
    project = write_project(tmp_path, f"<Event name='{NAME}' time='0.5' />\n<Send size='4' name='{NAME}' cid='0' toRank='0' toTag='1' time='1' end='2' />\n")
    project.write_text(project.read_text().replace('name="app"', f'name="{NAME}"').replace('name="WORLD"', f'name="{NAME}"'))
    browser.said.clear()
    browser.open(make_report(project), "#timeline")
    assert browser.said == []
    assert browser.ask("document.title").startswith(SHOWN)
    assert browser.ask("document.querySelector('h1').textContent").startswith(SHOWN)
    assert browser.ask("document.querySelectorAll('img').length") == 0
    browser.ask("hdtrace.timeline.canvas.focus()")
    browser.press("j")
    assert SHOWN in browser.ask("hdtrace.timeline.details.textContent")
    assert browser.said == []


def test_nothing_else_may_run_in_the_page(page):
    page.ask("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.stranger = 1'}))")
    assert page.ask("window.stranger === undefined")
    assert any("Content Security Policy" in str(one) or "content-security-policy" in str(one).lower() for one in page.said)
    page.said.clear()


@pytest.mark.parametrize("part", ["summary", "timeline", "where", "iterations", "communication", "files", "checks", "objects"])
def test_fits_on_a_telephone(page, part):
    page.resize(390, 800)
    page.ask(f"location.hash = '#{part}'")
    page.frames()
    assert page.ask("document.documentElement.scrollWidth") <= 390
    page.resize(1280, 800)


@pytest.mark.parametrize("is_dark", [False, True])
def test_text_can_be_read(page, is_dark):
    """As WCAG 2 asks: 4.5 to 1."""
    page.resize(1280, 800, is_dark)
    colours = page.ask("(style => ['ink', 'quiet', 'link', 'error', 'warning', 'paper', 'ground'].map(name => style.getPropertyValue('--' + name).trim()))(getComputedStyle(document.documentElement))")
    *texts, paper, ground = map(luminance, colours)
    for text in texts:
        for behind in (paper, ground):
            assert (max(text, behind) + 0.05) / (min(text, behind) + 0.05) >= 4.5
    page.resize(1280, 800)


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    values = [int(part, 16) / 255 for part in re.findall("..", digits)]
    red, green, blue = (value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in values)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def with_section(project, section):
    project.write_text(project.read_text().replace("</Application>", f"{section}</Application>"))
    return project


def test_places_without_names(browser, make_report, tmp_path):
    """As hdtrace analyze tells them: many programs have no symbols."""
    project = write_project(tmp_path, *(f"<Barrier cid='0' site='0' time='{begin}' end='6' />\n" for begin in (1, 5)))
    browser.open(make_report(with_section(project, """<CallSiteList><Object id="0" path="/usr/bin/solver"/><Place id="0" object="0" offset="4660"/>
        <CallSite id="0" places="0;"/><Sites map="0=0;"><Ranks first="0" last="1"/></Sites></CallSiteList>""")), "#summary")
    assert "wait-at-barrier of rank 0 in MPI_Barrier at solver+0x1234, until rank 1 came to MPI_Barrier at solver+0x1234" in browser.ask(
        "document.getElementById('panel-summary').innerText")
    browser.ask("location.hash = '#where'")
    browser.frames()
    assert "solver+0x1234" in browser.ask("document.querySelector('.flame').textContent")


RECEIVES_IN_ONE_BUFFER = """\
<Irecv fromRank='1' fromTag='1' cid='0' rid='0' size='8' count='1' tid='0' writes='1000:8:0;' time='1' end='1.1' />
<Irecv fromRank='1' fromTag='2' cid='0' rid='1' size='8' count='1' tid='0' writes='1000:8:0;' time='1.2' end='1.3' />
<Waitall count='2' time='1.4' end='2.5' ><For rid='0' fromRank='1' fromTag='1' size='8' /><For rid='1' fromRank='1' fromTag='2' size='8' /></Waitall>
<Irecv fromRank='1' fromTag='9' cid='0' rid='2' size='8' count='1' tid='0' writes='2000:8:0;' time='3' end='3.1' />
<Send size='8' count='1' tid='0' toRank='1' toTag='8' cid='0' reads='2000:8:0;' time='3.2' end='3.3' />
<Wait time='3.4' end='5' ><For rid='2' fromRank='1' fromTag='9' size='8' /></Wait>
"""
ITS_MESSAGES = """\
<Send size='8' count='1' tid='0' toRank='0' toTag='1' cid='0' time='2' end='2.1' />
<Send size='8' count='1' tid='0' toRank='0' toTag='2' cid='0' time='2.2' end='2.3' />
<Recv fromRank='0' fromTag='8' cid='0' size='8' count='1' tid='0' time='3' end='3.5' />
<Send size='8' count='1' tid='0' toRank='0' toTag='9' cid='0' time='4' end='4.1' />
"""


def test_warnings_among_errors_are_marked(browser, make_report, tmp_path):
    browser.open(make_report(write_project(tmp_path, RECEIVES_IN_ONE_BUFFER, ITS_MESSAGES)), "#checks")
    (section,) = browser.ask("[...document.querySelectorAll('.finding')].map(one => one.innerText).filter(text => text.includes('buffer-conflict'))")
    assert section.startswith("ERROR buffer-conflict")
    assert [line.startswith("WARNING Send") for line in section.splitlines() if "memory that Irecv" in line] == [False, True]


def test_it_says_that_processes_had_to_share_processors(browser, make_report, tmp_path):
    project = write_project(tmp_path, "<Barrier cid='0' time='1' end='2' />\n", "<Barrier cid='0' time='1' end='2' />\n")
    processes = "".join(f'''<Process rank="{rank}" pid="{rank + 1}" began="100"><CpuTime time="1.000000000" user="0.000000000" system="0.000000000"/>
        <CpuTime time="3.000000000" user="1.000000000" system="0.000000000"/></Process>''' for rank in range(2))
    browser.open(make_report(with_section(project, f'''<Run><Processors usable="1" online="1"><Ranks first="0" last="1"/></Processors>{processes}</Run>''')), "#summary")
    assert "Oversubscribed: 2 processes on 1 processor of node01, each running 50 % of the time: times hold waiting for a processor, too" in browser.ask(
        "document.getElementById('panel-summary').innerText")


def text_of(browser, part):
    browser.ask(f"location.hash = '#{part}'")
    browser.frames()
    return browser.ask(f"document.getElementById('panel-{part}').innerText")


def test_it_says_what_cannot_be_known(browser, make_report, tmp_path):
    """As hdtrace check does."""
    import subprocess

    from support.runs import BUILD

    setting = '<Run><Setting name="HDTRACE_FOR_CHECK" value="0" from="default"><Ranks first="0" last="0"/></Setting></Run>'
    project = with_section(write_project(tmp_path, "<Barrier cid='0' time='1' end='2' />\n"), setting)
    said = subprocess.run([BUILD / "bin/hdtrace", "check", "--no-schemas", project], capture_output=True, text=True).stderr.strip().removeprefix("hdtrace: t")
    browser.open(make_report(project))
    assert "buffer-conflict" in said and all(f"T{said}." in text_of(browser, part) for part in ("summary", "checks"))


@pytest.mark.parametrize("end, text", [
    ("1.000000001", "1 ns"), ("1.000999999", "1.000 ms"), ("1.1399", "139.9 ms"), ("1.483", "483.0 ms"), ("86424", "86,423 s"), ("1328158.313", "1,328,157 s"),
])
def test_times_have_all_digits_before_the_point(browser, make_report, tmp_path, end, text):
    browser.open(make_report(write_project(tmp_path, f"<Barrier cid='0' time='1' end='{end}' />\n")))
    assert browser.ask("document.querySelector('.card b').textContent") == text
    assert text_of(browser, "timeline").splitlines()[-1].startswith(f"{text} of 1 thread")


def test_names_change_nothing_beside_them(browser, make_report, tmp_path):
    """Neither those that are written from right to left, nor control characters. What is copied is the name."""
    name = "a&#9;\u05d0\u05d1 \u05d2"
    lines = f"<Event name='{name}' kind='begin' time='1' />\n<Barrier cid='0' time='1' end='4' />\n<Event name='{name}' kind='end' time='4' />\n"
    browser.open(make_report(write_project(tmp_path, lines)), "#where")
    browser.ask("[...document.querySelectorAll('.flame .box')].find(one => one.textContent.startsWith('a')).focus()")
    words = "document.querySelector('#panel-where [role=status]')"
    shown = "a\\t\u05d0\u05d1 \u05d2"
    assert browser.ask(f"{words}.textContent").startswith(f"{shown}: 3.000 s of all")
    lefts = browser.ask(f"""[...{words}.textContent].map((_, i) => {{
        const walk = document.createTreeWalker({words}, NodeFilter.SHOW_TEXT), range = document.createRange();
        let node = walk.nextNode();
        for (; i >= node.length; node = walk.nextNode()) i -= node.length;
        range.setStart(node, i), range.setEnd(node, i + 1);
        return range.getBoundingClientRect().left;
    }})""")
    assert max(lefts[: len(shown)]) < lefts[len(shown)] < lefts[len(shown) + 2]


def test_long_names_to_choose_from_fit_on_a_telephone(browser, make_report, tmp_path):
    message = "<Send size='4' count='1' tid='0' cid='{0}' toRank='0' toTag='1' time='{0}.1' end='{0}.2' />\n<Recv size='4' count='1' tid='0' cid='{0}' fromRank='0' fromTag='1' time='{0}.3' end='{0}.4' />\n"
    project = write_project(tmp_path, message.format(0) + message.format(1))
    long = f'<Communicator name="{"a long name " * 8}" uid="L"><Rank global="0" local="0" cid="1"/></Communicator></CommunicatorList>'
    project.write_text(project.read_text().replace("</CommunicatorList>", long))
    browser.resize(390, 800)
    browser.open(make_report(project), "#communication")
    browser.wait_for("document.querySelectorAll('#panel-communication select').length === 2")
    assert browser.ask("[...document.querySelectorAll('#panel-communication select')].every(one => one.getBoundingClientRect().right <= 390)")
    browser.resize(1280, 800)


def test_of_no_time_no_efficiency_is_told(browser, make_report, tmp_path):
    browser.open(make_report(write_project(tmp_path, *["<Barrier cid='0' time='1' end='1' />\n"] * 2)))
    summary, where = (text_of(browser, part) for part in ("summary", "where"))
    assert summary.count("unknown") == 7 and "100.0 %" not in summary and "NaN" not in summary + where


def test_the_output_is_not_left_half(heat, tmp_path):
    import subprocess

    from support.runs import BUILD

    run = subprocess.run([BUILD / "bin/hdtrace", "report", heat, "-o", tmp_path / "no" / "x.html"], capture_output=True, text=True)
    assert run.returncode == 1 and "x.html" in run.stderr


def test_whoever_may_not_read_the_traces_may_not_read_the_page(heat, make_report):
    """The tracer lets nobody else read a trace."""
    assert [path.stat().st_mode & 0o077 for path in heat.parent.glob("*.trc")] == [0] * 4
    assert make_report(heat).stat().st_mode & 0o777 == 0o600


@pytest.fixture(scope="module")
def page_of(browser, make_report, tmp_path_factory):
    """page_of(program, part, *arguments): its page; programs are those of tests/analysis."""
    from support.runs import run_with_tracer

    def open_page(program, part, *arguments):
        run = run_with_tracer(program, 4, tmp_path_factory.mktemp(program), args=arguments)
        (path,) = run.trace_directory.glob("*.proj")
        browser.open(make_report(path), f"#{part}")
        return browser

    return open_page


def test_iterations_lead_into_the_timeline(page_of):
    page = page_of("phases", "iterations", "one_is_late")
    assert "100 iterations, typically" in page.ask("document.getElementById('panel-iterations').innerText")
    page.ask("[...document.querySelectorAll('#panel-iterations td button')].find(button => button.textContent === '37').click()")
    page.frames()
    begin, end, late = page.ask("[hdtrace.timeline.view.begin, hdtrace.timeline.view.end, hdtrace.run.analysis.phases[0].outliers.find(one => one.iteration === 37)]")
    assert late["rank"] == 2 and begin / 1e9 <= late["begin"] and late["begin"] + late["seconds"] <= end / 1e9
    assert page.ask("!document.getElementById('panel-timeline').hidden") and (end - begin) / 1e9 < 10 * late["seconds"]


def test_files_are_told_with_what_to_try(page_of):
    page = page_of("files", "files", "small", "fine")
    text = page.ask("document.getElementById('panel-files').innerText")
    assert "writes are below 4 KiB and independent" in text and "When they are used" in text


def test_a_page_has_no_more_points_than_can_be_seen():
    from hdtrace.report.content import _with_points

    times = [float(i % 7) for i in range(10_000)]
    phase = _with_points({"iterations": 10_000, "times": times, "begins": list(map(float, range(10_000))), "outliers": []})
    assert len(phase["points"]) == 2000 and "times" not in phase
    assert all(value == max(times[5 * i : 5 * i + 5]) == times[number - 1] for i, (number, _, value) in enumerate(phase["points"]))
