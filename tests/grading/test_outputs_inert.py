"""Texts of submissions in Markdown, in cells and in XML."""

import csv
import io
import math
from xml.etree import ElementTree as Tree

import pytest
from hostile_texts import TEXTS, quick, texts
from hypothesis import example, given
from markdown_it import MarkdownIt

from attnconf.reports.grades.inert import cell, cut, fenced, line, markdown, number, plain, points

FORGE = MarkdownIt("gfm-like", {"linkify": False, "html": True})


def rendered(text):
    """Return the elements of Markdown, and the text in them."""
    page = Tree.fromstring(f"<page>{FORGE.render(text)}</page>")
    return [element.tag for element in page.iter()][1:], "".join(page.itertext()).strip()


@given(texts)
@quick
@example("1. taken")
@example("12) taken")
@example("3.75")
@example("+ a")
def test_markdown_shows_a_text_as_it_is(text):
    elements, shown = rendered(markdown(text))
    assert elements == (["p"] if line(text) else [])
    assert shown == line(text)


@given(texts)
@quick
def test_a_fence_holds_whatever_is_in_it(text):
    block = fenced([text, "```", "end"])
    (token,) = FORGE.parse("\n".join(block))
    assert token.type == "fence"
    assert token.content == f"{plain(text)}\n```\nend\n"


@given(texts)
@quick
def test_plain_text_is_xml_and_utf_8(text):
    assert Tree.fromstring(f"<a>{plain(text).translate({38: '', 60: '', 62: ''})}</a>") is not None
    plain(text).encode("utf-8")


@given(texts)
@quick
def test_a_cell_is_no_formula_and_no_number(text):
    page = io.StringIO()
    csv.writer(page, quoting=csv.QUOTE_NONNUMERIC).writerow([cell(text), 1])
    ((read, _),) = csv.reader(io.StringIO(page.getvalue()))
    assert read == cell(text)
    assert not read.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
    assert "\n" not in read
    assert read.lower() not in ("nan", "inf", "infinity")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("=1+1", "'=1+1"),
        ("\t=1", "'=1"),
        ("-rf", "'-rf"),
        ("NaN", "'NaN"),
        ("ada", "ada"),
        ("00123", "00123"),
        ("", ""),
    ],
)
def test_what_stands_in_a_cell(text, want):
    assert cell(text) == want


@pytest.mark.parametrize("text", ["\x1b[31m", "\u202e", "\U000e0041", "\ud800", "\x00"])
def test_what_is_unseen_is_named(text):
    assert text[0] not in plain(text)
    assert plain(text).startswith(("[ESC]", "[U+"))


@pytest.mark.parametrize(
    ("earned", "want", "words"),
    [(2.0, 2, "2"), (1 / 3, 0.33333, "0.33"), (math.nan, 0, "0"), (math.inf, 0, "0"), (0.1 + 0.2, 0.3, "0.3")],
)
def test_points_are_finite_and_rounded(earned, want, words):
    assert number(earned) == want
    assert type(number(earned)) is type(want)
    assert points(earned) == words


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_cut_says_so(text):
    assert len(cut(text, 100)) <= 100
    assert ("shortened" in cut(text, 100)) == (len(text) > 100)
