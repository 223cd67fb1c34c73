"""Different is not wrong: attention without an output projection, or that drops its output, where that is declared."""

import pytest
import torch
from command_line import in_process

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results

pytestmark = pytest.mark.long

torch.set_num_threads(1)
BARE = apply([all_mutants()["MHA-no-output-projection"]]).components["multi_head_attention"]

REFERENCE = apply([]).components["multi_head_attention"]


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


ALONE = apply([all_mutants()["MHA-one-head-not-projected"]]).components["multi_head_attention"]


def test_a_lone_head_as_it_is_is_a_choice():
    verdict, roots = judged({"one-head-projection": "no"}, ALONE)
    assert verdict["verdict"] == "conformant", verdict
    assert not roots
    assert judged({}, ALONE)[1] == {"MHA-ONE-1"}


def never_with_one_head(config, weights):
    """Leave the projection out of every lone head, also of one that is narrower than the model."""
    bare = {**weights, "out.weight": torch.eye(config.out_dim, config.head_dim).to(weights["out.weight"])}
    bare.pop("out.bias", None)
    return REFERENCE(config, bare if config.num_heads == 1 else weights)


def test_a_lone_head_narrower_than_the_model_is_projected():
    assert judged({"one-head-projection": "no"}, never_with_one_head)[1] == {"MHA-ONE-1"}


@pytest.mark.parametrize("name", ["ATT-unscaled", "MHA-merge-without-transpose", "MHA-no-output-projection"])
def test_other_mistakes_are_found_beside_a_lone_head_as_it_is(name):
    wrong = apply([all_mutants()["MHA-one-head-not-projected"], all_mutants()[name]])
    verdict, roots = judged({"one-head-projection": "no"}, wrong.components["multi_head_attention"])
    assert verdict["verdict"] == "nonconformant"
    assert roots


@pytest.mark.parametrize(("name", "place"), [("ATT-output-dropped", "output"), ("MHA-output-dropped", "both")])
def test_what_is_dropped_is_a_choice(name, place):
    component = apply([all_mutants()[name]]).components["multi_head_attention"]
    verdict, roots = judged({"dropout-place": place}, component)
    assert verdict["verdict"] == "conformant", verdict
    assert not roots
    assert judged({}, component)[1] == {"ATT-DROP-2"}


@pytest.mark.parametrize("place", ["output", "both"])
def test_whatever_is_dropped_rests_in_evaluation(place):
    component = apply([all_mutants()["ATT-always-dropping"]]).components["multi_head_attention"]
    verdict, roots = judged({"dropout-place": place}, component)
    assert verdict["verdict"] == "nonconformant"
    assert roots == {"ATT-DROP-1"}


SECOND = """
import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        later = torch.ones_like(scores[{sample}, 0], dtype=torch.bool).triu(1)
        return self.out((scores.masked_fill(later, float("-inf")).softmax(-1) @ v).transpose(1, 2).flatten(2))
"""


@pytest.mark.parametrize(("sample", "said"), [(0, "1 passed"), (1, "index 1 is out of bounds")])
def test_a_layer_that_is_always_causal_is_called_with_one_sample(tmp_path, sample, said):
    path = tmp_path / "homework.py"
    path.write_text(SECOND.format(sample=sample), encoding="utf-8")
    assert said in in_process("run", f"--impl={path}", "-k", "CALL-SHAPE-1", cwd=tmp_path).stdout
