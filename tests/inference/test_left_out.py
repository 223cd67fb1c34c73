"""An option that is broken is not one that is absent; what is set aside of a file is said, and lowers the verdict."""

from pathlib import Path

import pytest
import torch
from command_line import in_process

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
SELF = """
import math
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads{constructor}):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.proj = nn.Linear(embed_dim, 3 * embed_dim), nn.Linear(embed_dim, embed_dim)
        {made}

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x{options}):
        q, k, v = map(self.heads, self.qkv(x).chunk(3, dim=-1))
        {before}
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        {scores}
        out = self.proj((torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2))
        return out{more}
"""
NORMS = "self.q_norm, self.k_norm = (nn.LayerNorm(embed_dim // num_heads) for _ in range(2))"
QK = "q, k = self.q_norm(q), self.k_norm(k)"
PRE = "q, k, v = map(self.heads, self.qkv(self.norm(x)).chunk(3, dim=-1))"
JOIN = "k, v = (k, v) if cache is None else (torch.cat([a, b], 2) for a, b in zip(cache, (k, v)))"
LATER = (
    "scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2]), -1e30)"
)
OPEN = {
    "window": ({"options": ", window=None"}, "`window` of forward has no effect"),
    "groups": ({"constructor": ", groups=1"}, "`groups` of the constructor has no effect"),
    "queries and keys by other names": (
        {"made": NORMS.replace("q_norm, self.k_norm", "one, self.two"), "before": "q, k = self.one(q), self.two(k)"},
        "the norms one, two",
    ),
    "values too": (
        {"made": NORMS, "before": f"{QK}; v = self.k_norm(v)"}, "the norms q_norm, k_norm",
    ),
    "a bias that is a tensor": (
        {"made": "self.b = torch.zeros(embed_dim)", "before": "v = v + self.b.view(self.num_heads, 1, -1)"},
        "`b` is a tensor and no parameter: it is not trained",
    ),
    "a norm that nothing uses": (
        {"made": "self.norm = nn.LayerNorm(embed_dim)", "more": " + x"}, "the norms norm within attention",
    ),
    "a triangle that hides nothing": (
        {"made": "self.register_buffer('lower', torch.ones(64, 64).tril())"}, "the code makes a triangle (`tril(",
    ),
    "order of axes": (
        {"constructor": ", batch_first=True", "made": "self.batch_first = batch_first"},
        "`batch_first` of the constructor has no effect",
    ),
    "unused": ({"made": "self.gate = nn.Linear(embed_dim, embed_dim)"}, "the parameter `gate.weight` is never applied"),
    "cache": (
        {"options": ", cache=None", "before": f"new = (k, v); {JOIN}", "scores": LATER, "more": ", new"},
        "`cache` of forward does not continue a sequence: a second token",
    ),
    "cache of nothing": (
        {"options": ", cache=None", "scores": LATER, "more": ", (k, v if cache is None else v)"},
        "`cache` of forward does not continue a sequence: a token",
    ),
}  # fmt: skip


def written(folder, **parts):
    """Return the path of a file with a class of self-attention, and these parts of it."""
    path = folder / "homework.py"
    parts = {"constructor": "", "made": "", "options": "", "before": "", "scores": "", "more": "", **parts}
    path.write_text(SELF.format(**parts), encoding="utf-8")
    return path


def inferred(path):
    """Return the one binding of a file."""
    (bound,), _ = inference.bindings(read(Path(path)), None, None)
    return bound


@pytest.mark.parametrize("case", OPEN)
def test_what_is_set_aside_or_does_nothing_is_said(tmp_path, case):
    parts, said = OPEN[case]
    found = inferred(written(tmp_path, **parts))
    assert found.established
    assert said in "; ".join((*found.open_ends, *found.broken))


def test_what_does_not_do_what_its_name_promises_does_not_conform(tmp_path):
    parts = OPEN["cache"][0]
    done = in_process("run", f"--impl={written(tmp_path, **parts)}", cwd=tmp_path)
    assert "NONCONFORMANT" in done.stdout
    assert "wrong: the argument `cache` of forward" in done.stdout
    assert done.returncode == 1


def test_a_cache_that_nothing_hands_back_leaves_the_verdict_open(tmp_path):
    before = "k = k if cache is None else torch.cat([cache[0], k], 2)"
    done = in_process("run", f"--impl={written(tmp_path, options=', cache=None', before=before)}", cwd=tmp_path)
    assert "INCOMPLETE" in done.stdout
    assert "the argument `cache` of forward was not tried" in done.stdout


