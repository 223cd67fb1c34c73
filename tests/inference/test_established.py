"""No accusation from a guess: the textbook wins, and what nobody knows the parameters of is called unrecognised."""

import json
import re

import pytest
from command_line import in_process

from attnconf.conformance.inference.finding.candidates import UNDOING
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings

pytestmark = pytest.mark.long

HEAD = "import math\nimport torch\nfrom torch import nn\n"
LETTERS = """
class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.{k} = nn.Linear(dim, dim)
        self.{q} = nn.Linear(dim, dim)
        self.C = nn.Linear(dim, dim)
        self.Z = nn.Linear(dim, dim)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.{q}(x)), self.split(self.{k}(x)), self.split(self.C(x))
        s = q @ k.mT / math.sqrt({width})
        {besides}
        return self.Z({merged})
"""
USUAL = {
    "q": "A", "k": "B", "width": "q.shape[-1]", "besides": "pass",
    "merged": "(s.softmax(-1) @ v).transpose(1, 2).flatten(2)",
}  # fmt: skip
MODEL_WIDTH = "x.shape[-1]"
ELSEWHERE = "s = torch.cat([s[..., :8], 0.9 * s[..., 8:]], -1)"  # of no known mistake, beyond eight keys


def judged(folder, text, suffix="", *options):
    """Return what a run of a file prints, and its record."""
    path = folder / "homework.py"
    path.write_text(HEAD + text, encoding="utf-8")
    results = folder / "results.json"
    done = in_process("run", f"--impl={path}{suffix}", f"--results={results}", *options, cwd=folder)
    return done, json.loads(results.read_text(encoding="utf-8"))


def letters(**changes):
    return LETTERS.format(**{**USUAL, **changes})


def verdict_of(record):
    (verdict,) = record["verdicts"]
    return verdict["verdict"], verdict["reason"]


def named(record):
    return {m for r in record["results"] for d in r["diagnosis"] for m in d["mutants"]}


@pytest.mark.parametrize(("q", "k"), [("A", "B"), ("B", "A"), ("first", "second"), ("second", "first")])
def test_names_that_do_not_say_which_are_the_queries_accuse_nobody(tmp_path, q, k):
    done, record = judged(tmp_path, letters(q=q, k=k))
    assert f"{q} = q, {k} = k" in done.stdout
    assert verdict_of(record) == ("conformant", "")


def test_a_mistake_is_named_whatever_the_parameters_are_called(tmp_path):
    _, record = judged(tmp_path, letters(width=MODEL_WIDTH))
    assert verdict_of(record) == ("nonconformant", "violates ATT-SCALE-1")
    assert "ATT-scaled-by-model-width" in named(record)


def test_the_textbook_but_for_what_no_mistake_explains_is_not_recognised(tmp_path):
    done, record = judged(tmp_path, letters(besides=ELSEWHERE))
    assert "binding      equal to the textbook on fresh weights" in done.stdout
    assert verdict_of(record) == (
        "unrecognised", "is multi_head_attention but for ATT-KEYS-1: not a mistake that is known"
    )  # fmt: skip
    assert "looked at" not in done.stdout  # all of it: it is known which parameter is which
    assert done.returncode == 1


def test_it_is_wrong_where_the_user_said_what_it_is(tmp_path):
    _, record = judged(tmp_path, letters(besides=ELSEWHERE), "@multi_head_attention")
    assert verdict_of(record)[0] == "nonconformant"


def test_two_equal_calls_that_differ_are_a_proof(tmp_path):
    later = "self.calls = getattr(self, 'calls', 0) + 1; s = s + (self.calls > 1) * torch.arange(s.shape[-1]).to(s) / 7"
    _, record = judged(tmp_path, letters(besides=later))
    assert verdict_of(record) == ("nonconformant", "violates CALL-REPEAT-1")
    assert not any(r["diagnosis"] for r in record["results"] if r["requirement"] == "CALL-REPEAT-1")


def test_what_the_certifying_mistake_does_not_explain_puts_the_binding_in_doubt(tmp_path):
    done, record = judged(tmp_path, letters(width=MODEL_WIDTH, besides=ELSEWHERE))
    assert verdict_of(record)[0] == "unrecognised"
    words = "the mistake with which it is bound does not explain ATT-KEYS-1"
    bound = record["implementations"][0]["bound"]
    assert f"binding      equal to a known mistake on fresh weights, but {words}" in bound
    assert verdict_of(record)[1].endswith(f"ATT-KEYS-1 does not hold; {words}")
    assert named(record) == set()
    assert not any(r["counts"] for r in record["results"] if r["outcome"] == "fail")
    assert done.returncode == 1


