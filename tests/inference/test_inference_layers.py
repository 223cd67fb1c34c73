"""Layers and models that know nothing of us: what is inferred of them, and what is said where nothing is."""

import textwrap
from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.inference.finding.candidates import candidates
from attnconf.conformance.inference.trials.binding import Bound, Refusal
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
HERE = Path(__file__).parents[1] / "submissions"


def bound(path, component, name):
    """Return what is inferred of a class in a file."""
    source = read(Path(path))
    return inference.bind(candidates(source.module, name, component)[0], source, {})


RIGHT = {
    "lay_student_encoder_block.py": ("encoder_layer", "EncoderBlock", {"norm-order": "post", "activation": "relu"}),
    "lay_vit_pairs.py": ("encoder", "Transformer", {"norm-order": "pre", "final-norm": "always", "biases": "output"}),
    "lay_tiny_gpt_block.py": ("encoder_layer", "Block", {"causality": "always", "hidden-ratio": "4"}),
    "lay_rms_swiglu.py": ("encoder", "Backbone", {"norm-kind": "rms", "gated": "yes", "layer-bias": "no"}),
    "lay_both_orders.py": ("encoder_layer", "TransformerLayer", {"norm-order": "both", "activation": "gelu"}),
    "lay_valid_lengths.py": ("encoder_layer", "TransformerEncoderBlock", {"norm-order": "post"}),
    "lay_gemma_two_block.py": ("encoder_layer", "DecoderBlock", {"norm-order": "sandwich", "rotary-inside": "half"}),
    "lay_res_post_norm.py": ("encoder", "VisionEncoder", {"norm-order": "output", "final-norm": "never"}),
    "lay_gptj_block.py": ("encoder_layer", "GPTJBlock", {"norm-order": "parallel", "rotary-inside": "interleaved"}),
    "lay_neox_block.py": ("encoder_layer", "GPTNeoXLayer", {"norm-order": "parallel-two"}),
    "lay_qwen_three_layer.py": ("encoder_layer", "Qwen3DecoderLayer", {"qk-norm": "rms", "kv-heads": "grouped"}),
    "lay_olmo_two_wide_norms.py": ("encoder_layer", "OlmoBlock", {"norm-order": "output", "qk-norm-over": "width"}),
    "lay_decoder_list.py": ("decoder", "Decoder", {"final-norm": "never", "norm-order": "post"}),
    "lay_first_attention.py": ("token_attention", "TokensToAttention", {"embedding-scale": "none"}),
    "lay_translator_tied.py": ("transformer", "Translator", {"tying": "all", "transformer-scale": "sqrt"}),
}


@pytest.mark.parametrize("file", RIGHT)
def test_a_right_one_is_what_the_reference_is(file):
    component, name, conventions = RIGHT[file]
    found = bound(HERE / "right" / file, component, name)
    assert isinstance(found, Bound), found
    assert found.certified == "reference"
    assert {key: found.draft.declares.get(key) for key in conventions} == conventions


WRONG = {
    "lay_add_then_norm.py": ("encoder_layer", "EncoderLayer", "ENC-norm-of-the-branch"),
    "lay_gemma_norm_on_sum.py": ("encoder_layer", "GemmaLayer", "ENC-sandwich-on-sum"),
    "lay_gptj_one_after_another.py": ("encoder_layer", "ParallelBlock", "ENC-parallel-in-sequence"),
    "lay_olmo_qk_norm_idle.py": ("encoder_layer", "OlmoBlock", "ENC-qk-unnormed"),
    "lay_times_n.py": ("encoder", "DeepEncoder", "ENC-shared-layer"),
    "lay_cross_from_self.py": ("decoder_layer", "DecoderBlock", "DEC-self-fed-unmasked"),
}


@pytest.mark.parametrize("file", WRONG)
def test_a_wrong_one_is_what_a_known_mistake_gives(file):
    component, name, mistake = WRONG[file]
    assert bound(HERE / "wrong" / file, component, name).certified == mistake


def test_the_binding_reads_like_an_adapter():
    body = bound(HERE / "right" / "lay_decoder_layer_mha.py", "decoder_layer", "TransformerDecoderLayer").draft.body
    assert body.startswith("def decoder_layer(config, weights):\n")
    assert '"norm_self.weight": weights["norm1.weight"],' in body
    assert "tgt_mask = None if seen is None else ~one_for_all_samples(one_for_all_heads(seen))" in body


@pytest.mark.parametrize("file", ["right/lay_own_triangle_unless_told.py", "wrong/lay_own_triangle_too_wide.py"])
def test_a_mask_that_is_only_made_where_none_is_given_is_left_to_make(file):
    found = bound(HERE / file, "decoder_layer", "DecoderBlock")
    assert any("tgt_mask (B, 1, L, S) true-keeps, in place of its own" in line for line in found.told)
    assert "seen = None if key_mask is None else allowed(x, x, key_mask, None, True)" in found.draft.body


def test_layers_in_a_plain_list_are_no_parameters():
    found = bound(HERE / "wrong" / "lay_plain_list.py", "encoder", "TransformerEncoder")
    assert isinstance(found, Bound)
    assert found.certified == "reference"
    assert "registered(theirs.TransformerEncoder(" in found.draft.body, "frozen, so that none learns"


def test_what_cannot_be_built_is_refused_with_what_was_tried(tmp_path):
    file = tmp_path / "homework.py"
    file.write_text(
        textwrap.dedent("""
        from torch import nn

        class EncoderLayer(nn.Module):
            def __init__(self, d_model, nhead):
                super().__init__()
                raise RuntimeError("not today")

            def forward(self, x):
                return x
    """)
    )
    refusal = bound(file, "encoder_layer", "EncoderLayer")
    assert isinstance(refusal, Refusal)
    assert "RuntimeError: not today" in refusal.reason
