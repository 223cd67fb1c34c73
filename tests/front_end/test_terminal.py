"""What a run prints: failures by cause, what holds by section, verdicts; its width."""

import copy

import pytest
from made_records import DEVIATION, MISTAKE, RIGHT, WRONG, record, result

from attnconf.reports.failures import blocks
from attnconf.reports.terminal import header, page

LEAK = {
    "what": "causal", "rows": ["query 0", "query 1"], "columns": ["token 0", "token 1"], "cells": ["oX", "oo"],
}  # fmt: skip


def heads(content):
    return [lines[0] for lines in blocks(content)]


def test_failures_of_one_likely_mistake_are_one_block():
    content = record(
        "x",
        [
            result("x", "ATT-A-1", "fail", diagnosis=[MISTAKE], strength="SHOULD"),
            result("x", "ATT-B-1", "fail", diagnosis=[MISTAKE]),
            result("x", "ATT-C-1", "fail", diagnosis=[MISTAKE]),
            result("x", "ATT-D-1", "fail", follows_from=["ATT-B-1"]),
            result("x", "ATT-E-1", "fail", follows_from=["ATT-C-1"]),
        ],
    )
    (lines,) = blocks(content)
    assert lines[0] == "ATT-B-1 violated by x (attention)"  # a MUST comes first
    assert "  also      ATT-C-1, ATT-A-1 (the same mistake)" in lines
    assert "  breaks    ATT-D-1, ATT-E-1 (consequences)" in lines
    assert sum("rerun" in line for line in lines) == 1


def labels(lines):
    return [line[2:11].strip() for line in lines[1:] if line[2:11].strip()]


def test_the_mistake_its_place_and_its_mending_come_before_the_rule_and_the_evidence():
    (lines,) = blocks(record("x", [result("x", "ATT-B-1", "fail", diagnosis=[MISTAKE])]))
    assert lines[1:5] == [
        "  likely    the scores are not divided by √E  (reproduces your output on 1 of 1 cases)",
        "  where     homework.py:12  scores = q @ k.mT",
        "  fix       divide them",
        "  rule      It MUST hold ATT-B-1.",
    ]
    assert labels(lines) == ["likely", "where", "fix", "rule", "case", "error", "spec", "rerun"]


def test_where_no_mistake_is_known_the_rule_is_followed_by_what_to_try_and_where():
    look = {"hint": "hidden keys still get weight", "where": "somewhere in forward(), homework.py:14–26"}
    (lines,) = blocks(record("x", [result("x", "ATT-B-1", "fail", advice=look)]))
    assert lines[1:4] == [
        "  rule      It MUST hold ATT-B-1.",
        "  try       hidden keys still get weight",
        "  where     somewhere in forward(), homework.py:14–26",
    ]


def test_a_second_mistake_that_shows_in_a_consequence_alone_is_named_beside_it():
    second = MISTAKE | {"mutants": ["MASK-fill-1e9"], "story": "-1e9 is finite", "hint": "use -inf", "where": None}
    follows = result("x", "MASK-EMPTY-1", "fail", follows_from=["ATT-B-1"], diagnosis=[second, MISTAKE])
    (lines,) = blocks(record("x", [result("x", "ATT-B-1", "fail", diagnosis=[MISTAKE]), follows]))
    assert not any(line.startswith("  and ") for line in lines)
    at = lines.index("  besides   MASK-EMPTY-1 shows another mistake, too: -1e9 is finite")
    assert lines[at + 1] == "  fix       use -inf"


def test_what_follows_is_cut_and_whole_where_all_is_asked_for():
    follow = [result("x", f"ATT-C-{n}", "fail", follows_from=["ATT-B-1"]) for n in range(20)]
    content = record("x", [result("x", "ATT-B-1", "fail"), *follow])
    text = "\n".join(blocks(content)[0])
    assert "ATT-C-5 and 14 more (consequences)" in text
    assert "ATT-C-19" not in text
    assert "ATT-C-19" in "\n".join(blocks(content, verbose=True)[0])


def test_failures_without_a_name_or_with_different_ones_are_apart():
    other = MISTAKE | {"mutants": ["ATT-sigmoid"]}
    content = record(
        "x",
        [
            result("x", "ATT-A-1", "fail"),
            result("x", "ATT-B-1", "fail"),
            result("x", "ATT-C-1", "fail", diagnosis=[MISTAKE]),
            result("x", "ATT-D-1", "fail", diagnosis=[other]),
            result("x", "ATT-E-1", "fail", diagnosis=[MISTAKE, other]),
            result("x", "ATT-F-1", "fail", diagnosis=[MISTAKE], component="rotary"),
            result("x", "ATT-G-1", "fail", diagnosis=[MISTAKE], deviation=DEVIATION),
        ],
    )
    assert len(heads(content)) == 7
    assert not any("the same mistake" in line for line in page(content))


