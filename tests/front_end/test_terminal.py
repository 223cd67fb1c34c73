"""What a run prints of failures: one block for one cause."""

from test_report import DEVIATION, MISTAKE, RIGHT, WRONG, record, result

from attnconf.reports.terminal import blocks, page


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
    assert "\n  where     homework.py:12  scores = q @ k.mT\n" in "\n".join(lines)
    assert sum("rerun" in line for line in lines) == 1


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
