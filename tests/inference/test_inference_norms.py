"""Norms, networks, embeddings, tokenizers and trainers of files that know nothing of us, in hands of our own."""

from pathlib import Path

import pytest
from small_parts import HEAD, NORMS, RIGHT, WRONG

from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.loading.required_conventions import held_to
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results
from attnconf.conformance.run.implementations import load


def judged(folder: Path, text: str) -> tuple[list[str], dict[str, str], set[str]]:
    """Return the verdicts of a file, what its binding declares, and the mistakes that were named."""
    (folder / "hand.py").write_text(HEAD + text)
    verdicts: list[str] = []
    declares: dict[str, str] = {}
    named: set[str] = set()
    for implementation in load(str(folder / "hand.py")):
        assert not isinstance(implementation, Unjudgeable), implementation.reason
        run = judge([implementation])
        record = results.record(run)
        verdicts += [v["verdict"] for v in record["verdicts"]]
        declares |= implementation.declares
        named |= {m for r in record["results"] for d in r["diagnosis"] for m in d["mutants"] if r["strength"] == "MUST"}
    return verdicts, declares, named


@pytest.mark.parametrize("hand", RIGHT)
def test_right_ones_are_conformant_in_their_conventions(hand: str, tmp_path: Path) -> None:
    text, want = RIGHT[hand]
    verdicts, declares, _ = judged(tmp_path, text)
    assert set(verdicts) == {"conformant"}
    assert declares == want


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_ones_are_named(mistake: str, tmp_path: Path) -> None:
    verdicts, _, named = judged(tmp_path, WRONG[mistake])
    assert "nonconformant" in verdicts
    assert named == {mistake}


@pytest.mark.parametrize(
    ("pinned", "requirement", "mistake"),
    [
        ({"layer-norm-variance": "biased", "layer-norm-eps": "inside"}, "LN-VAR-1", "LN-annotated-transformer"),
        ({"layer-norm-variance": "biased"}, "LN-VAR-1", "LN-unbiased"),
        ({"layer-norm-eps": "inside"}, "LN-EPS-1", "LN-eps-outside"),
    ],
)
def test_a_choice_that_a_course_pins_counts(pinned, requirement, mistake, tmp_path: Path) -> None:
    (tmp_path / "hand.py").write_text(HEAD + NORMS["after The Annotated Transformer"][0])
    (implementation,) = load(str(tmp_path / "hand.py"))
    record = results.record(judge([held_to(implementation, pinned)]))
    assert [v["verdict"] for v in record["verdicts"]] == ["nonconformant"]
    roots = [r for r in record["results"] if r["outcome"] == "fail" and r["counts"] and not r["follows_from"]]
    assert [r["requirement"] for r in roots] == [requirement]
    assert mistake in {m for r in roots for d in r["diagnosis"] for m in d["mutants"]}


def test_where_eps_stands_in_an_rms_norm_may_be_pinned(tmp_path: Path) -> None:
    (tmp_path / "hand.py").write_text(HEAD + NORMS["after the authors of RMSNorm"][0])
    (implementation,) = load(str(tmp_path / "hand.py"))
    record = results.record(judge([held_to(implementation, {"rms-norm-eps": "inside"})]))
    assert [v["verdict"] for v in record["verdicts"]] == ["nonconformant"]
    roots = [r for r in record["results"] if r["outcome"] == "fail" and r["counts"] and not r["follows_from"]]
    assert [(r["requirement"], d["mutants"]) for r in roots for d in r["diagnosis"]] == [
        ("RMS-EPS-1", ["RMS-eps-outside"])
    ]


ONE_PLUS = """
class LayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.{first}(dim)), nn.Parameter(torch.zeros(dim))
        self.eps = eps

    def forward(self, x):
        return nn.functional.layer_norm(x, self.weight.shape, 1 + self.weight, self.bias, self.eps)
"""


def test_one_plus_the_weight_of_a_layer_norm_is_a_choice(tmp_path: Path) -> None:
    verdicts, declares, _ = judged(tmp_path, ONE_PLUS.format(first="zeros"))
    assert (verdicts, declares["layer-norm-weight"]) == (["conformant"], "one-plus")


def test_one_plus_a_weight_that_begins_at_one_is_a_mistake(tmp_path: Path) -> None:
    verdicts, _, named = judged(tmp_path, ONE_PLUS.format(first="ones"))
    assert (verdicts, named) == (["nonconformant"], {"LN-gain-one-plus"})


WITHOUT_EPS = """
class Norm(nn.Module):
    def __init__(self, dim{argument}):
        super().__init__()
        self.norm = nn.RMSNorm(dim)

    def forward(self, x):
        return self.norm(x)
"""


def test_an_eps_that_nobody_can_choose_may_be_that_of_the_dtype(tmp_path: Path) -> None:
    verdicts, declares, _ = judged(tmp_path, WITHOUT_EPS.format(argument=""))
    assert (verdicts, declares["eps"]) == (["conformant"], "dtype")


