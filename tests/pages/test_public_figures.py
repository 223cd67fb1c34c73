"""The study of public code says what its committed tables say."""

import re
from collections import Counter

import pytest

from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings
from attnconf.reports import plots
from attnconf.reports.studies import public_figures, public_picture
from attnconf.reports.studies.public_code import truth_of

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


def told(question, *answers, component=""):
    """Return in how many the code shows each of these answers, patterns, the first of how many that could be read."""
    rows = [r for r in public_figures.table("public_conventions.tsv") if r["question"] == question]
    rows = [r for r in rows if component in ("", r["component"])]
    read = sum({r["component"]: int(r["of"]) for r in rows}.values())
    read -= sum(int(r["count"]) for r in rows if r["answer"] == "not read")
    counts = [sum(int(r["count"]) for r in rows if re.fullmatch(a, r["answer"])) for a in answers]
    return (f"{counts[0]} of {read}", *counts[1:])


WRONG = Counter(truth["mistake"] for truth in TRUTHS if truth["truth"] == "wrong")
ARE_WRONG = f"Of the {WRONG.total()} implementations of public code that are wrong,"
CITED = [
    (
        "attention",
        f"{ARE_WRONG} {{}} are scaled by the width of the model",
        [WRONG["scaled by the width of the model"]],
    ),
    (
        "masks",
        f"{ARE_WRONG} {{}} ignore a mask, and {{}} ignores padding",
        [WRONG["a mask ignored"], WRONG["padding ignored"]],
    ),
    (
        "masks",
        "1 or True keeps a key in {}, and hides it in {} (",
        told("1 or True in a mask that is given", "keeps", "hides"),
    ),
    (
        "masks",
        "fills with -∞ in {}, with -10⁹ in {}, and with the lowest number of the dtype in {} (",
        told("the fill", "-inf", "-1e9", "the dtype's lowest"),
    ),
    (
        "mask_making",
        "by tril {} times, and by triu {} times",
        told("causal by", "", "tril.*", "triu.*", component="attention")[1:],
    ),
    (
        "rotary",
        "neighbours in {}, and features that are half of them apart in {} (",
        told("features that turn together", "neighbours.*", "halves"),
    ),
    (
        "sinusoidal",
        "side by side in {} tables, all sines first in {}, and all cosines first in {} (",
        told("sines and cosines", "in turn", "all sines first", "all cosines first"),
    ),
    (
        "encoder",
        "before each sublayer in {}, and behind each sum in {} (",
        told("norms stand", "before each sublayer", "behind each sum"),
    ),
    ("layer_norm", "ε is 10⁻⁶ by default in {}, and 10⁻⁵ in {} (", told("ε by default", "1e-6", "1e-5")),
    (
        "multi_head_attention",
        "three matrices for queries, keys and values in {}, and one for all of them in {};",
        told("matrices", "three", "one for queries, keys and values"),
    ),
    (
        "multi_head_attention",
        "these have biases in {}, none in {}, and as an option in {} (",
        told("biases of queries, keys and values", "yes", "no", "an option.*"),
    ),
    ("feed_forward", "have biases in {}, and none in {} (", told("biases of the network", "yes", "no")),
]


@pytest.mark.parametrize(("page", "words", "counts"), CITED)
def test_the_specification_cites_the_counts(page, words, counts):
    assert words.format(*counts) in (public_figures.HERE.parents[1] / f"spec/{page}.md").read_text(encoding="utf-8")


MEANT = {
    "constructors call it: the width": {"embed"},
    "constructors call it: heads": {"heads"},
    "constructors call it: the width of a head": {"head_dim"},
    "constructors call it: the hidden width": {"hidden"},
    "constructors call it: dropout": {"dropout"},
    "constructors call it: layers": {"layers"},
    "constructors call it: the vocabulary": {"vocab"},
    "constructors call it: the longest length": {"max_len"},
    "constructors call it: ε": {"eps"},
    "calls call it: the input": {"x", "query"},
    "calls call it: queries": {"query"},
    "calls call it: keys": {"key"},
    "calls call it: values": {"value"},
    "calls call it: a mask": {"mask"},
}
NO_VECTORS = {"idx", "input_ids", "token_ids", "img"}  # ids are found by what looks them up; pictures are not judged


def test_names_that_four_have_are_known_to_what_binds_files():
    counts = Counter()
    for row in public_figures.table("public_conventions.tsv"):
        if row["question"] in MEANT and row["answer"] not in ("not read", "others"):
            counts[row["question"], row["answer"]] += int(row["count"])
    often = [pair for pair, n in counts.items() if n >= 4]
    assert len(often) > 60
    unknown = [
        name for question, name in often
        if not MEANT[question] & set(meanings(name, INPUTS if question.startswith("calls") else SIZES))
    ]  # fmt: skip
    assert set(unknown) == NO_VECTORS


@pytest.mark.skipif(not plots.available(), reason="matplotlib is an extra")
def test_the_picture_is_that_of_the_table():
    assert (public_figures.HERE / "public_code.svg").read_text(encoding="utf-8") == public_picture.picture()


def test_the_readme_cites_the_main_finding():
    readme = (public_figures.HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert public_figures.in_a_line() in readme
    assert f"<!-- answer -->\n{public_figures.answer()}\n<!-- end of answer -->" in PAGE
    assert f"* {public_figures.in_a_line()}" in public_figures.answer()


def test_every_implementation_was_judged_once():
    drawn = public_figures.table("public_sources.tsv")
    assert len(ROWS) == len(drawn) == len({row["number"] for row in ROWS})
    for column in ("component", "part"):
        assert sorted(row[column] for row in ROWS) == sorted(row[column] for row in drawn)


def test_the_sums_are_those_of_the_table():
    truths, drawn = {t["number"]: t for t in TRUTHS}, public_figures.table("public_sources.tsv")
    sums = public_figures.table("public_sums.tsv")
    for column in ("kind", "frame"):
        here, of_rows, of_drawn = Counter(), Counter(), Counter()
        for row in (row for row in sums if row["column"] == column):
            here[row["part"], row["verdict"], row["truth"]] += int(row["count"])
            of_drawn[row["part"], row["value"]] += int(row["count"])
        of_rows.update((row["part"], row["verdict"], truth_of(row, truths)) for row in ROWS)
        assert here == of_rows
        assert of_drawn == Counter((row["part"], row[column]) for row in drawn)


def test_no_line_can_be_told_by_what_is_known_of_its_source():
    """Lines and sources have two columns in common, by which no fewer than ten are alike."""
    drawn = public_figures.table("public_sources.tsv")
    common = ROWS[0].keys() & drawn[0].keys() - {"number"}
    assert common == {"component", "part"}
    assert min(Counter((row["component"], row["part"]) for row in drawn).values()) >= 10


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
