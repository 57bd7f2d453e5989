"""The timeline of a real run: what it shows, and what it does when it is used."""

import hdtrace
import pytest
from projects_of_lines import write_project

RUN = "hdtrace.run"
TIMELINE = "hdtrace.timeline"
LANE = f"{TIMELINE}.canvas.getBoundingClientRect()"


@pytest.fixture(scope="module")
def calls(heat):
    with hdtrace.open(heat) as project:
        return list(project.calls(unfinished=True)), project.start


def middle_of(page, call, start):
    """Zooms to a call of the trace; returns where it is on the screen."""
    begin, end = call.time - start, max(call.end - start, call.time - start + 100)
    page.ask(f"{TIMELINE}.view.show({begin - (end - begin)}, {end + (end - begin)}), {TIMELINE}.draw()")
    return page.ask(f"""(() => {{ const lane = {RUN}.lanes.find(one => one.rank === {call.rank}); const box = {LANE};
        return [box.x + {TIMELINE}.view.x({(begin + end) / 2}), box.y + {TIMELINE}.view.y(lane) + {TIMELINE}.view.laneHeight / 2]; }})()""")


def test_has_a_lane_for_each_process_with_all_its_calls(page, calls):
    all_calls, _ = calls
    for rank in range(4):
        of_rank = [call.name for call in all_calls if call.rank == rank]
        shown = page.ask(f"""(() => {{ const names = []; {RUN}.lanes[{rank}].forEachIn(-Infinity, Infinity,
            (content, i) => void (content.depth[i] || names.push({RUN}.phrases[content.phrase[i]].name))); return names; }})()""")
        assert shown == of_rank
    assert page.ask(f"{RUN}.lanes.length") == 4
    assert page.ask(f"{TIMELINE}.drawing.drawn.lanes") == 4


def test_times_are_those_of_the_trace(page, calls):
    all_calls, start = calls
    expected = [[call.time - start, call.end - start] for call in all_calls if call.rank == 2]
    assert page.ask(f"""(() => {{ const times = []; {RUN}.lanes[2].forEachIn(-Infinity, Infinity,
        (content, i) => void times.push([content.begin[i], content.end[i]])); return times; }})()""") == expected


def test_attributes_are_those_of_the_trace(page, calls):
    all_calls, _ = calls
    expected = [[value for name, value in call.attributes.items() if name != "site"] for call in all_calls if call.rank == 1]
    shown = page.ask(f"""(() => {{ const all = []; {RUN}.lanes[1].forEachIn(-Infinity, Infinity, (content, i) => void all.push(
        {RUN}.attributesOf({RUN}.lanes[1], content, i).filter(one => !one[0].includes(':')).map(one => one[1]))); return all; }})()""")
    assert shown == expected


def test_large_numbers_are_those_of_the_trace(browser, make_report, tmp_path):
    """Also where one differs from the one before by more than a number of JavaScript can tell exactly."""
    sizes = [str(sign * (2**power - 1)) for power in range(50, 54) for sign in (1, -1)]
    lines = "".join(f"<Barrier cid='0' size='{size}' time='{i}' end='{i}.5' />\n" for i, size in enumerate(sizes))
    browser.open(make_report(write_project(tmp_path, lines)), "#timeline")
    assert browser.ask(f"""(() => {{ const all = []; const lane = {RUN}.lanes[0]; lane.forEachIn(-Infinity, Infinity, (content, i) => void all.push(
        {RUN}.attributesOf(lane, content, i).find(([name]) => name === 'size')[1])); return all; }})()""") == sizes


def test_polls_that_were_left_out_are_drawn_as_one_call(browser, make_report, tmp_path):
    lines = ("<Barrier cid='0' time='0' end='1' />\n<Test flag='0' time='2' end='2.5' />\n"
             "<Test flag='1' polls='7' pollTime='3.000000000' time='6' end='7' />\n<Barrier cid='0' pollTime='0.500000000' time='8' end='9' />\n")
    browser.open(make_report(write_project(tmp_path, lines)), "#timeline")
    assert browser.ask(f"""(() => {{ const all = []; {RUN}.lanes[0].forEachIn(-Infinity, Infinity, (content, i) => void all.push(
        [{RUN}.phrases[content.phrase[i]].name, content.begin[i] / 1e9, content.end[i] / 1e9])); return all; }})()""") == [
        ["Barrier", 0, 1], ["Test", 2, 2.5], ["Test", 3, 6], ["Test", 6, 7], ["Test", 7.5, 8], ["Barrier", 8, 9]]
    assert browser.ask(f"{RUN}.lanes[0].calls") == 4


