"""The families: how each model of transformers is made small, and which member of the page its attention is."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from attnconf.reference.attention_family import Member
from attnconf.reports.families import naming

E, D, H, K, V = 36, 10, 6, 2, 40  # width, width of a head (where it is free), heads of queries, of keys; vocabulary
WINDOW = 4
SMALL: dict[str, Any] = {
    "vocab_size": V, "hidden_size": E, "intermediate_size": 28, "num_hidden_layers": 2, "num_attention_heads": H,
    "pad_token_id": 0,
}  # fmt: skip
GROUPED = SMALL | {"num_key_value_heads": K, "head_dim": D}
SLIDING_FIRST = {"sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"]}
Parameters = Mapping[str, Tensor]
Scaling = tuple[tuple[str, float | str], ...]  # as in spec/rotary.md, "Longer than trained"
LONGER = {"rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16}


@dataclass(frozen=True)
class Rotation:
    """How queries and keys are turned: in which pairs, and how many features of a head."""

    pairs: str = "half"  # half, neighbours
    width: int | None = None  # features that turn; None: all
    scaling: Callable[[Any], Scaling] | None = None  # of a configuration, for sequences longer than trained


@dataclass(frozen=True)
class Family:
    """A family of models: its classes in transformers, its small configuration, its member of the page."""

    model: str
    settings: Mapping[str, Any]
    attention: str  # the class of its attention
    layers: tuple[str, ...]  # the classes of its layers
    has: str  # what its attention has beside that of 2017
    member: Callable[[Any, int], Member]  # of a configuration and the number of a layer
    weights: Callable[[Parameters, Any], dict[str, Tensor]] = naming.apart
    rotation: Rotation | None = field(default_factory=Rotation)
    causal: Callable[[str], bool] = lambda path: True  # whether the attention at a path of the model is
    cache: bool = True


def theta(config: Any, layer: int) -> float:
    """Return the base of a layer's frequencies."""
    told = config.rope_parameters
    of_type = told.get(config.layer_types[layer]) if getattr(config, "layer_types", None) else None
    return float((of_type or told)["rope_theta"])


def window(config: Any, layer: int) -> tuple[int | None, int | None] | None:
    """Return the window of a layer: a query sees itself and the keys before it, ``sliding_window`` together."""
    types = getattr(config, "layer_types", None)
    slides = getattr(config, "sliding_window", None) and (types is None or types[layer] == "sliding_attention")
    return (config.sliding_window - 1, 0) if slides else None


def turned(config: Any, layer: int, **others: Any) -> Member:
    """Return a member with grouped heads, rotary positions and the window of a layer, and with others."""
    heads = getattr(config, "num_key_value_heads", None)
    usual = Member(heads, positions="rotary", base=theta(config, layer), window=window(config, layer))
    return replace(usual, **others)


def gemma2(config: Any, layer: int) -> Member:
    scale = config.query_pre_attn_scalar**-0.5
    return turned(config, layer, scale=scale, softcap=config.attn_logit_softcapping)


def gemma3(config: Any, layer: int) -> Member:
    scale = config.query_pre_attn_scalar**-0.5
    return turned(config, layer, scale=scale, qk_norm="rms", qk_norm_eps=config.rms_norm_eps)


def qwen3(config: Any, layer: int) -> Member:
    return turned(config, layer, qk_norm="rms", qk_norm_eps=config.rms_norm_eps)


def olmo2(config: Any, layer: int) -> Member:
    return turned(config, layer, qk_norm="rms", qk_norm_over="width", qk_norm_eps=config.rms_norm_eps)


def gpt_oss(config: Any, layer: int) -> Member:
    return turned(config, layer, sinks="learned")


def gpt_j(config: Any, layer: int) -> Member:
    return Member(positions="rotary", base=10000.0)


def falcon(config: Any, layer: int) -> Member:
    return turned(config, layer, num_kv_heads=1)


def alibi(config: Any, layer: int) -> Member:
    return Member(1, positions="alibi")


def llama3_scaling(config: Any) -> Scaling:
    told = config.rope_parameters
    same = tuple((name, told[name]) for name in ("factor", "low_freq_factor", "high_freq_factor"))
    return (("kind", "llama3"), *same, ("original_max_position", told["original_max_position_embeddings"]))


def yarn_scaling(config: Any) -> Scaling:
    told = config.rope_parameters
    return (
        ("kind", "yarn"), ("factor", told["factor"]), ("beta_fast", 32.0), ("beta_slow", 1.0),
        ("original_max_position", told["original_max_position_embeddings"]),
        ("attention_factor", 0.1 * math.log(told["factor"]) + 1),
    )  # fmt: skip


def of_2017(config: Any, layer: int) -> Member:
    return Member()


