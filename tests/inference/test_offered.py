"""What a file offers runs, too: defaults, flags, widths of heads, dropout, and what stands beside what is judged."""

from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
RIGHT = Path(__file__).parents[1] / "submissions" / "right"
CHANGED = {  # a right file, what is changed in it, and to what; what is said of that which is bound last
    "a default that raises": (
        "lay_vit_pairs.py", "nn.Linear(dim, inner, bias = False)", "nn.Linear(inner, dim, bias = False)",
        "`dim_head` of the constructor raises, where it is left at its default",
    ),
    "another function of its kind": (
        "pos_alibi_functions.py", "view(1, seq_len)", "view(seq_len, 1)", "build_alibi cannot be judged",
    ),
    "a stack of the layers": (
        "lay_decoder_list.py", "y = layer(x, y, self_attention_mask, cross_attention_mask)", "y = x",
        "Decoder cannot be judged",
    ),
    "a table that no output comes from": (
        "lay_translator_parts.py", "self.tok_embedding(src) * self.scale + ", "",
        "the parameter encoder.tok_embedding.weight is never applied",
    ),
    "a gain that is not trained": (
        "norm_rms_half.py", "nn.Parameter(torch.ones(args.dim))", "torch.ones(args.dim)", "`weight` is a tensor",
    ),
}  # fmt: skip
FEED_FORWARD = """
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, width, hidden_width=None, dropout=0.1):
        super().__init__()
        {given}
        self.fc1, self.fc2 = nn.Linear(width, hidden_width), nn.Linear(hidden_width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.fc2({hidden})
"""
DROPPED, KEPT = "self.dropout(self.fc1(x).relu())", "self.fc1(x).relu()"
DEFAULT = "hidden_width = hidden_width or 4 * width"
NORM = """
import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, width, eps=1e-5, bias=True):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if {bias} else None

    def forward(self, x):
        y = (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight
        return y if self.bias is None else y + self.bias
"""


def changed(folder, file, before, after):
    """Return the path of a copy of a right file that is changed in one place."""
    text = (RIGHT / file).read_text(encoding="utf-8")
    assert text.count(before) == 1
    path = folder / file
    path.write_text(text.replace(before, after), encoding="utf-8")
    return path


def written(folder, text):
    path = folder / "homework.py"
    path.write_text(text, encoding="utf-8")
    return path


def open_ends(path):
    """Return what is said of the bindings of a file that keeps them from conforming in full."""
    return [words for b in inference.bindings(read(path), None, None)[0] for words in b.open_ends]


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_offered_and_broken_leaves_the_verdict_open(tmp_path, case):
    file, before, after, said = CHANGED[case]
    assert said in "; ".join(open_ends(changed(tmp_path, file, before, after)))


@pytest.mark.parametrize("file", sorted({file for file, *_ in CHANGED.values()}))
def test_the_file_as_it_was_leaves_nothing_open(file):
    assert open_ends(RIGHT / file) == []


def test_a_default_of_none_that_raises_is_no_default(tmp_path):
    broken = open_ends(written(tmp_path, FEED_FORWARD.format(given="pass", hidden=DROPPED)))
    assert "`hidden_width` of the constructor raises, where it is left at its default: TypeError" in "; ".join(broken)
    assert open_ends(written(tmp_path, FEED_FORWARD.format(given=DEFAULT, hidden=DROPPED))) == []


def test_a_default_that_the_code_itself_refuses_is_none(tmp_path):
    refused = FEED_FORWARD.format(given="assert hidden_width is not None, 'how wide?'", hidden=DROPPED)
    assert open_ends(written(tmp_path, refused)) == []


def test_dropout_that_drops_nothing_has_no_effect(tmp_path):
    idle = open_ends(written(tmp_path, FEED_FORWARD.format(given=DEFAULT, hidden=KEPT)))
    assert idle == ["the argument `dropout` of the constructor has no effect"]


def test_a_shift_that_can_be_asked_for_is_not_absent(tmp_path):
    for condition, certified in (("bias", "reference"), ("not bias", "LN-shift-forgotten")):
        (bound,), _ = inference.bindings(read(written(tmp_path, NORM.format(bias=condition))), None, None)
        assert bound.certified == certified
        assert "layer-bias" not in bound.draft.declares


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("pos_alibi_functions.py", "of_power(2 * m)", "2 * m", "6 heads, which are no power of two: TypeError"),
        ("pos_rope_self_attention.py", "sim.shape[-2:]", "sim.shape[-3:]", "causal attention: ValueError"),
    ],
)
def test_code_that_breaks_has_refused_nothing(tmp_path, file, before, after, said):
    (bound,), _ = inference.bindings(read(changed(tmp_path, file, before, after)), None, None)
    assert "raise BrokenArgument(" in bound.draft.body
    assert said in bound.draft.body


def test_heads_that_the_code_itself_refuses_are_not_offered():
    (bound,), _ = inference.bindings(read(RIGHT / "pos_alibi_powers_only.py"), None, None)
    assert 'NotImplementedError("heads that are no power of two")' in bound.draft.body


def test_a_flag_of_a_call_that_raises_is_not_left_alone(tmp_path):
    text = (RIGHT / "att_peek_function.py").read_text(encoding="utf-8")
    flag = text.replace("peek=False", "peek=False, sharp=False").replace(
        "    if not peek:", "    S = S @ 2 if sharp else S\n    if not peek:"
    )
    assert flag.count("sharp") == 2
    said = "; ".join(open_ends(written(tmp_path, flag)))
    assert "the argument `sharp` of forward raises, where it is True: TypeError" in said


def test_features_on_another_axis_are_no_features_of_a_point(tmp_path):
    path = changed(tmp_path, "pos_fourier_bank_module.py", "torch.cat(pieces, -1)", "torch.cat(pieces, -2)")
    assert [b.certified for b in inference.bindings(read(path), None, None)[0]] == [None]


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("emb_one_hot.py", "torch.randn(woerter, breite)", "torch.randn(breite, woerter)"),
        ("emb_comments_chinese.py", "nn.Embedding(词表大小, 维度)", "nn.Embedding(维度, 词表大小)"),
        ("emb_negative_ids.py", "torch.randn(words, features)", "torch.randn(features, words)"),
        (
            "pos_learned_by_length.py", "num_embeddings=laenge, embedding_dim=breite",
            "num_embeddings=breite, embedding_dim=laenge",
        ),
    ],
)  # fmt: skip
def test_sizes_that_are_named_are_not_exchanged(tmp_path, file, before, after):
    found, _ = inference.bindings(read(changed(tmp_path, file, before, after)), None, None)
    assert not any(b.certified == "reference" and not b.open_ends for b in found)


@pytest.mark.parametrize("file", ["pos_rope_tables_and_ids.py", "pos_rope_polar_ones.py", "pos_two_kinds.py"])
def test_tables_for_what_is_bound_its_base_and_its_factory_are_judged_with_it(file):
    assert open_ends(RIGHT / file) == []
