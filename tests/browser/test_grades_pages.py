"""The pages of `attnconf grade` in a real browser: of a student, and of the class."""

import pytest
from hostile_texts import TEXTS
from made_grades import RIGHT, RUBRIC, WRONG, WRONG_RECORD, batch, hostile, judged, regraded

from attnconf.reports.grades.writing import write_all

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">" + "x" * 300 + TEXTS[1]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a folder with the pages of a class."""
    folder = tmp_path_factory.mktemp("grades")
    made, kept = hostile(HOSTILE)
    grades = [RIGHT, WRONG, regraded(made, "All of it", visibility="after_due_date")]
    write_all(folder, batch(), RUBRIC, grades, [judged("ada"), WRONG_RECORD, kept], ["ada", "bob", "evil"])
    return folder


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", ["students/ada", "students/bob", "students/evil", "summary"])
def test_a_page_of_grades(opened, pages, name, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(pages / f"{name}.html", width, scheme)
    assert page.title().startswith("Homework 3")
    assert page.locator("img, script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(f["id"], f["nodes"][0]["html"]) for f in found if f["impact"] in ("serious", "critical")] == []


def test_from_the_class_to_a_student(opened, pages):
    page = opened(pages / "summary.html")
    page.click('#all a:has-text("bob")')
    page.wait_for_url("**/students/bob.html")
    assert "the scores are not divided by √E" in page.locator("article").first.inner_text()
    assert page.locator("article svg rect").count() == 4
