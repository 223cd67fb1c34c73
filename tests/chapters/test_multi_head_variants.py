"""Different is not wrong: multi-head attention without an output projection, where that is declared."""

import pytest
import torch

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results

torch.set_num_threads(1)
BARE = apply([all_mutants()["MHA-no-output-projection"]]).components["multi_head_attention"]


def judged(declares, component=BARE):
    """Return the verdict, and the roots, of multi-head attention that declares this."""
    record = results.record(judge([Implementation("bare", {"multi_head_attention": component}, declares)]))
    roots = {r["requirement"] for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]}
    return record["verdicts"][0], roots


def test_heads_side_by_side_are_a_choice():
    verdict, roots = judged({"output-projection": "no"})
    assert verdict["verdict"] == "conformant", verdict
    assert verdict["choices"] == {"output-projection": "no"}
    assert not roots


@pytest.mark.parametrize("declares", [{}, {"output-projection": "yes"}])
def test_nobody_else_may_leave_the_projection_out(declares):
    verdict, roots = judged(declares)
    assert verdict["verdict"] == "nonconformant"
    assert roots == {"MHA-OUT-1"}


@pytest.mark.parametrize("name", ["ATT-unscaled", "MHA-merge-without-transpose", "MHA-no-value-bias"])
def test_other_mistakes_are_found_without_a_projection(name):
    wrong = apply([all_mutants()["MHA-no-output-projection"], all_mutants()[name]])
    verdict, roots = judged({"output-projection": "no"}, wrong.components["multi_head_attention"])
    assert verdict["verdict"] == "nonconformant"
    assert roots