def colours_of(page):
    """Those that the picture has."""
    colours = page.ask(f"""(() => {{ const canvas = {TIMELINE}.canvas;
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set(); for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); return [...seen]; }})()""")
    page.said[:] = [one for one in page.said if "willReadFrequently" not in str(one)]  # only tests read pixels
    return colours


def test_draws_calls_in_the_colours_of_their_classes(page):
    colours = colours_of(page)
    assert 0x7F7F7F in colours  # Init
    assert len(colours) > 4


@pytest.mark.parametrize(("layer", "colour"), [("waits", 0xD55E00), ("collectives", 0xFBF0D6)])
def test_layers_can_be_switched_off(page, layer, colour):
    assert page.ask(f"{TIMELINE}.drawing.drawn.{ {'waits': 'waits', 'collectives': 'bands'}[layer] }") > 0
    assert colour in colours_of(page)
    page.ask(f"{TIMELINE}.options.{layer} = false, {TIMELINE}.draw()")
    assert colour not in colours_of(page)


def test_pointing_at_a_call_tells_all_about_it(page, calls):
    all_calls, start = calls
    call = max((call for call in all_calls if call.name in ("Sendrecv", "Isend", "Send", "Irecv", "Recv")), key=lambda call: call.end - call.time)
    page.mouse("mouseMoved", *middle_of(page, call, start))
    assert page.ask(f"!{TIMELINE}.tip.hidden")
    text = page.ask(f"{TIMELINE}.tip.textContent")
    assert f"MPI_{call.name}" in text
    assert f"rank {call.rank} " in text
    assert "WORLD" in text or "CART" in text or "cid" in text
    assert call.site is None or str(call.site) in text


def test_finds_calls_and_goes_to_them(page, calls):
    all_calls, _ = calls
    page.ask(f"{TIMELINE}.search.focus()")
    for key in "Allreduce":
        page.press(key)
    expected = sum(call.name == "Allreduce" for call in all_calls)
    assert expected > 0
    assert page.ask(f"{TIMELINE}.matches.textContent") == f"{expected:,} calls"
    page.press("Enter")
    assert "MPI_Allreduce" in page.ask(f"{TIMELINE}.details.textContent")


def test_next_goes_to_calls_that_begin_together_one_by_one(browser, make_report, tmp_path):
    barriers = "<Barrier cid='0' time='1' end='2' />\n<Barrier cid='0' time='3' end='3' />\n<Barrier cid='0' time='3' end='4' />\n"
    browser.open(make_report(write_project(tmp_path, barriers, barriers)), "#timeline")
    browser.ask(f"{TIMELINE}.find('Barrier')")
    seen = browser.ask(f"""Array.from({{ length: 7 }}, () => {{ {TIMELINE}.findNext(); const {{ lane, content, position }} = {TIMELINE}.options.chosen;
        return [content.begin[position] / 1e9, lane.rank, position]; }})""")
    assert seen == [[0, 0, 0], [0, 1, 0], [2, 0, 1], [2, 0, 2], [2, 1, 1], [2, 1, 2], [0, 0, 0]]


def test_zooms_pans_and_fits_with_keys(page):
    view = lambda: page.ask(f"[{TIMELINE}.view.begin, {TIMELINE}.view.end]")
    page.ask(f"{TIMELINE}.canvas.focus()")
    whole = view()
    page.press("w", "w")
    begin, end = view()
    assert end - begin < (whole[1] - whole[0]) / 2 + 1
    page.press("d")
    assert view()[0] > begin
    page.press("f")
    assert view() == whole


def test_zooms_with_the_wheel_where_the_mouse_is(page):
    box = page.ask(f"(({{x, y}}) => [x, y])({LANE})")
    x = 300
    before = page.ask(f"{TIMELINE}.view.timeAt({x})")
    page.mouse("mouseWheel", box[0] + x, box[1] + 40, deltaX=0, deltaY=-400)
    assert page.ask(f"{TIMELINE}.view.timeAt({x})") == pytest.approx(before, rel=0.02)
    assert page.ask(f"{TIMELINE}.view.end - {TIMELINE}.view.begin < {RUN}.duration * 0.7")


def test_selected_time_has_its_statistics(page):
    box = page.ask(f"(({{x, y, width}}) => [x, y, width])({LANE})")
    page.drag((box[0] + 2, box[1] + 20), (box[0] + box[2] - 2, box[1] + 30), modifiers=8)
    text = page.ask(f"{TIMELINE}.details.textContent")
    assert "selected" in text and "Allreduce" in text
    page.ask(f"{TIMELINE}.canvas.focus()")
    page.press("Escape")
    assert page.ask(f"{TIMELINE}.details.textContent") == ""