FAMILIES: dict[str, Family] = {
    "Llama": Family(
        "LlamaModel", GROUPED | {"attention_bias": True}, "LlamaAttention", ("LlamaDecoderLayer",),
        "grouped heads, rotary", turned,
    ),
    "Llama 3.1": Family(
        "LlamaModel",
        GROUPED
        | {"rope_parameters": LONGER | {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}},
        "LlamaAttention", ("LlamaDecoderLayer",), "grouped heads, rotary scaled by frequency", turned,
        rotation=Rotation(scaling=llama3_scaling),
    ),
    "Mistral": Family(
        "MistralModel", GROUPED | {"sliding_window": WINDOW}, "MistralAttention", ("MistralDecoderLayer",),
        "grouped heads, rotary, window", turned,
    ),
    "Qwen2": Family(
        "Qwen2Model", SMALL | {"num_key_value_heads": K, "rope_parameters": LONGER | {"rope_type": "yarn"}},
        "Qwen2Attention", ("Qwen2DecoderLayer",), "grouped heads, rotary with YaRN", turned,
        rotation=Rotation(scaling=yarn_scaling),
    ),
    "Qwen3": Family(
        "Qwen3Model", GROUPED | {"use_sliding_window": True} | SLIDING_FIRST, "Qwen3Attention", ("Qwen3DecoderLayer",),
        "grouped heads, rotary, RMS norm of queries and keys, window in some layers", qwen3,
        weights=naming.with_gains,
    ),
    "Gemma 2": Family(
        "Gemma2Model", GROUPED | SLIDING_FIRST | {"query_pre_attn_scalar": 17, "attn_logit_softcapping": 3.0},
        "Gemma2Attention", ("Gemma2DecoderLayer",),
        "grouped heads, rotary, scale, soft cap, window in some layers; sandwich norms", gemma2,
    ),
    "Gemma 3": Family(
        "Gemma3TextModel", GROUPED | SLIDING_FIRST | {"query_pre_attn_scalar": 17}, "Gemma3Attention",
        ("Gemma3DecoderLayer",),
        "grouped heads, rotary with two bases, RMS norm of queries and keys, scale, window in some layers", gemma3,
        weights=naming.with_gains_beside_one,
    ),
    "GPT-OSS": Family(
        "GptOssModel",
        GROUPED | SLIDING_FIRST | {
            "num_local_experts": 3, "num_experts_per_tok": 2,
            "experts_implementation": "eager",  # torch's grouped product, the default, has no float64
            "rope_parameters": {"rope_type": "default", "rope_theta": 150000.0},
        },
        "GptOssAttention", ("GptOssDecoderLayer",), "grouped heads, rotary, learned sinks, window in some layers",
        gpt_oss, weights=naming.with_sinks,
    ),
    "Phi-3": Family(
        "Phi3Model", SMALL | {"num_key_value_heads": K, "sliding_window": WINDOW}, "Phi3Attention",
        ("Phi3DecoderLayer",), "grouped heads, rotary, window; one projection for all", turned, weights=naming.stacked,
    ),
    "GPT-NeoX": Family(
        "GPTNeoXModel", SMALL | {"rotary_pct": 0.7}, "GPTNeoXAttention", ("GPTNeoXLayer",),
        "rotary in a part of each head; parallel layers", turned, weights=naming.by_heads, rotation=Rotation(width=4),
    ),
    "GPT-J": Family(
        "GPTJModel",
        {"vocab_size": V, "n_embd": E, "n_inner": 28, "n_layer": 2, "n_head": H, "n_positions": 64, "rotary_dim": 4},
        "GPTJAttention", ("GPTJBlock",), "rotary in a part of each head; parallel layers", gpt_j,
        rotation=Rotation("neighbours", 4),
    ),
    "Falcon": Family(
        "FalconModel", SMALL | {"multi_query": True, "alibi": False, "bias": True}, "FalconAttention",
        ("FalconDecoderLayer",), "one head of keys, rotary; parallel layers", falcon, weights=naming.one_head_of_keys,
    ),
    "Falcon, ALiBi": Family(
        "FalconModel", SMALL | {"multi_query": True, "alibi": True, "bias": True}, "FalconAttention",
        ("FalconDecoderLayer",), "one head of keys, ALiBi", alibi, weights=naming.one_head_of_keys, rotation=None,
    ),
    "OLMo 2": Family(
        "Olmo2Model", SMALL | {"num_key_value_heads": K}, "Olmo2Attention", ("Olmo2DecoderLayer",),
        "grouped heads, rotary, RMS norm of queries and keys over the width; output norms", olmo2,
        weights=naming.with_gains,
    ),
    "Cohere": Family(
        "CohereModel", SMALL | {"num_key_value_heads": K}, "CohereAttention", ("CohereDecoderLayer",),
        "grouped heads, rotary; parallel layers", turned, rotation=Rotation("neighbours"),
    ),
    "BERT": Family(
        "BertModel", SMALL, "BertSelfAttention", ("BertLayer",), "both ways", of_2017, weights=naming.without_output,
        rotation=None, causal=lambda path: False, cache=False,
    ),
    "Whisper": Family(
        "WhisperModel",
        {
            "vocab_size": V, "d_model": E, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": H,
            "decoder_attention_heads": H, "encoder_ffn_dim": 28, "decoder_ffn_dim": 28, "num_mel_bins": 7,
            "max_source_positions": 13, "max_target_positions": 64, "pad_token_id": 0,
        },
        "WhisperAttention", ("WhisperEncoderLayer", "WhisperDecoderLayer"),
        "an encoder, a decoder, and attention from this to that", of_2017, rotation=None,
        causal=lambda path: path.startswith("decoder") and path.endswith("self_attn"),
    ),
}  # fmt: skip
