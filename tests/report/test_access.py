"""Whether people can use the page who see little, or use no mouse, or read it on paper."""

import pytest

PARTS = ["summary", "timeline", "where", "iterations", "communication", "files", "checks", "objects"]

# Of each text that is seen the contrast to what is behind it, as WCAG 2 computes it, if it is too small: 4.5, or 3 for large letters.
PALE = """(() => {
    const channels = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(one => one / 255).map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = one => { for (; one; one = one.parentElement) { const colour = channels(getComputedStyle(one).backgroundColor); if (colour.length === 3 || colour[3] === 1) return colour; } return [255, 255, 255]; };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement;
        if (!node.data.trim() || !parent.getClientRects().length || parent.closest('svg, script, option')) continue;
        const style = getComputedStyle(parent);
        const [text, paper] = [light(channels(style.color)), light(behind(parent))];
        const contrast = (Math.max(text, paper) + 0.05) / (Math.min(text, paper) + 0.05);
        if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) found.push([node.data.trim(), contrast]);
    }
    return found;
})()"""


@pytest.mark.parametrize("is_dark", [False, True])
def test_all_texts_can_be_read(page, is_dark):
    page.resize(1280, 800, is_dark)
    for part in PARTS:
        page.ask(f"location.hash = '#{part}'")
        page.frames()
        assert page.ask(PALE) == [], part
    page.resize(1280, 800)


def test_each_figure_says_what_it_is(page):
    for part in PARTS:
        page.ask(f"location.hash = '#{part}'")
        page.frames()
        unexplained = page.ask(f"""[...document.querySelectorAll('#panel-{part} canvas, #panel-{part} svg, #panel-{part} .flame, #panel-{part} .strip')]
            .filter(one => one.getClientRects().length && !(one.closest('section') ?? document.getElementById('panel-{part}')).querySelector('.what')).map(one => one.className)""")
        assert unexplained == [], part


def test_each_figure_has_a_name_for_who_does_not_see_it(page):
    for part in PARTS:
        page.ask(f"location.hash = '#{part}'")
        page.frames()
        assert page.ask(f"""[...document.querySelectorAll('#panel-{part} canvas:not([aria-hidden]), #panel-{part} svg, #panel-{part} input, #panel-{part} select')]
            .filter(one => !one.getAttribute('aria-label') && !one.labels?.length).map(one => one.outerHTML)""") == [], part


def test_everything_is_reached_with_tab(page):
    """From the top of the page: each part, and in the timeline all that can be used."""
    page.ask("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        page.press("Tab")
        reached.add(page.ask("document.activeElement.getAttribute('href') ?? document.activeElement.className ?? ''"))
        reached.add(page.ask("document.activeElement.tagName + ' ' + (document.activeElement.type ?? '')"))
    assert {f"#{part}" for part in PARTS} <= reached
    assert {"lanes", "INPUT search", "BUTTON submit", "INPUT checkbox", "SUMMARY "} <= reached


def test_a_part_is_opened_and_sorted_with_keys(page):
    page.ask("document.querySelector('nav a[href=\"#where\"]').focus()")
    page.press("Enter")
    page.wait_for("!document.getElementById('panel-where').hidden")
    page.ask("[...document.querySelectorAll('#panel-where thead button')].find(one => one.textContent === 'calls').focus()")
    page.press("Enter")
    assert page.ask("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"


def test_tabs_say_which_one_is_shown(page):
    page.ask("location.hash = '#checks'")
    page.frames()
    assert page.ask("[...document.querySelectorAll('nav a[aria-current]')].map(one => one.hash)") == ["#checks"]


def test_paper_has_no_buttons_and_no_scroll_bars(page):
    page.ask("location.hash = '#where'")
    page.frames()
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.ask("[...document.querySelectorAll('nav, .controls, .what, input')].every(one => !one.getClientRects().length)")
    assert page.ask("[...document.querySelectorAll('#panel-where .scroll')].every(one => getComputedStyle(one).maxHeight === 'none')")
    page.resize(1280, 800)
    page.send("Emulation.setEmulatedMedia", media="")


def test_names_of_functions_stay_whole_on_paper(page):
    """A4 upright without its margins."""
    page.ask("location.hash = '#where'")
    page.frames()
    page.resize(718, 1000)
    page.send("Emulation.setEmulatedMedia", media="print")
    page.frames()
    lines = page.ask("""[...document.querySelectorAll('#panel-where .table tbody tr')].map(row => row.cells[0]).filter(one => one.textContent.startsWith('MPI_')).map(one => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return [one.textContent, new Set([...range.getClientRects()].map(part => part.top)).size];
    })""")
    assert lines and all(count == 1 for _, count in lines), lines
    page.resize(1280, 800)
    page.send("Emulation.setEmulatedMedia", media="")
