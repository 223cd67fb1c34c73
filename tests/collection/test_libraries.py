"""Classes of libraries by their names: each run judges a sample, in full a half, and gets what the report says."""

import drawn
import pytest
from judged_libraries import REPORT, as_expected, committed, is_there, judge, judged_here, listed, page, sample


def pytest_generate_tests(metafunc):
    if "judged" in metafunc.fixturenames:
        every = [one for one in listed() if is_there(one.library) and one.label in committed()]
        half = [one for one in every if drawn.today(one.label, drawn.EVERY_IN_FULL)]
        chosen = half if metafunc.config.getoption("--in-full") else sample(every)
        metafunc.parametrize("judged", chosen, ids=[one.label for one in chosen])


def test_what_comes_out_is_what_the_report_has(judged, pytestconfig):
    came = judge(judged) if pytestconfig.getoption("--in-full") else judged_here(judged)
    assert came.came_out == committed()[judged.label].came_out, (
        f"run python tests/collection/judged_libraries.py {judged.label}"
    )


def test_the_report_is_made_of_its_rows():
    assert REPORT.read_text(encoding="utf-8") == page(committed())


@pytest.mark.parametrize("one", [one for one in listed() if one.verdict != "conformant"], ids=lambda one: one.label)
def test_another_verdict_has_a_reason(one):
    assert one.why


def test_most_classes_are_judged_as_what_they_are():
    rows = committed()
    there = [one for one in listed() if one.label in rows]
    assert sum(as_expected(one, rows[one.label]) for one in there) >= 0.6 * len(there)