def test_a_rerun_is_of_the_profile_that_was_asked_for():
    content = {**WRONG, "suite": {**WRONG["suite"], "profile": "full"}}
    assert any("attnconf run --impl=wrong --profile=full -k " in line for line in page(content))
    assert not any("--profile" in line for line in page(WRONG))


def test_a_rerun_of_what_a_call_costs_asks_for_that():
    costs = [{**result, "spec": "spec/throughput.md#perf-ops-1"} for result in WRONG["results"]]
    assert any(
        "attnconf run --impl=wrong --profile=throughput -k " in line for line in page({**WRONG, "results": costs})
    )


def test_a_rerun_is_held_to_what_was_prescribed():
    content = {**WRONG, "suite": {**WRONG["suite"], "prescribed": {"mask": "true-keeps"}}}
    assert any("attnconf run --impl=wrong --convention=mask=true-keeps -k " in line for line in page(content))
    assert not blocks(RIGHT)


def test_a_map_of_one_sequence_says_what_its_diagonal_means():
    words = "the diagonal says nothing of a mask"
    of_self = result("x", "MASK-CAUSAL-1", "fail", leaks=LEAK)
    across = result("x", "MASK-CAUSAL-1", "fail", leaks={**LEAK, "columns": ["key 0", "key 1"]})
    assert any(words in line for line in page(record("x", [of_self])))
    assert not any(words in line for line in page(record("x", [across])))


def sectioned(chapter, topic, *outcomes, **changes):
    return [
        result("x", f"{chapter}-{topic}-{n}".upper(), outcome, topic=topic, spec=f"spec/{chapter}.md#{n}", **changes)
        for n, outcome in enumerate(outcomes)
    ]


def test_a_line_for_each_section_in_which_something_was_judged():
    content = record(
        "x",
        [
            *sectioned("masks", "Whose", "pass", "pass", "fail"),
            *sectioned("masks", "Empty", "not-applicable"),
            *sectioned("masks", "Bias", "fail", follows_from=["MASKS-WHOSE-2"]),
            *sectioned("attention", "Half", "pass", "fail", strength="SHOULD"),
        ],
    )
    lines = page(content)
    at = next(n for n, line in enumerate(lines) if line.startswith("masks"))
    assert lines[at - 1 : at + 4] == [
        "",
        "masks      Whose    2 passed  1 failed",
        "           Bias     0 passed  1 follows",
        "attention  Half     1 passed  1 could be better",
        "",
    ]
    assert not any(line.startswith("requirement") for line in lines)


def test_of_many_chapters_one_that_holds_is_one_line():
    pages = ("attention", "masks", "rotary", "encoder")
    results = [r for name in pages for topic in "AB" for r in sectioned(name, topic, "pass")]
    lines = page(record("x", [*results, *sectioned("encoder", "A", "fail")]))
    assert [line for line in lines if "passed" in line] == [
        "attention  all 2 sections    2 passed",
        "masks      all 2 sections    2 passed",
        "rotary     all 2 sections    2 passed",
        "encoder    A                 1 passed  1 failed",
        "           B                 1 passed",
    ]


def both():
    two = copy.deepcopy(WRONG)
    for key in ("implementations", "results", "verdicts"):
        two[key] += RIGHT[key]
    return two


def test_the_table_is_for_several_implementations_or_where_all_is_asked_for():
    rows = [line.split() for line in page(both()) if line.startswith("ATT-SCALE-1  ")]
    assert rows == [["ATT-SCALE-1", "MUST", "FAIL", "pass"]]
    assert [line.split() for line in page(WRONG, verbose=True) if line.startswith("ATT-PREC-2  ")] == [
        ["ATT-PREC-2", "SHOULD", "not", "met"]
    ]
    assert not any(line.startswith("ATT-SCALE-1  ") for line in page(WRONG))


def test_the_legend_explains_each_word_of_the_table_and_no_other():
    wide = 300
    legend = next(line for line in page(both(), wide) if line.startswith("FAIL: "))
    assert "not met: " in legend
    assert "does not apply" not in legend
    holds = record("x", [*sectioned("masks", "Whose", "pass"), *sectioned("masks", "Empty", "not-applicable")])
    assert any(line.startswith("-: does not apply") for line in page(holds, wide, verbose=True))
    passes = record("x", sectioned("masks", "Whose", "pass"))
    assert not any("does not apply" in line for line in page(passes, wide, verbose=True))