def test_an_eps_that_is_taken_and_not_handed_on_is_a_mistake(tmp_path: Path) -> None:
    verdicts, _, named = judged(tmp_path, WITHOUT_EPS.format(argument=", eps=1e-6"))
    assert verdicts == ["nonconformant"]
    assert "RMS-eps-of-the-dtype" in named


FLOOR = """
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-8):
        super().__init__()
        self.g, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return self.g * x / x.square().mean(-1, keepdim=True).sqrt().clamp(min=self.eps)
"""


def test_a_floor_under_the_root_mean_square_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    assert judged(tmp_path, FLOOR)[0] == ["unrecognised"]


GAIN_ALONE = """
class LayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-5, bias={default}):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, None, self.eps)
"""


def test_a_shift_that_is_not_there_by_default_is_absent_and_its_argument_idle(tmp_path: Path) -> None:
    verdicts, declares, named = judged(tmp_path, GAIN_ALONE.format(default=False))
    assert (verdicts, declares["layer-bias"], named) == (["incomplete"], "no", set())


def test_a_shift_that_is_promised_by_default_is_missed(tmp_path: Path) -> None:
    verdicts, _, named = judged(tmp_path, GAIN_ALONE.format(default=True))
    assert (verdicts, named) == (["nonconformant"], {"LN-shift-forgotten"})


@pytest.mark.parametrize(("sign", "verdict"), [("*", "conformant"), ("/", "unrecognised")])
def test_a_gain_that_may_be_handed_over_is(tmp_path: Path, sign: str, verdict: str) -> None:
    text = f"""
def layer_norm(x, weight=None, bias=None, eps=1e-5):
    y = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()
    y = y if weight is None else y {sign} weight
    return y if bias is None else y + bias
"""
    assert judged(tmp_path, text)[0] == [verdict]


SQUARED = """
class MLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
    def forward(self, x):
        h = self.up(x)
        return self.down(F.relu(h).square())
"""
QUICK = """
class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)

class MLP(nn.Module):
    def __init__(self, d_model, d_mlp):
        super().__init__()
        self.c_fc, self.gelu, self.c_proj = nn.Linear(d_model, d_mlp), QuickGELU(), nn.Linear(d_mlp, d_model)
    def forward(self, x):
        return self.c_proj(self.gelu(self.c_fc(x)))
"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (SQUARED, "unrecognised"),
        (SQUARED.replace("F.relu(h).square()", "F.relu(h) * F.relu(h)"), "nonconformant"),
        (SQUARED.replace("F.relu(h).square()", "F.relu6(h)"), "unrecognised"),
        (SQUARED.replace("F.relu(h).square()", "F.mish(h)"), "unrecognised"),
        (SQUARED.replace("F.relu(h).square()", "h.clamp(0, 6)"), "nonconformant"),
    ],
)
def test_another_activation_is_no_mistake_where_the_code_says_which(tmp_path: Path, text: str, verdict: str) -> None:
    assert set(judged(tmp_path, text)[0]) == {verdict}


def test_quick_gelu_is_found_where_it_is_called_so(tmp_path: Path) -> None:
    verdicts, declares, _ = judged(tmp_path, QUICK)
    assert verdicts == ["conformant"]
    assert declares["activation"] == "quick-gelu"


@pytest.mark.parametrize(
    ("name", "function", "mistake"),
    [
        ("GELU", "x * torch.sigmoid(1.702 * x)", "FF-quick-gelu"),
        ("QuickGELU", "1.702 * x * torch.sigmoid(x)", "FF-quick-gelu-outside"),
        ("QuickGELU", "x * torch.sigmoid(1.7 * x)", "FF-quick-gelu-factor"),
    ],
)
def test_quick_gelu_is_wrong_in_another_form_or_as_gelu(tmp_path: Path, name: str, function: str, mistake: str) -> None:
    text = QUICK.replace("QuickGELU", name).replace("x * torch.sigmoid(1.702 * x)", function)
    verdicts, _, named = judged(tmp_path, text)
    assert verdicts == ["nonconformant"]
    assert named == {mistake}


def test_another_activation_is_told(tmp_path: Path) -> None:
    judged(tmp_path, SQUARED)
    (found,) = load(str(tmp_path / "hand.py"))
    assert isinstance(found, Implementation)
    told = "its activation is squared ReLU, none of relu, gelu, gelu-tanh, quick-gelu, silu and sigmoid"
    assert found.notes[-2].endswith(told)


def test_a_vocabulary_that_cannot_be_given_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "closed.py").write_text("""
class Tokenizer:
    def __init__(self, text):
        self.__slots = tuple(map(ord, sorted(set(text))))
    def encode(self, s):
        return [self.__slots.index(ord(c)) for c in s]
""")
    (found,) = load(str(tmp_path / "closed.py"))
    assert isinstance(found, Unjudgeable)
    assert "it makes its vocabulary from a text, and there is no way to give it one" in found.reason
