"""Options in their other positions, masks of other shapes, long inputs: what is wrong there alone is found."""

import itertools
from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read, read_module

pytestmark = pytest.mark.long

torch.set_num_threads(1)
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
RIGHT = [
    "att_masks_of_all_axes",
    "att_soft_cap_option",
    "att_kv_heads_option",
    "att_scale_in_its_place",
    "att_blocks_when_long",
    "att_masked_slopes",
    "pos_learned_by_flag",
    "pos_batch_second_by_flag",
    "pos_rope_interleaved_by_flag",
    "emb_scaled_by_flag",
    "ff_gated_any_activation",
    "ff_words_in_branches",
    "ff_gate_of_any_of_three",
    "lay_activation_by_word",
]
BROKEN = {
    "att_mask_three_axes": "takes a mask of shape (B, L, S)",
    "att_mask_four_axes": "takes a mask of shape (B, H, L, S)",
    "att_blocks_when_long_stale": "something else for 513 tokens",
    "att_mask_under_no_grad": "`mask` is given, gradients are not those of the output",
    "pos_batch_second_by_flag_ignored": "`batch_first` of the constructor does not exchange",
    "pos_rope_interleaved_by_flag_table": "`interleaved` of the constructor is broken where it is True",
    "emb_scaled_by_flag_of_vocabulary": "`scale` of the constructor is broken where it is True",
    "ff_gate_of_one_activation": "`activation` of the constructor is not heeded, where `gated` is True",
    "lay_word_of_configuration_unused": "`act` of the constructor changes nothing, where it is 'gelu'",
    "lay_activation_by_word_ignored": "`activation` of the constructor changes nothing, where it is 'gelu'",
}
FAMILY = {
    "att_soft_cap_option": ("score-cap", "given"),
    "att_soft_cap_undivided": ("score-cap", "given"),
    "att_kv_heads_option": ("kv-heads", "grouped"),
    "att_kv_heads_in_turn": ("kv-heads", "grouped"),
    "att_scale_in_its_place": ("score-scale", "given"),
    "att_scale_besides": ("score-scale", "given"),
}
HEAD = "import math\nimport torch\nfrom torch import nn\n"
ENCODING = """
class PositionalEncoding(nn.Module):
    def __init__(self, dim, max_len=64, {flag}=False):
        super().__init__()
        t = torch.arange(max_len)[:, None] * 10000.0 ** (-torch.arange(0, dim, 2) / dim)
        self.register_buffer("table", torch.stack([t.sin(), t.cos()], -1).flatten(1))
        self.on = {flag}

    def forward(self, x):
        return x {added} if self.on else x + self.table[: x.shape[1]]
"""


def bound(path):
    found, _ = inference.bindings(read(path), None, None)
    return found


def of(name):
    return bound(next(path for kind in ("right", "wrong") if (path := SUBMISSIONS / kind / f"{name}.py").exists()))


def written(folder, **parts):
    path = folder / "homework.py"
    path.write_text(HEAD + ENCODING.format(**parts), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_broken_of_a_right_file(name):
    assert not [words for one in of(name) for words in one.broken]


@pytest.mark.parametrize(("name", "said"), BROKEN.items(), ids=BROKEN.keys())
def test_what_is_wrong_in_one_position_alone_is_said(name, said):
    assert any(said in words for one in of(name) for words in one.broken)


@pytest.mark.parametrize(("name", "declared"), FAMILY.items(), ids=FAMILY.keys())
def test_an_option_of_the_family_is_declared_and_judged(name, declared):
    (one,) = of(name)
    assert declared in one.draft.declares.items()
    assert declared[0] not in one.untried


def test_a_flag_that_says_that_it_leaves_out_may_leave_out(tmp_path):
    (one,) = bound(written(tmp_path, flag="no_table", added="* 1.0"))
    assert not one.broken


def test_an_option_may_do_on_purpose_what_a_mistake_does_unsaid():  # add_zero_attn: a key of zeros, e^0 below
    (one,), _ = inference.bindings(read_module("torch.nn"), "MultiheadAttention", None)
    assert not one.broken


def test_what_nobody_knows_with_a_flag_is_not_accused(tmp_path):
    (one,) = bound(written(tmp_path, flag="extra", added="+ self.table[: x.shape[1]].abs() ** 0.3"))
    assert not one.broken
    assert one.untried == ("extra",)


def test_a_flag_that_promises_what_nobody_finds_leaves_the_verdict_open():
    (one,) = of("pos_learned_by_flag_last_row")
    assert not one.broken
    assert "`learned` of the constructor does something that is not understood" in one.open_ends[0]


def test_a_class_has_its_own_defaults_again_after_it_was_bound(tmp_path):
    source = read(written(tmp_path, flag="extra", added="+ 1"))
    inference.bindings(source, None, None)
    assert source.module.PositionalEncoding.__init__.__defaults__ == (64, False)


def test_a_word_for_an_activation_that_a_file_never_mentions_is_not_asked_for():
    (one,) = of("ff_words_in_branches")
    assert "silu" not in one.draft.body


def test_the_other_positions_of_all_files_here_are_told():
    told = itertools.chain.from_iterable(one.told for name in RIGHT for one in of(name))
    assert [line for line in told if line.startswith("turned  ")]