REMARKS = {
    "a capacity": ({"constructor": ", max_seq_len=512"}, "max_seq_len"),
    "a past": ({"options": ", past=None"}, "past"),
    "experts": ({"constructor": ", num_experts=8"}, "num_experts"),
}


@pytest.mark.parametrize("case", REMARKS)
def test_what_no_requirement_asks_about_is_a_remark(tmp_path, case):
    parts, name = REMARKS[case]
    found = inferred(written(tmp_path, **parts))
    assert (found.open_ends, found.broken) == ((), ())
    assert any(f"`{name}` of" in line and "has no effect" in line for line in found.told)


def test_a_past_that_words_promise_counts(tmp_path):
    path = written(tmp_path, options=", past=None")
    words = "(nn.Module):\n    '''past: keys and values of earlier tokens.'''\n"
    path.write_text(path.read_text().replace("(nn.Module):", words, 1))
    assert inferred(path).broken == ("the argument `past` of forward has no effect",)


def test_the_verdict_on_what_has_open_ends_says_which(tmp_path):
    done = in_process("run", f"--impl={written(tmp_path, options=', window=None')}", cwd=tmp_path)
    assert "INCOMPLETE" in done.stdout
    assert "the argument `window` of forward has no effect" in done.stdout
    assert done.returncode == 0


CLOSED = {
    "a cache that continues": {
        "options": ", cache=None", "before": JOIN, "scores": LATER, "more": ", (k, v)",
    },
    "a cache that is asked for": {
        "options": ", cache=None, use_cache=False", "before": JOIN, "scores": LATER,
        "more": " if not use_cache else (out, (k, v))",
    },
    "a hint": {"options": ", is_causal=False"},
    "a word that it is ignored": {"options": ", layer_id=None", "before": "pass  # layer_id is unused"},
    "an order of axes": {
        "constructor": ", batch_first=True", "made": "self.batch_first = batch_first",
        "before": "q, k, v = (t if self.batch_first else t.transpose(0, 2) for t in (q, k, v))",
    },
    "norms of queries and keys": {"made": NORMS, "before": QK},
    "a norm before it": {"made": "self.norm = nn.LayerNorm(embed_dim)", "before": PRE},
}  # fmt: skip


@pytest.mark.parametrize("case", CLOSED)
def test_what_does_what_it_says_leaves_nothing_open(tmp_path, case):
    found = inferred(written(tmp_path, **CLOSED[case]))
    assert found.established
    assert found.open_ends == ()


def test_what_is_offered_and_refused_is_said(tmp_path):
    found = inferred(written(tmp_path, constructor=", n_kv_heads=None", made="assert n_kv_heads in (None, num_heads)"))
    assert any(line.startswith("left alone   n_kv_heads: fewer heads") for line in found.told)
    assert found.open_ends == ()


def test_an_option_of_another_name_is_said_too(tmp_path):
    found = inferred(written(tmp_path, constructor=", sharpen=1.0", made="self.sharpen = sharpen"))
    assert "not tried    sharpen" in found.told


BROKEN = {
    "wrong/att_mask_fill_forgotten.py": "the argument `mask` of forward raises TypeError",
    "wrong/att_context_exchanged.py": "the argument `context` of forward exchanges the two",
    "wrong/att_scale_ignored.py": "the argument `scale` of forward has no effect",
    "wrong/pos_offset_ignored.py": "the argument `offset` of forward has no effect",
    "wrong/pos_rope_start_ignored.py": "the argument `start_pos` of forward has no effect",
    "wrong/lay_mask_raises.py": "the argument `mask` of forward raises TypeError",
    "wrong/pos_alibi_too_many_slopes.py": "6 heads, which are no power of two",
}


@pytest.mark.parametrize("file", BROKEN)
def test_a_broken_option_fails_where_it_is_asked_for_in_words_that_name_it(file):
    found = inferred(SUBMISSIONS / file)
    assert found.established
    assert f"option       {BROKEN[file]}" in "\n".join(found.told)
    assert BROKEN[file] in found.draft.body


def test_an_argument_that_raises_is_one_failure_with_its_line(tmp_path):
    path = written(tmp_path, options=", mask=None", scores="scores = scores if mask is None else scores + mask.gone")
    done = in_process("run", f"--impl={path}", cwd=tmp_path)
    words = "the argument `mask` of forward raises AttributeError: 'Tensor' object has no attribute 'gone'"
    assert f"  wrong     {words}" in done.stdout
    assert f"wrong: {words}" in " ".join(done.stdout.split())
    assert done.stdout.count(" violated by ") == 1
    assert "where: homework.py:21  scores = scores if mask is None else scores + mask.gone" in done.stdout
    assert "RuntimeError" not in done.stdout
    assert "hidden keys still get weight" not in done.stdout


