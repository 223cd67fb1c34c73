"""The page of a student: what it says, and what it must not say."""

import dataclasses
from html.parser import HTMLParser

import pytest
from hostile_texts import quick, texts
from hypothesis import given
from made_grades import (
    RIGHT,
    RUBRIC,
    SEED,
    WRONG,
    WRONG_RECORD,
    grade,
    hostile,
    judged,
    part,
    regraded,
    scored,
    unjudged,
    with_item,
)  # fmt: skip
from markdown_it import MarkdownIt

from attnconf.reports.grades import student
from attnconf.reports.grades.shown import shown


def as_html(*given_):
    return student.html(shown(*given_), "0.1.0")


def as_markdown(*given_):
    return student.markdown(shown(*given_))


BOTH = pytest.mark.parametrize("form", [as_html, as_markdown])


class Page(HTMLParser):
    """The elements, attributes and words of a page."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.attributes, self.words, self.titles = [], [], [], []
        self.feed(page)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        if self.elements[-1:] != ["style"]:
            self.words.append(data)


ELEMENTS = set(Page(as_html(RUBRIC, *hostile("harmless"))).elements)


def text_of(form, *given_):
    """Return the words of a page, without what marks it up."""
    page = form(*given_)
    return Page(page).text if form is as_html else " ".join(page.replace("\\", "").split())


@BOTH
def test_a_page_says_each_item_and_the_root_in_full(form):
    words = text_of(form, RUBRIC, WRONG, WRONG_RECORD)
    for wanted in (
        "2 of 9 points", "3 of 3 public checks did not pass.", "2 of 4", "1 of 2 requirements failed",
        "the scores are not divided by √E", "homework.py:12", "divide them", "An implementation MUST use 1/√E",
        "spec/attention.md#att-scale-1", "rows: output of query i, columns: key j", "ATT-ORACLE-1 (consequences)",
        "attnconf explain ATT-SCALE-1", "attnconf run --impl=homework.py -k ATT-SCALE-1",
        "torch.nn.MultiheadAttention, homework.py:3",
    ):  # fmt: skip
        assert wanted.casefold() in words.casefold()
    assert words.count("ATT-ORACLE-1") == 1


@BOTH
def test_a_page_holds_neither_the_seed_nor_what_is_for_instructors(form):
    words = text_of(form, RUBRIC, WRONG, WRONG_RECORD)
    assert str(SEED) not in words
    assert "it changed its argument" not in words


@BOTH
def test_public_checks_pass_and_nothing_more_is_claimed(form):
    words = text_of(form, RUBRIC, RIGHT, judged("ada"))
    assert "9 of 9 points" in words
    assert "Public checks passed." in words
    assert "all tests" not in words.lower()
    assert "What to mend" not in words


def level(name, **changes):
    """Return rubric and grade of the wrong submission with an item changed."""
    return with_item(RUBRIC, name, **changes), regraded(WRONG, name, **changes)


@BOTH
def test_a_hint_of_a_category_names_the_requirement_alone(form):
    words = text_of(form, *level("Scale", hint="category"), WRONG_RECORD)
    assert "An implementation MUST use 1/√E" in words
    for unwanted in ("not divided", "divide them", "homework.py:12", "peaked-3: q(2, 3) (fails on 1 of 1 cases) error"):
        assert unwanted not in words.split("ATT-MASK-1 on attention")[0]


@BOTH
def test_without_a_hint_only_that_it_failed(form):
    rubric, made = level("Scale", hint="none")
    made = regraded(made, "Scale", reason="the scores are not divided")
    words = text_of(form, rubric, made, WRONG_RECORD)
    assert "not all of it holds" in words
    for unwanted in ("ATT-SCALE-1", "divided", "1/√E", "homework.py:12"):
        assert unwanted not in words


@BOTH
@pytest.mark.parametrize("visibility", ["hidden", "after_due_date", "after_published"])
def test_what_is_not_visible_shows_nowhere(form, visibility):
    rubric, made = level("Scale", visibility=visibility)
    words = text_of(form, rubric, made, WRONG_RECORD)
    assert "2 of 7 visible points" in words
    assert ("2 points: shown later" in words) == (visibility != "hidden")
    for unwanted in ("Scale", "ATT-SCALE-1", "divided", "of 9", "nonconformant"):
        assert unwanted not in words
    assert "ATT-ORACLE-1 on attention" in words  # by its own evidence: no root is named, nor that there is one
    right = regraded(RIGHT, "Scale", visibility=visibility)
    assert "Public checks passed." in text_of(form, rubric, right, judged("ada"))


@BOTH
def test_totals_do_not_tell_what_is_hidden(form):
    rubric = with_item(RUBRIC, "Scale", visibility="hidden")
    pages = set()
    for earned in (0, 2):
        made = regraded(RIGHT, "Scale", visibility="hidden", earned=earned)
        made = dataclasses.replace(
            made, score=7.0 + earned, verdicts=(f"{earned} hold",), for_instructor=(str(earned),)
        )
        pages.add(form(rubric, made, judged("ada")))
    assert len(pages) == 1


@BOTH
def test_an_item_that_waits_for_a_hidden_one_does_not_name_it(form):
    rubric = with_item(with_item(RUBRIC, "Masks", needs=("Scale",)), "Scale", visibility="hidden")
    made = regraded(regraded(WRONG, "Scale", visibility="hidden"), "Masks", status="blocked", reason="it needs Scale")
    words = text_of(form, rubric, made, WRONG_RECORD)
    assert "Scale" not in words
    assert "it depends on what is not shown here" in words


@BOTH
def test_a_root_that_no_item_asks_for_is_told(form):
    rubric = dataclasses.replace(RUBRIC, items=RUBRIC.items[2:])
    made = grade("bob", WRONG.items[2:])
    words = text_of(form, rubric, made, WRONG_RECORD)
    assert "ATT-SCALE-1 on attention" in words
    assert "the scores are not divided by √E" in words


@BOTH
def test_what_could_not_be_judged_says_why_and_no_more(form):
    words = text_of(form, RUBRIC, *unjudged("carl", "timeout", "no reply within 120 s"))
    assert "It took too long: no reply within 120 s" in words
    assert "0 of 9 points" in words
    assert "What to mend" not in words


@BOTH
def test_failures_with_one_reason_are_told_together(form):
    items = [scored(i, [part(r, "unsupported", message="no masks") for r in i.requirements]) for i in RUBRIC.items]
    words = text_of(form, RUBRIC, grade("dan", items), judged("dan"))
    assert words.count("no masks") == 1
    assert "ATT-MASK-1, ATT-ORACLE-1, ATT-GRAD-1 (the same reason)" in words


@BOTH
def test_little_of_what_a_submission_says_is_shown_where_something_is_hidden(form):
    made, kept = hostile("x" * 1500)
    rubric = with_item(RUBRIC, "All of it", visibility="hidden")
    words = text_of(form, rubric, regraded(made, "All of it", visibility="hidden"), kept)
    worst = words.partition("worst at")[2].partition("error")[0]
    assert len(worst) < 350


@given(texts)
@quick
def test_html_is_inert(text):
    page = Page(as_html(RUBRIC, *hostile(text)))
    assert set(page.elements) == ELEMENTS
    assert {name for _, name, _ in page.attributes}.isdisjoint({"href", "src", "onerror", "onload", "srcset"})
    assert not any("\x1b" in word or "\u202e" in word for word in page.words)
    assert page.elements.count("article") == 1


@given(texts)
@quick
def test_markdown_is_inert(text):
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(as_markdown(RUBRIC, *hostile(text)))
    inline = [child.type for token in tokens for child in token.children or ()]
    assert set(inline) <= {"text", "strong_open", "strong_close", "softbreak", "text_special"}
    assert sum(token.type == "fence" for token in tokens) == 1
    headings = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert [h.partition(" (")[0] for h in headings] == [
        "Homework 3: 4 of 9 points", "What to mend", "ATT-SCALE-1 on attention", "Noted", "What to read"
    ]  # fmt: skip
