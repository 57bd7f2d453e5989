"""The parts of the page for files, objects, checks and places, of runs whose answers are known."""

import re
import subprocess
from collections import Counter

import hdtrace
import pytest
from projects_of_lines import write_project
from support.runs import BUILD, run_with_tracer
from test_page import NAME, SHOWN

# Rank 0 and rank 1 wait for each other, rank 2 for rank 0.
DEADLOCK = ["<Recv cid='0' fromRank='{}' fromTag='7' time='1' end='9' unfinished='1' />\n".format(source) for source in (1, 0, 0)]
WRITE = "<File_write_at fid='0' offset='{offset}' size='100' count='100' tid='0' time='{begin}' end='{end}' />\n"
READ = WRITE.replace("write", "read")


@pytest.fixture
def page_of(browser, make_report):
    """Opens a part of the page of a project; the page must have nothing to complain about."""
    browser.said.clear()
    browser.resize(1280, 800)

    def open_page(project, part):
        browser.open(make_report(project), f"#{part}")
        browser.frames()
        return browser

    yield open_page
    assert browser.said == []


def test_shares_are_those_of_all_ranks_also_if_the_table_has_only_some(page_of, tmp_path):
    """Each of them is in a barrier for half of its time."""
    lines = ["<Event name='' time='0' />\n<Init time='0' end='1' />\n<Barrier cid='0' time='2' end='4' />\n<Finalize time='4' end='4' />\n"] * 1200
    page = page_of(write_project(tmp_path, *lines), "summary")
    keys = page.ask("[...document.querySelectorAll('.keys li')].map(one => one.textContent)")
    assert [key for key in keys if key.startswith("collective")] == ["collective 50.0 % 2,400 s"]
    page.ask("location.hash = '#where'")
    page.frames()
    rows = page.ask("[...document.querySelectorAll('#panel-where tbody')[0].rows].map(row => [...row.cells].map(cell => cell.textContent))")
    assert [row for row in rows if "Barrier" in row[0]][0][3] == "50.0 %"
    page.ask("[...document.querySelectorAll('.flame .box')].find(one => one.textContent.includes('Barrier')).focus()")
    assert "50.0 % of the run" in page.ask("document.querySelector('.flame').parentElement.parentElement.textContent")


# Checks


def test_a_deadlock_is_a_graph(page_of, tmp_path):
    page = page_of(write_project(tmp_path, *DEADLOCK), "checks")
    assert page.ask("[...document.querySelectorAll('.graph .box .name')].map(one => one.textContent)") == ["rank 0", "rank 1", "rank 2"]
    assert page.ask("document.querySelectorAll('.graph .box.circle').length") == 2
    assert page.ask("document.querySelectorAll('.graph > .arrow').length") == 3
    assert "Recv" in page.ask("document.querySelector('.graph .box').textContent")
    rows = page.ask("[...document.querySelectorAll('#panel-checks tbody tr')].map(row => [row.cells[0].textContent, row.cells[3].textContent])")
    assert rows == [["0", "rank 1"], ["1", "rank 0"], ["2", "rank 0"]]


def test_a_process_that_waits_for_itself_and_one_that_ended(page_of, tmp_path):
    ended = "<Finalize time='2' end='3' />\n"
    page = page_of(write_project(tmp_path, DEADLOCK[0], ended), "checks")
    assert "rank 1 has ended" in page.ask("document.querySelector('.graph').textContent")


def test_what_several_ranks_do_alike_is_told_once(page_of, tmp_path):
    never_completed = "<Isend size='4' cid='0' toRank='0' toTag='1' count='1' tid='0' rid='5' time='1' end='2' />\n<Finalize time='8' end='9' />\n"
    page = page_of(write_project(tmp_path, *[never_completed] * 3), "checks")
    (told,) = page.ask("[...document.querySelectorAll('.finding')].filter(one => one.textContent.includes('request-not-completed')).map(one => one.textContent)")
    assert "(3)" in told and told.count("(likewise ranks 1-2)") == 1