def test_a_call_that_takes_no_time_can_be_selected(browser, make_report, tmp_path):
    browser.open(make_report(write_project(tmp_path, "<Barrier cid='0' time='1' end='1' />\n<Barrier cid='0' time='2' end='3' />\n")), "#timeline")
    browser.ask(f"{TIMELINE}.find('Barrier'), {TIMELINE}.findNext(), {TIMELINE}.canvas.focus()")
    browser.press("[", "]")
    text = browser.ask(f"{TIMELINE}.details.textContent")
    assert text.startswith("0 ns selected") and "Barrier1" in text and "%" not in text


def test_calls_are_reached_with_keys_only(page):
    page.ask(f"{TIMELINE}.canvas.focus()")
    page.press("j", "n")
    first = page.ask(f"{TIMELINE}.details.textContent")
    page.press("n")
    assert first and page.ask(f"{TIMELINE}.details.textContent") != first


def test_classes_and_layers_are_switched_off(page):
    before = page.ask(f"{TIMELINE}.drawing.drawn.calls")
    page.ask("document.querySelector('.legend input').click()")
    page.frames()
    assert 0 < page.ask(f"{TIMELINE}.drawing.drawn.calls") < before


def test_messages_and_waits_are_those_of_the_analysis(page, heat):
    with hdtrace.open(heat) as project:
        messages = sum(message.send is not None and message.receive is not None for message in project.messages())
        waits = sum(row["seconds"] for row in project.analyze().wait_states)
    assert page.ask(f"{RUN}.lanes.reduce((sum, lane) => sum + lane.received.length, 0)") == messages > 0
    assert page.ask(f"{RUN}.lanes.flatMap(lane => lane.waits).reduce((sum, one) => sum + one.end - one.begin, 0)") == pytest.approx(waits * 1e9)


def test_counters_are_curves(browser, make_report, tmp_path):
    """One that is low for the first half of the run, and high for the second one."""
    from projects_of_lines import write_project

    value = "<Event name='load' value='{}' time='{}' />\n"
    project = write_project(tmp_path, "<Barrier cid='0' time='0' end='0.001' />\n" + value.format(1, 0.01) + value.format(5, 5) + "<Barrier cid='0' time='9.999' end='10' />\n")
    browser.resize(1280, 800)
    browser.open(make_report(project), "#timeline")
    assert browser.ask(f"{TIMELINE}.drawing.drawn.counters") == 1
    heights = browser.ask(f"""[2.5e9, 7.5e9].map(time => {{ const {{ view, canvas }} = {TIMELINE}; const data = canvas.getContext('2d').getImageData(Math.round(view.x(time)), 0, 1, view.laneHeight).data;
        for (let y = 2; y < view.laneHeight; y++) if (data[4 * y] < 160) return y; return null; }})""")
    assert heights[1] < 8 and heights[0] > heights[1] + 10
    browser.said.clear()


@pytest.mark.parametrize("other", ["NaN", "INF", "-INF"])
def test_values_that_are_no_numbers_leave_the_curve_of_a_counter_as_it_is(browser, make_report, tmp_path, other):
    value = "<Event name='load' kind='count' value='{}' time='{}' />\n"
    lines = value.format(1, 1) + value.format(other, 2) + value.format(5, 3) + value.format(other, 4)
    browser.open(make_report(write_project(tmp_path, "<Barrier cid='0' time='0' end='0.5' />\n" + lines)), "#timeline")
    assert browser.ask(f"{RUN}.lanes[0].counters.map(({{ values, least, most }}) => [values.map(one => one.value), least, most])") == [[[1, 5], 1, 5]]
    assert browser.ask(f"{RUN}.lanes[0].marks.length") == 4


def test_a_link_leads_to_a_time(page, heat, make_report):
    duration = page.ask(f"{RUN}.duration")
    page.open(make_report(heat), f"#timeline&from={duration * 0.25e-9:.9f}&to={duration * 0.5e-9:.9f}")
    assert page.ask(f"{TIMELINE}.view.end - {TIMELINE}.view.begin") == pytest.approx(duration / 4, rel=0.01)