def test_recommendations_are_optional_and_come_after_the_verdicts():
    lines = page(both())
    verdict = next(n for n, line in enumerate(lines) if "NONCONFORMANT" in line)
    optional = next(n for n, line in enumerate(lines) if line.startswith("could be better:"))
    assert optional > verdict
    assert lines[optional + 1] == "  ATT-PREC-2 not followed by wrong (attention)"
    assert not any("ATT-PREC-2 not followed" in line for line in lines[:verdict])


def test_where_little_is_wanted_there_are_verdicts_and_the_mending_alone():
    lines = page(WRONG, brief=True)
    assert lines[1].startswith("wrong attention: NONCONFORMANT · precise 0 of 1 (")
    assert [line.partition(":")[0] for line in lines[3:]] == ["wrong", "fix", "where", "next", "later"]


LONG = (
    "a sentence of many words that goes on and on, and on, and on, until no terminal of eighty characters can hold it"
)


@pytest.mark.parametrize("columns", [80, 160])
def test_prose_keeps_to_the_width(columns):
    mistake = MISTAKE | {"story": LONG, "hint": LONG, "where": f"somewhere in {LONG}", "code": None}
    content = record("x", [result("x", "ATT-B-1", "fail", diagnosis=[mistake], sentence=LONG)])
    content["implementations"][0]["bound"] = [f"weights      {LONG} {LONG}", f"prescribed   {LONG} {LONG}"]
    lines = [*header(content, columns), *page(content, columns)]
    assert max(len(line) for line in lines) <= columns
    assert max(len(line) for line in lines) > columns - 20
    assert not any(line.endswith("…") for line in header(content, columns))
    whole = " ".join(" ".join(header(content, columns, verbose=True)).split())
    assert f"{LONG} {LONG}" in whole


def test_of_several_bindings_the_header_says_how_far_to_believe_them():
    content = both()
    for i in content["implementations"]:
        i["bound"] = [
            "constructor  Mine(d)",
            "forward      (x) -> result",
            "weights      q = q",
            "binding      a guess",
        ]
    assert [line.split()[0] for line in header(content)[1:]] == ["wrong:", "binding", "right:", "binding"]
    assert len(header(content, verbose=True)) == 11


def test_code_and_what_is_copied_stay_on_one_line():
    mistake = MISTAKE | {"code": LONG}
    content = record("a_very_long_name_of_a_file.py", [result("x", "ATT-B-1", "fail", diagnosis=[mistake])])
    lines = page(content, 80)
    assert f"  where     homework.py:12  {LONG}" in lines
    assert any(line.startswith("  rerun     attnconf run") and line.endswith('"') for line in lines)


def test_a_number_is_not_torn_from_what_it_is():
    message = "out of the first of the heads of the second sample at [1, 2, 0, 3]: got -1.63644, want -7.94956"
    for columns in range(60, 120):
        failed = result("x", "ATT-B-1", "fail")
        failed["cases"][0]["message"] = message
        text = "\n".join(page(record("x", [failed]), columns))
        assert all(words in text for words in ("[1, 2, 0, 3]:", "got -1.63644,", "want -7.94956"))


def test_a_recommendation_that_is_selected_is_shown_in_full_and_once():
    content = record("x", [result("x", "ATT-PREC-2", "fail", strength="SHOULD"), result("x", "ATT-A-1")])
    content["suite"]["selected"] = True
    lines = page(content)
    at = lines.index("ATT-PREC-2 not followed by x (attention)")
    assert any("rerun" in line for line in lines[at:])
    assert sum("ATT-PREC-2" in line and "not" in line for line in lines) == 1


BOUND = [
    "forward      (x) -> result",
    "option       the argument `offset` of forward has no effect",
    "not judged   Decoder (x.py:3): NameError",
    "binding      equal to the textbook on fresh weights",
]


def test_a_brief_page_says_what_lowers_the_verdict():
    content = copy.deepcopy(RIGHT)
    content["implementations"][0]["bound"] = BOUND
    assert page(content, brief=True)[:3] == ["right:", f"    {BOUND[1]}", f"    {BOUND[2]}"]
    content["implementations"][0]["bound"] = BOUND[::3]
    assert page(content, brief=True)[0] == ""


def test_a_very_long_line_of_a_binding_is_left_out_and_a_long_one_is_broken():
    content = copy.deepcopy(RIGHT)
    content["implementations"][0]["bound"] = ["weights      " + "wq = q, " * 20, "constructor  Mine(" + "d, " * 200]
    lines = header(content)[2:]
    assert [line[4:16].strip() for line in lines] == ["weights", "", "constructor"]
    assert lines[2].endswith("-v shows it: 6 lines")