@pytest.mark.parametrize("awaited", [[1, 1, 1, 1], [1, 0, 0, 1, 0], [rank // 2 for rank in range(12)]])
def test_boxes_of_a_deadlock_do_not_overlap(page_of, tmp_path, awaited):
    lines = ["<Recv cid='0' fromRank='{}' fromTag='7' time='1' end='9' unfinished='1' />\n".format(rank) for rank in awaited]
    page = page_of(write_project(tmp_path, *lines), "checks")
    boxes = page.ask("[...document.querySelectorAll('.graph rect')].map(one => one.getBoundingClientRect()).map(one => [one.left, one.right, one.top, one.bottom])")
    assert len(boxes) == len(awaited)
    for number, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[:number]:
            assert right < other[0] or left > other[1] or bottom < other[2] or top > other[3]


def test_a_large_deadlock_is_drawn_in_part(page_of, tmp_path):
    ranks = 60
    lines = ["<Recv cid='0' fromRank='{}' fromTag='7' time='1' end='9' unfinished='1' />\n".format((rank + 1) % ranks) for rank in range(ranks)]
    page = page_of(write_project(tmp_path, *lines), "checks")
    assert page.ask("document.querySelectorAll('.graph .box').length") == 40
    assert page.ask("document.querySelectorAll('#panel-checks tbody tr').length") == ranks
    assert "the table all 60" in page.ask("document.getElementById('panel-checks').textContent")


SITES = """<CallSiteList>
    <Object id="0" path="/home/u/app" buildId="0f"/>
    <Place id="0" object="0" offset="4457"><Function name="give" file="/src/give.c" line="3"/></Place>
    <Place id="1" object="0" offset="4711"><Function name="main" file="/src/main.c" line="7"/></Place>
    <Place id="2" object="0" offset="31"><Function name="take" file="/src/take.c" line="9"/></Place>
    <CallSite id="0" places="0;1;"/>
    <CallSite id="1" places="2;1;"/>
    <Sites map="0..1=0..1;"><Ranks first="0" last="1"/></Sites>
  </CallSiteList>
</Application>"""


def with_sites(project):
    project.write_text(project.read_text().replace("</Application>", SITES))
    return project


def test_a_finding_has_both_ends(page_of, tmp_path):
    both = ("<Barrier cid='0' site='0' time='3' end='4' />\n", "<Bcast cid='0' rootRank='1' site='1' time='4' end='5' />\n")
    page = page_of(with_sites(write_project(tmp_path, *both)), "checks")
    text = page.ask("document.getElementById('panel-checks').textContent")
    assert "the calltake (take.c:9)" in text and "the other callgive (give.c:3)" in text
    assert page.ask("[...document.querySelectorAll('#panel-checks .where details li')].map(one => one.textContent)") == [
        "take (take.c:9) in /src/take.c", "main (main.c:7) in /src/main.c", "give (give.c:3) in /src/give.c", "main (main.c:7) in /src/main.c"]


# Files


def pieces_in_page(page):
    return page.ask("""hdtrace.accessesOf(0).then(all => all.flatMap(one => one.pieces.map(([begin, end]) => [one.rank, one.isWrite ? 'w' : 'r', begin, end - begin])))""")


def test_accesses_are_those_of_the_trace(page_of, tmp_path):
    """Compared with hdtrace convert, which finds the pieces of a view in its own way."""
    run = run_with_tracer(BUILD / "examples/07-matrix-file", 4, tmp_path)
    (project,) = run.trace_directory.glob("*.proj")
    page = page_of(project, "files")
    log = subprocess.run([BUILD / "bin/hdtrace", "convert", "--to", "ioplot", project, "-o", tmp_path / "log"], capture_output=True, text=True)
    assert log.returncode == 0, log.stderr
    expected = Counter((int(rank), op, int(offset), int(length)) for rank, op, offset, length, *_ in map(str.split, (tmp_path / "log").read_text().splitlines()))
    assert Counter(map(tuple, pieces_in_page(page))) == expected and len(expected) > 4


def test_the_map_has_the_colours_of_who_accessed_the_bytes(page_of, tmp_path):
    project = write_project(tmp_path, WRITE.format(offset=0, begin=1, end=2), WRITE.format(offset=100, begin=2, end=3), "<Barrier cid='0' time='1' end='2' />\n")
    page = page_of(project, "files")
    page.wait_for("document.querySelector('.map') !== null")
    pixel = """(row => [...document.querySelector('.map').getContext('2d').getImageData(3, row, 1, 1).data])"""
    page.ask("(input => { input.value = 100; input.dispatchEvent(new Event('input')); })(document.querySelector('input[type=number]'))")
    assert page.ask("[document.querySelector('.map').width, document.querySelector('.map').height]") == [100, 2]
    first, second = page.ask(f"[{pixel}(0), {pixel}(1)]")
    assert first != second and first[3] == second[3] == 255
    page.ask("(choice => { choice.value = 'operation'; choice.dispatchEvent(new Event('change')); })(document.getElementById('colour'))")
    page.wait_for(f"{pixel}(0).join() === '230,159,0,255'")
    page.said[:] = [one for one in page.said if "willReadFrequently" not in str(one)]  # only this test reads pixels


def test_figures_of_a_file_are_not_blank(page_of, tmp_path):
    page = page_of(write_project(tmp_path, WRITE.format(offset=0, begin=1, end=2) + READ.format(offset=50, begin=3, end=4)), "files")
    page.wait_for("document.querySelectorAll('#panel-files .plot').length === 5")
    page.frames()
    colours = page.ask("""[...document.querySelectorAll('#panel-files .plot')].map(canvas => { const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set(); for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); return seen.size; })""")
    assert min(colours) > 3


def test_a_very_large_file_is_thinned(tmp_path):
    """All times of the run are still seen, and the page says how many there were."""
    from hdtrace.report.content import collect

    lines = "".join(WRITE.format(offset=100 * i, begin=f"{1 + i * 1e-4:.6f}", end=f"{1.00005 + i * 1e-4:.6f}") for i in range(60_000))
    with hdtrace.open(write_project(tmp_path, lines)) as project:
        (file,) = collect(project, None).facts["file_accesses"]
    assert file["accesses"] == 60_000 and 25_000 <= file["kept"] <= 50_000


# Objects and run


def test_objects_are_listed_with_the_bytes_of_datatypes(page_of, heat):
    page = page_of(heat, "objects")
    text = page.ask("document.getElementById('panel-objects').innerText")
    with hdtrace.open(heat) as project:
        assert all(label in text for label in project.communicator_labels)
        named = next(one for types in project.datatypes.values() for one in types.values() if one.combiner == "VECTOR")
    assert "How it was run" in text and "06-heat" in text
    shown = page.ask(f"""(row => [...row.querySelectorAll('.bytes .data')].length)([...document.querySelectorAll('#panel-objects tr')].find(row => row.textContent.includes('VECTOR')))""")
    assert shown > 0 and named.attributes["size"] in text.replace(",", "")


def test_each_byte_of_a_small_type_is_a_cell(page_of, tmp_path):
    project = write_project(tmp_path, "<Barrier cid='0' time='1' end='2' />\n")
    vector = '<VECTOR id="1" name="pair" count="2" blocklength="1" stride="3" oldType="0" size="8" lb="0" extent="16"/>'
    project.write_text(project.read_text().replace('extent="4"/>', f'extent="4"/>{vector}'))
    page = page_of(project, "objects")
    cells = page.ask("[...[...document.querySelectorAll('#panel-objects tr')].find(row => row.textContent.includes('pair')).querySelectorAll('rect')].map(one => one.getAttribute('class') === 'data' ? 1 : 0).join('')")
    assert cells == "1111" + 8 * "0" + "1111"


# Where


def test_the_flame_graph_shows_what_led_to_calls(page_of, tmp_path):
    lines = "<Barrier cid='0' site='0' time='1' end='4' />\n<Barrier cid='0' site='1' time='5' end='6' />\n"
    page = page_of(with_sites(write_project(tmp_path, lines, lines)), "where")
    boxes = page.ask("[...document.querySelectorAll('.flame .box')].map(box => [box.textContent, parseFloat(box.style.top) / 22, Math.round(parseFloat(box.style.width))])")
    assert boxes == [["the run", 0, 100], ["main (main.c)", 1, 100], ["give (give.c)", 2, 80], ["MPI_Barrier, line 3", 3, 60],
                     ["computation after MPI_Barrier, line 3", 3, 20], ["take (take.c)", 2, 20], ["MPI_Barrier, line 9", 3, 20]]


def test_the_flame_graph_knows_which_regions_are_inside_others(page_of, tmp_path):
    def events(names, kind, time):
        return "".join(f"<Event name='{name}' kind='{kind}' time='{time}' />\n" for name in names)

    def inside(begin, *names):
        return events(names, "begin", begin) + f"<Barrier cid='0' time='{begin}' end='{begin + 1}' />\n" + events(names[::-1], "end", begin + 1)

    page = page_of(write_project(tmp_path, inside(1, "I/O") + inside(2, "I", "O") + inside(3, "a\\", "&lt;/b>")), "where")
    boxes = page.ask("[...document.querySelectorAll('.flame .box.region')].map(box => [box.textContent, parseFloat(box.style.top) / 22])")
    assert sorted(boxes) == [["</b>", 2], ["I", 1], ["I/O", 1], ["O", 2], ["a\\", 1]]


def test_the_flame_graph_is_the_time_of_the_run(page_of, heat):
    page = page_of(heat, "where")
    with hdtrace.open(heat) as project:
        whole = sum(row["seconds"] for row in project.analyze().time["rank"])
    boxes = page.ask("[...document.querySelectorAll('.flame .box')].map(box => [box.textContent, parseFloat(box.style.width), parseFloat(box.style.top)])")
    assert boxes[0][:2] == ["the run", 100]
    assert any(name.startswith("MPI_Init") for name, *_ in boxes)  # the longest call, however busy the machine is
    said = page.ask("document.querySelector('.flame .box').title")
    assert said.endswith("100.0 % of the run.") or "100.0 % of the run, of which" in said
    rows = page.ask("hdtrace.run.analysis.time.stack.reduce((sum, row) => sum + row.seconds, 0)")
    assert rows == pytest.approx(whole)


def test_the_flame_graph_is_used_with_keys(page_of, heat):
    page = page_of(heat, "where")
    page.ask("[...document.querySelectorAll('.flame .box')].find(box => box.textContent.startsWith('MPI_Init')).focus()")
    assert "MPI_Init" in page.ask("document.querySelector('#panel-where [role=status]').textContent")
    page.press("Enter")
    assert page.ask("[...document.querySelectorAll('.flame .box')].filter(box => box.style.width === '100%').at(-1).textContent").startswith("MPI_Init")
    page.ask("(input => { input.value = 'init'; input.dispatchEvent(new Event('input')); })(document.querySelector('#panel-where .controls input'))")
    assert page.ask("document.querySelectorAll('.flame .box:not(.faint)').length") >= 1


def test_places_of_one_rank(page_of, tmp_path):
    """Rank 1 is in the first barrier for 3 s, rank 0 for 1 s."""
    second = "<Barrier cid='0' site='1' time='5' end='6' />\n"
    traces = [f"<Barrier cid='0' site='0' time='{begin}' end='4' />\n{second}" for begin in (3, 1)]
    page = page_of(with_sites(write_project(tmp_path, *traces)), "where")
    page.ask("(choice => { choice.value = '1'; choice.dispatchEvent(new Event('change')); })(document.getElementById('rank'))")
    page.wait_for("document.querySelector('#panel-where .table tbody').rows[0].cells[2].textContent === '4.000 s'")
    assert page.ask("[...document.querySelector('#panel-where .table tbody').rows[0].cells].map(one => one.textContent)") == [
        "MPI_Barrier", "give (give.c:3)", "4.000 s", "80.0 %", "1.000 s", "3.000 s", "2.000 s", "1"]


def test_sums_of_ranks_are_those_of_all(heat):
    from hdtrace._hdtrace import Explanation
    from hdtrace.streams import read_all

    with hdtrace.open(heat) as project:
        explanation = read_all(Explanation(project._project, None, None))
        whole, ranks = explanation.use_of_sites(), explanation.use_of_sites_by_rank(1000)
    assert list(ranks) == [0, 1, 2, 3]
    for number, row in enumerate(whole):
        own = [one for rows in ranks.values() for one in rows if one[0] == number]
        assert [sum(one[i] for one in own) for i in (1, 2, 3, 4)] == pytest.approx([row[key] for key in ("computation", "mpi", "waiting", "calls")])


# Communication


def test_the_matrix_shows_who_waits_for_whom(page_of, tmp_path):
    """Rank 1 waits for rank 0 for 2 s."""
    send = "<Send size='8' count='2' tid='0' cid='0' toRank='1' toTag='1' time='3' end='3.5' />\n"
    receive = "<Recv size='8' count='2' tid='0' cid='0' fromRank='0' fromTag='1' time='1' end='4' />\n"
    page = page_of(write_project(tmp_path, send, receive), "communication")
    page.wait_for("document.querySelector('#panel-communication select') !== null")
    page.ask("(choice => { choice.value = 'waiting'; choice.dispatchEvent(new Event('change')); })(document.querySelector('#panel-communication select'))")
    assert "Darkest: 2.000 s" in page.ask("document.querySelector('#panel-communication [role=status]').textContent")
    x, y, width = page.ask("(({x, y, width}) => [x, y, width])(document.querySelector('.matrix').getBoundingClientRect())")
    page.mouse("mouseMoved", x + width / 4, y + 3 * width / 4)
    assert page.ask("document.querySelector('#panel-communication [role=status]').textContent") == "Rank 1 waits for rank 0: 2.000 s"


def test_the_matrix_is_of_one_communicator_if_wished(page_of, tmp_path):
    """Eight bytes on the world, six times as much the other way on a communicator named LINE."""
    message = "<{call} size='{size}' count='2' tid='0' cid='{cid}' {peer} time='{begin}' end='{begin}.5' />\n"
    send = message.format(call="Send", size=8, cid=0, peer="toRank='1' toTag='1'", begin=1) + message.format(call="Recv", size=48, cid=1, peer="fromRank='1' fromTag='1'", begin=2)
    receive = message.format(call="Recv", size=8, cid=0, peer="fromRank='0' fromTag='1'", begin=1) + message.format(call="Send", size=48, cid=1, peer="toRank='0' toTag='1'", begin=2)
    project = write_project(tmp_path, send, receive)
    members = "".join(f'<Rank global="{rank}" local="{rank}" cid="1"/>' for rank in (0, 1))
    project.write_text(project.read_text().replace("</CommunicatorList>", f'<Communicator name="LINE" uid="L">{members}</Communicator></CommunicatorList>'))
    page = page_of(project, "communication")
    page.wait_for("document.querySelector('#panel-communication select') !== null")
    choice = "document.querySelectorAll('#panel-communication select')[1]"
    assert page.ask(f"[...{choice}.options].map(one => one.value)") == ["all communicators", "LINE", "WORLD"]
    said = []
    for name in ("all communicators", "LINE", "WORLD"):
        page.ask(f"(choice => {{ choice.value = '{name}'; choice.dispatchEvent(new Event('change')); }})({choice})")
        x, y, width = page.ask("(({x, y, width}) => [x, y, width])(document.querySelector('.matrix').getBoundingClientRect())")
        for row, column in ((0, 1), (1, 0)):
            page.mouse("mouseMoved", x + width * (1 + 2 * column) / 4, y + width * (1 + 2 * row) / 4)
            said.append(page.ask("document.querySelector('#panel-communication [role=status]').textContent").split(": ")[1])
    assert said == ["8 B", "48 B", "nothing", "48 B", "8 B", "nothing"]


def test_the_matrix_is_whole_also_if_the_table_is_not(page_of, tmp_path):
    """Each of 1,100 ranks sends eight bytes to twenty others, and waits a second for the last one."""
    ranks = 1100
    sends = "".join(f"<Send size='8' count='2' tid='0' cid='0' toRank='{{{number}}}' toTag='1' time='2' end='2.5' />\n" for number in range(20))
    wait = "<Barrier cid='0' time='{}' end='5' />\n"
    lines = [sends.format(*((rank + 1 + number) % ranks for number in range(20))) + wait.format(4 if rank == ranks - 1 else 3) for rank in range(ranks)]
    page = page_of(write_project(tmp_path, *lines), "communication")
    page.wait_for("document.querySelector('#panel-communication select') !== null")
    status = "document.querySelector('#panel-communication [role=status]').textContent"
    assert "The 3 processes of a row send to those of a column" in page.ask(status)
    x, y, width = page.ask("(({x, y, width}) => [x, y, width])(document.querySelector('.matrix').getBoundingClientRect())")
    page.mouse("mouseMoved", x + width - 2, y + width - 4)
    first, last, first_to, last_to, said = map(int, re.fullmatch(r"Ranks (\d+) to (\d+) send to ranks (\d+) to (\d+): (\d+) B", page.ask(status)).groups())
    assert first > 1050 and last == first + 2 and first_to > 1050
    assert said == 8 * sum(1 <= (receiver - sender) % ranks <= 20 for sender in range(first, last + 1) for receiver in range(first_to, last_to + 1)) > 0
    page.ask("(choice => { choice.value = 'waiting'; choice.dispatchEvent(new Event('change')); })(document.querySelector('#panel-communication select'))")
    assert "The 3 processes of a row wait for those of a column" in page.ask(status)
    assert "Darkest: 3.000 s" in page.ask(status)


def test_messages_between_hosts_are_told(page_of, tmp_path):
    """Two processes, each on a host of its own."""
    message, larger = "size='8' count='2' tid='0' cid='0'", "size='16' count='4' tid='0' cid='0'"
    send = f"<Send {larger} toRank='1' toTag='1' time='1' end='2' />\n<Send {message} toRank='0' toTag='2' time='3' end='4' />\n<Recv {message} fromRank='0' fromTag='2' time='4' end='5' />\n"
    project = write_project(tmp_path, send, f"<Recv {larger} fromRank='0' fromTag='1' time='1' end='3' />\n")
    text = project.read_text()
    for kind, key in (("Node", "name"), ("Label", "value")):
        text = text.replace(f'<{kind} {key}="1"><{kind} {key}="0"/></{kind}>', f'</{kind}><{kind} {key}="node02"><{kind} {key}="1"><{kind} {key}="0"/></{kind}>')
    project.write_text(text)
    (tmp_path / "app_node01_1_0.trc").rename(tmp_path / "app_node02_1_0.trc")
    page = page_of(project, "communication")
    page.wait_for("document.getElementById('panel-communication').textContent.includes('Messages between hosts')")
    table = "[...document.querySelectorAll('#panel-communication .table')].find(one => one.textContent.includes('from host'))"
    assert page.ask(f"[...{table}.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))") == [
        ["node01", "node02", "1", "16 B"], ["node01", "node01", "1", "8 B"]]


def test_hostile_names_do_nothing(page_of, tmp_path):
    """In the parts that show objects, files, deadlocks and regions."""
    lines = [line.replace("fromTag='7'", "fromTag='7' site='0'") for line in DEADLOCK[:2]]
    lines[0] = f"<Event name='{NAME}' kind='begin' time='0.1' />\n{WRITE.format(offset=0, begin=0.2, end=0.3)}<Event name='{NAME}' kind='end' time='0.4' />\n" + lines[0]
    project = write_project(tmp_path, *lines)
    text = project.read_text().replace('"MPI_INT"', f'"{NAME}"').replace('"/data/out"', f'"/{NAME}"').replace('name="WORLD"', f'name="{NAME}"')
    sites = SITES.replace('name="give"', f'name="{NAME}"').replace("/src/main.c", NAME)
    project.write_text(text.replace("<Description/>", f"<Description>{NAME}</Description>").replace("</Application>", sites))
    for part in ("checks", "objects", "files", "where"):
        page = page_of(project, part)
        page.wait_for("document.querySelector('#panel-files .map') !== null" if part == "files" else "true")
        assert SHOWN in page.ask(f"document.getElementById('panel-{part}').textContent")
        assert page.ask("document.querySelectorAll('img').length") == 0
