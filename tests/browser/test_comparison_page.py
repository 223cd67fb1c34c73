"""The page of `attnconf report -o report.html` in a real browser, as a person uses it."""

import json
import re
from pathlib import Path

import pytest
from made_records import LEAKS, RIGHT, WRONG, many, record, result

from attnconf import cli
from attnconf.reports.comparison.page import ON_PAPER

GALLERY = Path(__file__).parents[2] / "reports/gallery/cpu.html"
PAINTED = """() => new Promise((told) => new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName('first-contentful-paint')) told(entry.startTime);
}).observe({type: 'paint', buffered: true}))"""
HOSTILE = "<script>document.title='taken'</script>"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Return a function that writes a report on records, once."""
    folder = tmp_path_factory.mktemp("reports")

    def made(name, *records):
        path = folder / f"{name}.html"
        if not path.exists():
            files = [folder / f"{name}-{n}.json" for n in range(len(records))]
            for file, content in zip(files, records, strict=True):
                file.write_text(json.dumps(content), encoding="utf-8")
            assert cli.main(["report", *map(str, files), "-o", str(path)]) == 0
        return path

    return made


@pytest.fixture(scope="session")
def two(made):
    return made("two", WRONG, RIGHT)


def first_paint(page):
    """Return when something was on the screen first, in milliseconds after the page was asked for."""
    return page.evaluate(PAINTED)  # wait_for_function would need eval, which the page forbids


def texts(locator):
    return [text.strip() for text in locator.all_inner_texts()]


def shown_names(page):
    return texts(page.locator("#overview tbody tr:visible bdi"))


def test_the_first_screen_says_who_conforms(opened, two):
    page = opened(two)
    rows = page.locator("#overview tbody tr")
    assert shown_names(page) == ["wrong", "right"]
    assert "nonconformant" in rows.nth(0).inner_text()
    assert "precise" in page.locator("#overview thead").inner_text()
    assert rows.nth(0).bounding_box()["y"] < 700
    assert texts(page.locator(".chips button")) == ["1 conformant", "1 nonconformant"]


def test_implementations_are_found_filtered_and_sorted(opened, two):
    page = opened(two)
    page.fill("#find-implementation", "RIGHT")
    assert shown_names(page) == ["right"]
    assert page.locator("#matrix thead th:visible").count() == 2  # the column of the other one is gone as well
    page.fill("#find-implementation", "")
    page.click(".chips button.conformant")
    assert shown_names(page) == ["wrong"]
    page.click(".chips button.conformant")
    page.click("#overview th button:text('implementation')")
    assert shown_names(page) == ["right", "wrong"]
    assert page.locator("#overview th[aria-sort=ascending]").inner_text() == "implementation ▲".removesuffix(" ▲")
    page.click("#overview th button:text('implementation')")
    assert shown_names(page) == ["wrong", "right"]


def test_a_section_opens_to_its_requirements_and_closes(opened, two):
    page = opened(two)
    assert page.locator("#matrix tr.r").count() == 0
    page.click("#matrix tr.s button")
    ids = texts(page.locator("#matrix tr.r b"))
    assert {"ATT-SCALE-1", "ATT-ORACLE-1", "ATT-GRAD-1"} <= set(ids)
    row = page.locator("#matrix tr.r", has_text="ATT-SCALE-1 MUST")
    assert texts(row.locator("td")) == ["✗", "✓"]
    assert texts(page.locator("#matrix tr.r", has_text="ATT-ROWS-1").locator("td")) == ["•", ""]
    page.click("#matrix tr.s button")
    assert page.locator("#matrix tr.r:visible").count() == 0


def test_requirements_are_found_and_filtered(opened, made):
    page = opened(made("some", many(4, 30)))
    page.fill("#find-requirement", "number 17")
    assert texts(page.locator("#matrix tr.r:visible b")) == ["ATT-MADE-17"]  # what is found is opened
    assert page.locator("#rows").inner_text() == "1 of 30 requirements"
    page.fill("#find-requirement", "nothing of the kind")
    assert page.locator("#matrix tbody:visible").count() == 0
    page.fill("#find-requirement", "")
    page.select_option("#which", "failing")
    assert page.locator("#rows").inner_text() == "12 of 30 requirements"  # 4 implementations, each another tenth
    page.select_option("#order", "name")
    page.select_option("#order", "fails")
    assert sorted(texts(page.locator("#matrix thead th span"))) == [f"impl-{i}" for i in range(4)]


def test_the_columns_keep_their_cells_when_they_are_sorted(opened, two):
    page = opened(two)
    page.click("#matrix tr.s button")
    page.select_option("#order", "name")
    assert texts(page.locator("#matrix thead th span")) == ["right", "wrong"]
    assert texts(page.locator("#matrix tr.r", has_text="ATT-SCALE-1 MUST").locator("td")) == ["✓", "✗"]
    page.locator("#matrix tr.r", has_text="ATT-SCALE-1 MUST").locator("td").nth(1).click()
    assert page.locator("#dialog-title").inner_text() == "ATT-SCALE-1: wrong"
    page.keyboard.press("Escape")
    page.fill("#find-implementation", "right")
    assert texts(page.locator("#matrix thead th:visible")) == ["section", "right"]


def test_a_cell_leads_to_the_failure_with_all_that_is_known(opened, made):
    leaking = record("leaking", [result("leaking", "ATT-SCALE-1", "fail", leaks=LEAKS)])
    page = opened(made("leaking", leaking))
    page.locator("#matrix tr.s td").first.click()
    page.locator("#matrix tr.r td").first.click()
    dialog = page.locator("dialog")
    said = dialog.inner_text()
    for part in ("ATT-SCALE-1: leaking", "It MUST hold ATT-SCALE-1.", "out[0]: got 1, want 2", "semantic gap",
                 "rows: output of query i", "of the scores over", "E is the width of one head"):  # fmt: skip
        assert part in said, part
    assert texts(dialog.locator("mark")) == ["X"]
    assert page.evaluate("location.hash") == "#ATT-SCALE-1/leaking"
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_addresses_lead_to_a_cell_and_to_the_failures_of_one(opened, two):
    page = opened(two)
    page.evaluate("location.hash = '#ATT-SCALE-1/wrong'")
    page.wait_for_selector("dialog[open]")
    assert "the scores are not divided by √E" in page.locator("dialog").inner_text()
    page.click("#dialog-close")
    page.click("#overview tbody a")
    page.wait_for_selector("#of-0[open]")
    assert page.locator("#f1").is_visible()


def test_every_link_inside_leads_somewhere(opened, two):
    page = opened(two)
    assert page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.querySelector(a.hash)).length"
    ) == 0  # fmt: skip


def test_the_keyboard_is_enough(opened, two):
    page = opened(two)
    page.focus("#matrix tr.s button")
    page.keyboard.press("Enter")
    assert page.locator("#matrix tr.r").count() > 0
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "ATT-SCALE-1, wrong: fails"
    page.keyboard.press("Enter")
    assert page.locator("dialog").is_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == focused
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "ATT-SCALE-1, right: passes"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_has_no_serious_findings(opened, made, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(made("some", many(4, 30)), width, scheme)
    page.locator("#matrix tr.s td").first.click()
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    found = Axe().run(page).response["violations"]
    page.locator("#matrix tr.r td.f").first.click()
    found += Axe().run(page).response["violations"]
    assert [(f["id"], f["nodes"][0]["html"]) for f in found if f["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(opened, made, width):
    page = opened(made("some", many(4, 30)), width)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_a_file_says_stays_text(opened, made):
    name = f"h{HOSTILE}\u202egnp.py"
    hostile = record(name, [result(name, "ATT-SCALE-1", "fail", message=f"{HOSTILE}\x1b[31m\u202e{'x' * 9000}")])
    hostile["results"][0]["cases"][0]["message"] = f"{HOSTILE}\x1b[31m</script><b>bold</b>"
    page = opened(made("hostile", hostile), 390)
    page.locator("#matrix tr.s td").first.click()
    page.locator("#matrix tr.r td").first.click()
    assert page.title() == "Attention conformance: 1 implementation"
    said = page.locator("body").inner_text()
    assert "[ESC][31m" in said
    assert "[U+202E right-to-left override]" in said
    assert "\u202e" not in page.content()
    assert re.search(r"x{1500,2000} … \(\d+ more characters in the results file\)", said)
    assert page.locator("dialog b", has_text="bold").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_run_that_was_cut_short_is_incomplete_everywhere(opened, made):
    page = opened(made("cut", RIGHT | {"complete": False, "planned": 9}))
    assert (
        "INCOMPLETE: cut-0.json is from a run that was cut short. 2 of 9" in page.locator("header").first.inner_text()
    )
    assert texts(page.locator("#overview .verdict")) == ["incomplete", "run cut short"]


def test_without_scripts_the_page_can_be_read(opened, two):
    page = opened(two, java_script_enabled=False)
    assert shown_names(page) == ["wrong", "right"]
    assert page.locator("#matrix tr.s td").count() == 2
    assert not page.locator("#find-implementation").is_visible()
    page.locator("#of-0 summary").click()
    assert "the scores are not divided by √E" in page.locator("#of-0").inner_text()


def test_a_large_report_is_on_the_screen_at_once(opened, made):
    path = made("large", many(30, 700))
    assert path.stat().st_size < 2_000_000
    page = opened(path)
    assert first_paint(page) < 3000  # milliseconds, beside other work; alone it is a fraction of a second
    assert page.locator("#overview tbody tr").count() == 30


def test_the_gallery_is_on_the_screen_within_a_second(opened):
    assert (
        min(first_paint(opened(GALLERY)) for _ in range(3)) < 1000
    )  # milliseconds; the best of three, as other work may hold one up


PAPER = 700  # pixels of CSS between the margins of A4, upright
CUT = """[...document.querySelectorAll('table, article, dl, pre')].filter((e) =>
    e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1
).map((e) => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("implementations", [None, 4, 60])
def test_nothing_is_cut_on_paper(opened, made, implementations):
    page = opened(made(f"paper-{implementations}", many(implementations, 30)) if implementations else GALLERY, PAPER)
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
    columns = page.locator("#matrix thead th")
    crowded = columns.count() - 1 > ON_PAPER
    assert page.locator("#matrix").is_visible() == (not crowded)
    assert page.get_by_text("is too wide for paper").count() == crowded
    if crowded:
        return
    last = columns.nth(columns.count() - 1).bounding_box()
    assert last["width"] > 0
    assert last["x"] + last["width"] <= PAPER
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER


def test_the_gallery_can_be_printed(opened):
    pages = re.findall(rb"/Type\s*/Page\b", opened(GALLERY).pdf(format="A4"))
    assert 10 < len(pages) < 100


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_a_difference(opened, tmp_path, width):
    from axe_playwright_python.sync_playwright import Axe

    better = json.loads(json.dumps(WRONG).replace('"wrong"', '"right"'))
    for name, content in (("a", RIGHT), ("b", better)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert cli.main(["diff", *files, "-o", str(tmp_path / "d.html")]) == 1
    page = opened(tmp_path / "d.html", width)
    page.click("#worse summary")
    assert "the scores are not divided by √E" in page.locator("#worse article").inner_text()
    found = Axe().run(page).response["violations"]
    assert [(f["id"], f["nodes"][0]["html"]) for f in found if f["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