def test_says_what_a_limit_leaves_out(heat, make_report, tmp_path):
    import shutil

    copy = shutil.copytree(heat.parent, tmp_path / "copy")
    page = make_report(copy / heat.name, "--limit", "1")
    assert page.stat().st_size < 1_000_000
    from hdtrace.report.content import collect

    with hdtrace.open(copy) as project:
        content = collect(project, 4000)
    assert any("--limit" in note for note in content.facts["notes"])
    assert not all(lane[5] for lane in content.facts["lanes"])


def test_a_limit_holds_for_the_whole_page(tmp_path):
    """Also for tables: rows go before calls do, and it is told."""
    from hdtrace.report.content import collect
    from hdtrace.report.document import html
    from projects_of_lines import write_project

    own = "<Send size='4' cid='0' toRank='1' toTag='{i}' name='x{i:0600}' time='{i}.3' end='{i}.4' />\n"  # each with a text of its own, and never received
    project = hdtrace.open(write_project(tmp_path, "".join(own.format(i=i) for i in range(1, 1500)), ""))
    whole, large, small = (collect(project, limit) for limit in (None, 800_000, 200_000))
    page = 120_000  # bytes of style and script
    assert len(html([whole])) > 1_000_000 and whole.facts["phrases"]
    assert len(html([large])) < 800_000 + page and len(html([small])) < 200_000 + page
    assert len(small.facts["findings"]) < len(large.facts["findings"])
    assert any("findings" in note for note in small.facts["notes"]) and any("--limit" in note for note in small.facts["notes"])


def test_a_timeline_says_that_calls_are_not_there(browser, make_report, tmp_path):
    own = "<Barrier cid='0' name='x{i:0900}' time='{i}.3' end='{i}.4' />\n"
    few = "".join(f"<Barrier cid='0' time='{i}.3' end='{i}.4' />\n" for i in range(1, 9))
    many = "".join(own.format(i=i) for i in range(1, 3000))
    for lines, said in (((few, few), "2 threads: 16 calls, 0 messages."),
                        ((many, many), "2 threads: shares of time; single calls are not in this page (--limit).")):
        browser.open(make_report(write_project(tmp_path, *lines), "--limit", "1"), "#timeline")
        assert browser.ask(f"{TIMELINE}.status.textContent").endswith(f" of {said}")


def test_what_only_checks_need_takes_no_room(tmp_path):
    """Addresses and measured times are others in nearly every call, and would make each a phrase of its own."""
    from hdtrace.report.content import collect

    line = "<Bcast cid='0' rootRank='0' size='4' reads='{i}00:4:0;' writes='{i}00:4:0;' threadCpu='0.00000000{i}' pollTime='0.00000000{i}' time='{i}.3' end='{i}.4' />\n"
    with hdtrace.open(write_project(tmp_path, "".join(line.format(i=i) for i in range(1, 9)))) as project:
        assert len(collect(project, None).facts["phrases"]) == 1


def test_threads_with_few_calls_share_a_section(browser, make_report, tmp_path):
    def barriers(count):
        return "".join(f"<Barrier cid='0' time='{i}' end='{i}.5' />\n" for i in range(1, count + 1))

    for counts, groups in (((9000, 3), [0, 1]), ((9, 3), [0, 0])):
        browser.open(make_report(write_project(tmp_path, *map(barriers, counts))), "#timeline")
        assert browser.ask(f"{RUN}.lanes.map(lane => lane.group.number)") == groups
        shown = f"{RUN}.lanes.map(lane => {{ let count = 0; lane.forEachIn(-Infinity, Infinity, () => void count++); return count; }})"
        assert browser.ask(shown) == list(counts)


def test_a_call_has_few_bytes(tmp_path):
    """A million calls are at most 15 megabytes, also if neither times nor calls follow a pattern."""
    import random

    from hdtrace.report.content import collect
    from projects_of_lines import write_project

    chance = random.Random(1)
    calls, time, lines = 4000, 1_000, []
    sizes = [chance.randrange(100_000) for _ in range(50)]
    for _ in range(calls):
        begin = time + chance.randrange(1_000_000)
        time = begin + chance.randrange(10_000_000)
        name, rank, tag = chance.choice((("Send", "toRank", "toTag"), ("Recv", "fromRank", "fromTag")))
        lines.append(f"<{name} size='{chance.choice(sizes)}' cid='0' tid='0' {rank}='1' {tag}='{chance.randrange(10)}' time='{begin // 10**9}.{begin % 10**9:09}' end='{time // 10**9}.{time % 10**9:09}' />\n")
    with hdtrace.open(write_project(tmp_path, "".join(lines), "")) as project:
        sections = collect(project, None).sections
    assert len(sections["lanes-0"]()) * 4 / 3 < 15 * calls