def test_of_what_is_not_recognised_the_differences_are_shown_and_how_to_say_what_it_is(tmp_path):
    done, record = judged(tmp_path, letters(besides="s = s * s"))
    assert verdict_of(record)[0] == "unrecognised"
    assert "homework.py (multi_head_attention) is not recognised\n  because   computes something else" in done.stdout
    assert "reading   if it is read as at the head of this run: C = v, Z = out, " in done.stdout
    assert "\n  differs   " in done.stdout
    assert "homework.py:Attention@multi_head_attention" in done.stdout
    assert "violated by" not in done.stdout
    assert "likely " not in done.stdout
    assert done.returncode == 1


LOOKS_AHEAD = "s = s + torch.arange(s.shape[-1])"  # later keys weigh more


def test_a_law_that_does_not_hold_is_nonconformant_where_the_user_says_what_it_is(tmp_path):
    text = letters(besides=LOOKS_AHEAD)
    _, record = judged(tmp_path, text)
    verdict, reason = verdict_of(record)
    assert (verdict, reason.partition(": ")[2]) == (
        "unrecognised",
        "that permuting the tokens permutes the output does not hold (MHA-PERM-1); not a mistake that is known",
    )
    _, record = judged(tmp_path, text, "@multi_head_attention")
    assert verdict_of(record)[0] == "nonconformant"


def test_what_mixes_tokens_up_is_not_taken_for_causal(tmp_path):
    done, record = judged(tmp_path, letters(merged="(s.softmax(-1) @ v).reshape(x.shape)"))
    assert "causality: always" not in done.stdout
    assert named(record) == {"MHA-merge-without-transpose"}


def test_what_looks_back_alone_is(tmp_path):
    hide = "s = s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), -math.inf)"
    done, record = judged(tmp_path, letters(besides=hide))
    assert "causality: always" in done.stdout
    assert verdict_of(record) == ("conformant", "")


@pytest.mark.parametrize(
    "name", ["p", "dropout", "drop", "dropout_p", "drop_rate", "attn_drop", "attn_pdrop", "layer_dropout", "attn_p"]
)
def test_what_is_called_dropout_may_be(name):
    assert "dropout" in meanings(name, SIZES)


@pytest.mark.parametrize("name", ["koepfe", "anzahl_köpfe", "têtes", "cabezas"])
def test_heads_in_another_language_are_heads(name):
    assert meanings(name, SIZES) == ["heads"]


@pytest.mark.parametrize("name", ["alpha", "drop_path", "droppath_rate", "layerdrop", "drop_tokens", "keep", "patch"])
def test_what_is_called_otherwise_is_none(name):
    assert "dropout" not in meanings(name, SIZES)


def test_a_whole_number_is_no_probability(tmp_path):
    text = letters().replace("dim, heads):", "dim, heads, p: int = 16):")
    done, record = judged(tmp_path, text)
    assert "constructor  Attention(dim=embed_dim, heads=num_heads)" in done.stdout
    assert verdict_of(record) == ("incomplete", "the argument `p` of the constructor has no effect")


FEATURES = '''
class Octaves(nn.Module):
    """[N, C, T] in, [N, C·(2K + 1), T] out: the coordinates, then a sine and a cosine of each for every octave."""

    def __init__(self, n_octaves):
        super().__init__()
        self.n_octaves = n_octaves

    def forward(self, x):
        speed = math.pi * 2.0 ** torch.arange(self.n_octaves, dtype=x.dtype)
        angles = speed[:, None, None] * x[:, None]
        waves = torch.stack([angles.sin(), angles.cos()], 2)
        return torch.cat([x, waves.flatten(1, 3)], 1)
'''


def test_features_that_begin_with_their_input_are_no_encoding_that_adds_nothing(tmp_path):
    _, record = judged(tmp_path, FEATURES)
    assert verdict_of(record)[0] != "nonconformant"


UNDO = ["unrotate", "inverse_rope", "rope_adjoint", "derotated"]
NOT = ["capa_de_atencion", "un_transformador", "matriz_de_rotacion", "unused"]


@pytest.mark.parametrize(("name", "undoes"), [*((n, True) for n in UNDO), *((n, False) for n in NOT)])
def test_what_undoes_another_is_told_by_its_name(name, undoes):
    assert (re.search(UNDOING, name) is not None) == undoes
