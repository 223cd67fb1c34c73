"""The study of public code says what its committed tables say."""

import re
from collections import Counter

import pytest

from attnconf.reports import plots
from attnconf.reports.studies import public_figures

PAGE = public_figures.PAGE.read_text(encoding="utf-8")
ROWS = public_figures.table("public_code.tsv")
TRUTHS = public_figures.table("public_truth.tsv")


def test_the_page_has_the_figures_of_the_tables():
    """Who changes a table writes them anew: `python reports/studies/public_figures.py`."""
    assert f"<!-- figures -->\n{public_figures.text()}\n<!-- end of figures -->" in PAGE


def test_the_page_has_the_conventions_of_the_table():
    assert f"<!-- conventions -->\n{public_figures.conventions()}\n<!-- end of conventions -->" in PAGE


def test_conventions_are_asked_of_what_was_drawn():
    """Of no component more than there is of it, and never more answers of one kind than were asked."""
    drawn = Counter(row["component"] for row in public_figures.table("public_sources.tsv"))
    rows = public_figures.table("public_conventions.tsv")
    assert len({(row["component"], row["question"], row["answer"]) for row in rows}) == len(rows)
    for row in rows:
        assert 0 < int(row["count"]) <= int(row["of"]) <= drawn[row["component"]]


@pytest.mark.skipif(not plots.available(), reason="matplotlib is an extra")
def test_the_picture_is_that_of_the_table():
    assert (public_figures.HERE / "public_code.svg").read_text(encoding="utf-8") == public_figures.picture()


def test_the_readme_cites_the_main_finding():
    readme = (public_figures.HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert public_figures.in_a_line() in readme


def test_every_implementation_was_judged_once():
    drawn = public_figures.table("public_sources.tsv")
    assert len(ROWS) == len(drawn) == len({row["number"] for row in ROWS})
    for column in ("component", "kind", "frame", "part"):
        assert sorted(row[column] for row in ROWS) == sorted(row[column] for row in drawn)


def test_whatever_is_judged_and_not_conformant_was_looked_at():
    looked_at = {truth["number"] for truth in TRUTHS}
    open_ = {row["number"] for row in ROWS if row["verdict"] not in ("conformant", "not-gradable")}
    assert open_ <= looked_at
    assert all(truth["mistake"] for truth in TRUTHS if truth["truth"] == "wrong")
    assert {truth["truth"] for truth in TRUTHS} <= {"right", "wrong", "edge", "other", "unclear"}


def test_the_tables_say_nothing_of_whose_code_it_is():
    names = ("public_code.tsv", "public_truth.tsv", "public_conventions.tsv")
    text = "".join((public_figures.HERE / name).read_text(encoding="utf-8") for name in names)
    sources = public_figures.table("public_sources.tsv")
    for repository in {row["repository"] for row in sources}:
        assert repository not in text
    assert not re.search(r"\.(py|ipynb)\b", text)
