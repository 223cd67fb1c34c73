"""What is asked of a class that keeps its own parameters: what holds whatever they are, and no more."""

from pathlib import Path

import pytest
import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import all_checks, check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.run.record import record
from attnconf.spec import profiles

HEAD = "import torch\nfrom torch import nn\n\n"
EXPERTS = """
class MixtureFeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, experts=3):
        super().__init__()
        self.choose = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, dim)) for _ in range(experts)
        )

    def forward(self, x):
        share = self.choose(x).softmax(dim=-1)
        return sum(share[..., i : i + 1] * expert(x) for i, expert in enumerate(self.experts))
"""
FACTORED = """
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.small = nn.Embedding(max_len, 3)
        self.large = nn.Linear(3, d_model, bias=False)

    def forward(self, x):
        return x + self.large(self.small(torch.arange(x.shape[1])))
"""


def keeping(build):
    """Return a component with weights of its own, whatever it is given."""

    def component(config, weights):
        own = torch.Generator().manual_seed(5)
        mine = {name: torch.randn(w.shape, generator=own, dtype=torch.float64).to(w) for name, w in weights.items()}
        return build(config, mine)

    return component


# Components that a class may be judged as with weights of its own, and how many requirements can be asked of it then.
KEPT = {"feed_forward": 11, "layer_norm": 10, "rms_norm": 10, "token_embedding": 12, "learned": 13}


WITHIN = {"token_attention": 12}  # it is asked of what embeds tokens, and this does; it cannot be declared so


def checks_of(component: str) -> list[Checked]:
    """Return the checks by which a component is judged in the largest profile."""
    ids = [e.requirement for e in profiles.load("full").entries if e.component == component]
    return [check_of(name, component) for name in ids if name in all_checks()]


def test_of_no_other_component_anything_is_asked_where_weights_are_kept():
    kept = {component: sum(c.any_weights for c in checks_of(component)) for component in COMPONENTS}
    assert {component: count for component, count in kept.items() if count} == KEPT | WITHIN


@pytest.mark.parametrize("component", KEPT)
def test_the_reference_with_weights_of_its_own_is_right(component: str) -> None:
    reference = apply([])
    subject = Subject(Implementation("own", {component: keeping(reference.components[component])}), component, "direct")
    checks = [c for c in checks_of(component) if c.any_weights]
    outcomes = {c.requirement.id: judge_requirement(subject, c) for c in checks}
    assert {r: (j.outcome, j.message) for r, j in outcomes.items() if j.outcome != "pass"} == {}


def verdict(folder: Path, text: str) -> tuple[str, str]:
    """Return the only verdict of a file, and its reason."""
    (folder / "hand.py").write_text(HEAD + text, encoding="utf-8")
    run = judge_all(make_plan(load(str(folder / "hand.py")), Settings()))
    (found,) = record(run)["verdicts"]
    return found["verdict"], found["reason"]


@pytest.mark.parametrize("text", [EXPERTS, FACTORED])
def test_what_is_not_understood_is_incomplete(text: str, tmp_path: Path) -> None:
    said, reason = verdict(tmp_path, text)
    assert said == "incomplete"
    assert reason.startswith("equivalence not established")


def test_what_needs_no_weights_is_still_asked(tmp_path: Path) -> None:
    over_tokens = EXPERTS.replace("softmax(dim=-1)", "softmax(dim=1)")
    said, reason = verdict(tmp_path, over_tokens)
    assert (said, reason.partition(": ")[0]) == ("unrecognised", "computes something else than feed_forward")
    assert reason.endswith("(FF-TOKEN-1)")
