"""transformers: GPT-2, Llama and Gemma as language models, from ids to logits, a variant for each model.

Configurations are tiny, attention is eager, and the weights of the models are ours.
"""

import torch
import transformers

from attnconf.adapters import bind
from attnconf.adapters.kit.hugging_face import ACTIVATIONS
from attnconf.adapters.kit.weight_names import demand, inside, renamed, stacked

__version__ = transformers.__version__
transformers.logging.set_verbosity_error()  # their advice is meant for those who train models

COMMON = {"attn_implementation": "eager", "use_cache": False, "bos_token_id": None, "eos_token_id": None}


def asked(model, state):
    """Return the call of a model with these weights, from ids and padding to logits."""
    call = bind(model, state)
    return lambda ids, *, key_mask=None: call(input_ids=ids, attention_mask=key_mask).logits


def with_head(config, weights, state, table):
    """Return the state with the table, and with a head where there is one."""
    state = {**state, table: weights["table.weight"]}
    return state if config.tying == "head" else {**state, "lm_head.weight": weights["head.weight"]}


# -- GPT-2


def fused(weights, parts, name):
    """Return layers side by side as one of theirs, whose weights are transposed."""
    return {
        f"{name}.weight": torch.cat([weights[f"{part}.weight"] for part in parts]).T,
        f"{name}.bias": torch.cat([weights[f"{part}.bias"] for part in parts]),
    }


def gpt2_layer(weights):
    state = fused(weights, [f"attn.{part}" for part in "qkv"], "attn.c_attn")
    for ours, theirs in {"attn.out": "attn.c_proj", "ff.up": "mlp.c_fc", "ff.down": "mlp.c_proj"}.items():
        state |= fused(weights, [ours], theirs)
    return state | renamed(weights, {"norm1": "ln_1", "norm2": "ln_2"})


def gpt2(config, weights):
    demand(config, norm_first=True, norm="layer", gated=False, bias=True, final_norm=True, positions="learned")
    demand(config, head_bias=False)
    theirs = transformers.GPT2Config(
        vocab_size=config.vocab_size, n_positions=config.max_len, n_embd=config.embed_dim, n_layer=config.num_layers,
        n_head=config.num_heads, n_inner=config.hidden_dim, activation_function=ACTIVATIONS[config.activation],
        layer_norm_epsilon=config.eps, resid_pdrop=config.dropout, embd_pdrop=config.dropout,
        attn_pdrop=config.dropout, tie_word_embeddings=config.tying == "head", **COMMON,
    )  # fmt: skip
    state = stacked(weights, gpt2_layer, "h") | renamed(weights, {"norm": "ln_f"})
    state = inside("transformer", state | {"wpe.weight": weights["positions.weight"]})
    model = transformers.GPT2LMHeadModel(theirs).train(config.training)
    return asked(model, with_head(config, weights, state, "transformer.wte.weight"))


# -- Llama and Gemma

PROJECTIONS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "out": "o_proj"}
LAYER = {
    **{f"attn.{ours}": f"self_attn.{theirs}" for ours, theirs in PROJECTIONS.items()},
    **{f"ff.{name}": f"mlp.{name}_proj" for name in ("up", "gate", "down")},
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
}  # fmt: skip


def with_rotary(kind, options):
    """Return the component that a kind of model with rotary positions is."""

    def language_model(config, weights):
        demand(config, norm_first=True, norm="rms", gated=True, bias=False, final_norm=True, positions="none")
        demand(config, head_bias=False)
        if config.training and config.dropout:
            raise NotImplementedError("dropout but on attention weights")
        theirs = options(
            vocab_size=config.vocab_size, max_position_embeddings=config.max_len, hidden_size=config.embed_dim,
            num_hidden_layers=config.num_layers, num_attention_heads=config.num_heads,
            num_key_value_heads=config.num_heads, head_dim=config.embed_dim // config.num_heads,
            intermediate_size=config.hidden_dim, hidden_act=ACTIVATIONS[config.activation],
            rms_norm_eps=config.eps, tie_word_embeddings=config.tying == "head", pad_token_id=None, **COMMON,
        )  # fmt: skip
        state = stacked(weights, lambda layer: renamed(layer, LAYER)) | renamed(weights, {"norm": "norm"})
        model = kind(theirs).train(config.training)
        return asked(model, with_head(config, weights, inside("model", state), "model.embed_tokens.weight"))

    return language_model


ROTARY = {
    "norm-order": "pre", "norm-kind": "rms", "gated": "yes", "layer-bias": "no", "final-norm": "always",
    "added-positions": "none", "rotary-inside": "half",
}  # fmt: skip
variants = {
    "gpt2": {
        "language_model": gpt2,
        "declares": {
            "norm-order": "pre", "norm-kind": "layer", "gated": "no", "final-norm": "always",
            "activation": "gelu-tanh", "added-positions": "learned",
        },
    },
    "llama": {
        "language_model": with_rotary(transformers.LlamaForCausalLM, transformers.LlamaConfig),
        "declares": {**ROTARY, "activation": "silu"},
    },
    "gemma": {
        "language_model": with_rotary(transformers.GemmaForCausalLM, transformers.GemmaConfig),
        "declares": {
            **ROTARY, "activation": "gelu-tanh", "rms-norm-weight": "one-plus", "embedding-scale": "sqrt",
        },
    },
}  # fmt: skip