AXES = """
import torch


class Turned(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.dim, self.heads_first = cfg.dim_head, getattr(cfg, "heads_first", True)

    def forward(self, x):
        axis = {axis}
        slow = 10000 ** -(torch.arange(0, self.dim, 2).to(x) / self.dim)
        turns = torch.outer(torch.arange(x.shape[axis]).to(x), slow)
        cos, sin = turns.repeat(1, 2).cos(), turns.repeat(1, 2).sin()
        cos, sin = (cos, sin) if axis == 2 else (cos[:, None], sin[:, None])
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin
"""


@pytest.mark.parametrize(("axis", "idle"), [("2 if self.heads_first else 1", False), ("2", True)])
def test_an_entry_for_the_order_of_axes_that_orders_nothing_leaves_the_verdict_open(tmp_path, axis, idle):
    path = tmp_path / "homework.py"
    path.write_text(AXES.format(axis=axis), encoding="utf-8")
    found = inferred(path)
    assert found.established
    assert found.open_ends == (("the argument `heads_first` of the constructor has no effect",) if idle else ())


NAMED = """
from typing import NamedTuple
import torch


class Attended(NamedTuple):
    values: torch.Tensor
    weights: torch.Tensor


def {name}(query, key, value):
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    return Attended({entries})
"""


@pytest.mark.parametrize(
    ("entries", "told"), [("weights @ value, weights", ()), ("weights, weights @ value", ("`weights`",))]
)
def test_what_is_called_weights_is_not_the_output(tmp_path, entries, told):
    path = tmp_path / "homework.py"
    path.write_text(NAMED.format(name="attention", entries=entries), encoding="utf-8")
    assert inferred(path).broken == tuple(f"the entry {one} of what comes back is the output" for one in told)


def test_a_mask_of_another_language_is_asked_for(tmp_path):
    scores = "scores = scores if masque is None else scores.masked_fill(masque[1:, None, None] == 0, -1e30)"
    found = inferred(written(tmp_path, options=", masque=None", scores=scores))
    assert "BrokenArgument('the argument `masque` of forward raises" in found.draft.body


@pytest.mark.parametrize(("weights", "idle"), [("weights", True), ("torch.dropout(weights, dropout, True)", False)])
def test_dropout_of_a_function_that_drops_nothing_fails_where_it_is_asked_for(tmp_path, weights, idle):
    text = NAMED.format(name="attention", entries=f"{weights} @ value, weights")
    path = tmp_path / "homework.py"
    path.write_text(text.replace("value):", "value, dropout=0.0):"), encoding="utf-8")
    assert ("the argument `dropout` of forward has no effect" in inferred(path).draft.body) == idle


@pytest.mark.parametrize(("name", "said"), [("attention", ""), ("alibi_attention", "without the positions")])
def test_plain_attention_whose_name_says_positions_leaves_the_verdict_open(tmp_path, name, said):
    path = tmp_path / "homework.py"
    path.write_text(NAMED.format(name=name, entries="weights @ value, weights"), encoding="utf-8")
    assert said in "; ".join(inferred(path).open_ends)
    assert bool(inferred(path).open_ends) == bool(said)


def test_a_bias_that_is_there_and_never_added_is_not_absent():
    for file in ("att_out_bias_unused.py", "att_biases_unused.py"):
        assert "lacking(" not in inferred(SUBMISSIONS / "wrong" / file).draft.body


def test_a_bias_that_is_a_buffer_is_said(tmp_path):
    made = 'self.register_buffer("shift", torch.zeros(embed_dim))'
    path = written(tmp_path, made=made, before="v = v + self.shift.view(self.num_heads, 1, -1)")
    assert inferred(path).open_ends == ("`shift` is a tensor and no parameter: it is not trained",)


def test_a_class_that_is_a_part_of_what_is_judged_is_named_with_how_to_judge_it_alone(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + LAYER, encoding="utf-8")
    implementations = inference.infer(read(path), "it.py", None, None)
    lines = [line for i in implementations for line in i.notes if line.startswith("parts ")]
    (line,) = lines
    assert line.startswith("parts        FeedForward: judged as a part of EncoderLayer; one alone: --impl=it.py:FeedF")
    assert line.endswith(":FeedForward@feed_forward")


LAYER = """

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.net(x)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.attention, self.ff = SelfAttention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.n1, self.n2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.ff(self.n2(x))
"""
