"""The shipped adapters of language models, against the libraries' own forward with weights that are drawn by it."""

import pytest
import torch
import transformers
from shipped import shipped

from attnconf.adapters import reference
from attnconf.adapters.contract import LanguageModelConfig
from attnconf.conformance.chapters.language_model.stimuli import USUAL, model
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.trials.trial import textbook

torch.set_num_threads(1)
NAMES = [f"transformers_language_models:{name}" for name in ("gpt2", "llama", "gemma")]


@pytest.mark.parametrize("tying", ["none", "head"])
@pytest.mark.parametrize("name", NAMES)
def test_as_the_reference(name, tying):
    subject = Subject(shipped(name), "language_model", "direct")
    block = model(subject, USUAL[0], layers=2, final_norm=True, tying=tying)
    want = in_conventions(textbook(), subject.declares).components["language_model"](block.config, block.weights)
    got = subject.implementation.components["language_model"](block.config, block.weights)
    torch.testing.assert_close(
        got(block.inputs["ids"]), want(block.inputs["ids"]), atol=2e-5, rtol=1e-6
    )  # norms in float32


def test_the_reference_is_a_gpt2_that_transformers_has_drawn_itself():
    """Without the adapter: their weights are read off their model, by hand."""
    torch.manual_seed(0)
    theirs = transformers.GPT2Config(vocab_size=13, n_positions=9, n_embd=8, n_layer=2, n_head=2, initializer_range=0.5)
    model = transformers.GPT2LMHeadModel(theirs).double().eval()
    weights = {"table.weight": model.transformer.wte.weight, "positions.weight": model.transformer.wpe.weight}
    weights |= {f"norm.{kind}": p for kind, p in model.transformer.ln_f.named_parameters()}
    for i, block in enumerate(model.transformer.h):
        for part, weight, bias in zip(
            "qkv", block.attn.c_attn.weight.chunk(3, 1), block.attn.c_attn.bias.chunk(3), strict=True
        ):
            weights |= {f"layers.{i}.attn.{part}.weight": weight.T, f"layers.{i}.attn.{part}.bias": bias}
        parts = {"attn.out": block.attn.c_proj, "ff.up": block.mlp.c_fc, "ff.down": block.mlp.c_proj}
        for ours, layer in parts.items():
            weights |= {f"layers.{i}.{ours}.weight": layer.weight.T, f"layers.{i}.{ours}.bias": layer.bias}
        for ours, norm in {"norm1": block.ln_1, "norm2": block.ln_2}.items():
            weights |= {f"layers.{i}.{ours}.{kind}": p for kind, p in norm.named_parameters()}
    config = LanguageModelConfig(
        8, 2, 32, True, activation="gelu-tanh", num_layers=2, final_norm=True, vocab_size=13, max_len=9, tying="head"
    )
    ids = torch.tensor([[3, 1, 12, 0, 3], [7, 7, 2, 5, 9]])
    with torch.no_grad():
        got = reference.language_model(config, weights)(ids)
        torch.testing.assert_close(got, model(ids).logits, atol=1e-10, rtol=1e-10)
