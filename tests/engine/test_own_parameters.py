"""What is asked of a class that keeps its own parameters: what holds whatever they are, and no more."""

from pathlib import Path

import pytest
import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Binding, Implementation
from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Planned, Settings, make_plan
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


PROFILES = ("core", "self-attention-1", "memory-attention-1")
DECLARED = {"self-attention-1": {"inputs": "self"}, "memory-attention-1": {"inputs": "memory"}}


def laws() -> list[tuple[str, Planned]]:
    """Return, with the profile, the checks that are asked whatever the parameters of the reference mean."""
    reference = apply([])
    found = {}
    for profile in PROFILES:
        for entry in profiles.load(profile).entries:
            build = keeping(reference.components[entry.component])
            guessed = Binding(established=False)
            own = Implementation("own", {entry.component: build}, DECLARED.get(profile, {}), binding=guessed)
            planned = Planned(own, entry, check_of(entry.requirement, entry.component))
            if planned.settled:
                found[planned.id] = (profile, planned)
    return list(found.values())


def test_on_every_component_something_holds_whatever_the_parameters_mean():
    components = {planned.entry.component for _, planned in laws()}
    assert components == {entry.component for entry in profiles.load("core").entries}


@pytest.mark.parametrize(
    "name", ["ATT-KEYS-1", "MHA-PERM-1", "ENC-CAUSAL-1", "DEC-HIDE-1", "TRF-PAD-1", "CALL-REPEAT-1"]
)
def test_which_output_reads_which_input_is_asked_whatever_the_parameters_mean(name: str) -> None:
    assert name in {planned.entry.requirement for _, planned in laws()}


@pytest.mark.parametrize("name", ["ATT-SCALE-1", "MHA-VALUE-1", "ENC-ORACLE-1", "ATT-ORACLE-1", "MASK-BOOL-1"])
def test_what_depends_on_their_meaning_is_not(name: str) -> None:
    assert name not in {planned.entry.requirement for _, planned in laws()}


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_reference_with_weights_of_its_own_is_right(component: str) -> None:
    asked = [planned for _, planned in laws() if planned.entry.component == component]
    outcomes = {p.id: judge_requirement(p.subject, p.checked) for p in asked}
    failed = {i: (j.outcome, j.message) for i, j in outcomes.items() if j.outcome not in ("pass", "not-applicable")}
    assert failed == {}


def verdict(folder: Path, text: str, named: str = "") -> tuple[str, str]:
    """Return the only verdict of a file, and its reason; ``named``: what the user says that it is."""
    (folder / "hand.py").write_text(HEAD + text, encoding="utf-8")
    run = judge_all(make_plan(load(str(folder / "hand.py") + named), Settings()))
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
    assert said == "unrecognised"
    assert reason.startswith("computes something else than feed_forward: ")
    assert reason.endswith("(FF-TOKEN-1); not a mistake that is known")
    assert verdict(tmp_path, over_tokens, "@feed_forward") == ("nonconformant", "violates FF-TOKEN-1")
