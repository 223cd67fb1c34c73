"""The shipped adapters: what is expected of each, and each itself, loaded when a test first wants it.

Libraries take seconds to import: nothing is loaded while tests are collected, as the table below says what there is.
"""

from functools import cache
from importlib.util import find_spec

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.run.implementations import load

FLASH = "no dropout and no gradient of a bias on the CPU: NotImplementedError, in torch's words"
MISMATCH = "takes values that do not fit the keys (pytorch#193728)"
TWO_WAYS = "gives a row without keys NaN or zeros, by need_weights (pytorch#160064)"
CAST = "module.to(bfloat16) rounds the frequencies (transformers#25681)"
FROM_TWO = "right, and declared to count from 2 (fairseq#1177)"


def right(implementation, why, components):
    """Return the entries of an implementation that conforms on these components."""
    return {(implementation, component): ("conformant", set(), why) for component in components.split()}


# (implementation, component): verdict, the MUSTs at the root of it, and why
EXPECTED = {
    **{("reference", component): ("conformant", set(), "the formula itself") for component in COMPONENTS},
    ("torch_nn", "attention"): ("conformant", set(), MISMATCH),
    ("torch_nn", "multi_head_attention"): ("conformant", set(), TWO_WAYS),
    ("torch_sdpa:math", "attention"): ("conformant", set(), "the textbook in C++"),
    ("torch_sdpa:math", "multi_head_attention"): ("conformant", set(), "the textbook in C++"),
    ("torch_sdpa:flash", "attention"): ("incomplete", set(), FLASH),
    ("torch_sdpa:flash", "multi_head_attention"): ("incomplete", set(), FLASH),
    ("einops_separate", "multi_head_attention"): ("conformant", set(), "right, with -inf in hidden scores"),
    ("projected_torch", "multi_head_attention"): ("conformant", set(), TWO_WAYS),
    ("fused_per_head", "multi_head_attention"): ("conformant", set(), "right, for self-attention"),
    ("fused_zero_one_mask", "multi_head_attention"): ("conformant", set(), "-1e9 hides all scores above -1e5"),
    ("causal_narrowing", "multi_head_attention"): ("conformant", set(), "right, for causal self-attention"),
    **right("torch_compile", "the formula, compiled where it is large", "attention multi_head_attention rotary "
            "layer_norm rms_norm encoder_layer"),
    **right("torch_nn_slow_path", "as with it", "encoder_layer"),
    ("torch_nn_slow_path", "multi_head_attention"): ("conformant", set(), TWO_WAYS),
    ("flex_attention", "attention"): ("incomplete", set(), "no gradients on the CPU, no dropout"),
    ("ring_cache", "cached_attention"): ("conformant", set(), "right, a ring of slots"),
    ("transformers_cache", "cached_attention"): ("conformant", set(), "right, but for an empty batch"),
    # positions and coordinates
    ("torch_nn", "learned"): ("conformant", set(), "nn.Embedding"),
    ("rotary_embedding_torch", "rotary"): (
        "conformant", set(), "positions in the dtype of the input"),
    ("transformers_rotary:llama", "rotary"): ("conformant", set(), CAST),
    ("transformers_rotary:llama", "rotary_attention"): ("conformant", set(), "right, with frequencies in float32"),
    ("transformers_rotary:gpt_neox", "rotary"): ("conformant", set(), CAST),
    ("transformers_rotary:gptj", "rotary"): ("conformant", set(), "a table made in float32, read by torch.gather"),
    ("transformers_sinusoidal:marian", "sinusoidal"): ("conformant", set(), "a table made in float64"),
    ("transformers_sinusoidal:distilbert", "sinusoidal"): ("conformant", set(), "a table made in float64"),
    ("transformers_sinusoidal:m2m_100", "sinusoidal"): ("conformant", set(), FROM_TWO),
    ("transformers_sinusoidal:speech_to_text", "sinusoidal"): ("conformant", set(), FROM_TWO),
    ("transformers_sinusoidal:musicgen", "sinusoidal"): ("conformant", set(), "cosines first, from position 0"),
    ("transformers_sinusoidal:pegasus_x", "sinusoidal"): ("conformant", set(), "angles in bfloat16"),
    ("transformers_sinusoidal:speecht5", "sinusoidal"): ("conformant", set(), "a table made in float32"),
    ("transformers_sinusoidal:detr", "sinusoidal_2d"): (
        "conformant", set(), "counting from 1 is declared; it takes the width of one axis"),
    ("transformers_sinusoidal:rt_detr", "sinusoidal_2d"): ("conformant", set(), "computed in float64"),
    ("transformers_learned:bart", "learned"): ("conformant", set(), "two rows in front, as declared"),
    ("transformers_learned:opt", "learned"): ("conformant", set(), "two rows in front, as declared"),
    ("transformers_learned:whisper", "learned"): (
        "conformant", set(), "position -1 is the last row, and slices end early"),
    ("transformers_bias:bloom", "alibi"): ("conformant", set(), "slope times key, which the softmax cannot tell apart"),
    ("transformers_bias:bloom", "alibi_attention"): ("conformant", set(), "right, with a softmax in float32"),
    ("transformers_bias:mpt", "alibi"): ("conformant", set(), "the published slopes, sorted another way"),
    ("transformers_bias:mpt", "alibi_attention"): ("conformant", set(), "right, with a softmax in float32"),
    ("transformers_bias:falcon", "alibi"): (
        "nonconformant", {"ALIBI-LONG-1", "ALIBI-SLOPE-1"}, "slopes and products in bfloat16"),
    ("transformers_bias:falcon", "alibi_attention"): (
        "nonconformant", {"ALIBI-LONG-1", "ALIBI-WIDTH-1"}, "the bias is divided by √E with the scores"),
    ("transformers_bias:t5", "relative_bias"): ("conformant", set(), "where the formula comes from"),
    ("transformers_bias:t5", "relative_bias_attention"): ("conformant", set(), "where the formula comes from"),
    ("x_transformers", "rotary"): (
        "conformant", set(), CAST),
    ("x_transformers", "sinusoidal"): ("conformant", set(), CAST),
    ("x_transformers", "learned"): ("nonconformant", {"LRN-ROW-1"}, "rows are divided by √dim"),
    ("x_transformers", "alibi"): ("conformant", set(), "the published slopes"),
    ("x_transformers", "relative_bias"): ("conformant", set(), "the last query at the last key, as declared"),
    ("positional_encodings", "sinusoidal"): ("conformant", set(), CAST),
    ("positional_encodings", "sinusoidal_2d"): ("conformant", set(), "other widths are rounded up, and cut"),
    ("torchtune_rotary", "rotary"): ("conformant", set(), "a table made in float32"),
    ("timm_layers:interleaved", "rotary"): ("conformant", set(), "frequencies are made anew after module.to"),
    ("timm_layers:interleaved", "sinusoidal_2d"): ("conformant", set(), "a table made in float32"),
    ("timm_layers:half", "rotary"): ("conformant", set(), "frequencies are made anew after module.to"),
    # layers, norms, networks, tokens
    **right("torch_nn", "torch's own, in both orders of norm and sublayer", "layer_norm rms_norm feed_forward "
            "encoder_layer encoder decoder_layer decoder encoder_decoder token_embedding"),
    **right("textbook_modules", "written out from the formulas", "sinusoidal layer_norm feed_forward encoder_layer "
            "encoder decoder_layer decoder encoder_decoder transformer token_embedding token_attention"),
    **right("coordinate_modules", "written out from the formulas", "fourier coordinate_mlp"),
    **right("transformers_layers:bert", "post-norm, exact GELU", "encoder_layer encoder decoder_layer decoder"),
    **right("transformers_layers:vit", "pre-norm, exact GELU, no masks", "feed_forward encoder_layer"),
    **right("transformers_layers:bart", "post-norm, rows times √d", "encoder_layer decoder_layer token_embedding"),
    **right("transformers_layers:gpt2", "pre-norm, tanh GELU, causal", "encoder_layer encoder decoder_layer decoder"),
    ("transformers_layers:gpt2", "feed_forward"): ("conformant", set(), "Conv1D takes a view"),
    **right("transformers_rms_layers:llama", "pre-norm, RMS, SwiGLU, causal, no biases",
            "rms_norm feed_forward encoder_layer encoder"),
    **right("transformers_rms_layers:gemma", "as Llama, with 1 + w", "rms_norm feed_forward encoder_layer encoder "
            "token_embedding"),
    **right("transformers_rms_layers:t5", "pre-norm, RMS, ReLU, no scale", "rms_norm feed_forward encoder_layer "
            "encoder decoder_layer decoder encoder_decoder"),
    **right("transformers_rms_layers:t5_gated", "as T5, with a gate", "rms_norm feed_forward encoder_layer encoder "
            "decoder_layer decoder encoder_decoder"),
    **right("transformers_language_models:gpt2", "learned positions, pre-norm, tied or not", "language_model"),
    **right("transformers_language_models:llama", "rotary positions, RMS, SwiGLU", "language_model"),
    **right("transformers_language_models:gemma", "as Llama, with rows times √d and 1 + w", "language_model"),
    **right("x_transformers_layers:pre", "pre-norm", "feed_forward encoder_layer encoder decoder_layer decoder"),
    **right("x_transformers_layers:post", "post-norm", "feed_forward encoder_layer encoder decoder_layer decoder"),
    ("x_transformers_layers:pre", "token_embedding"): ("conformant", set(), "ids are cut to integers"),
    **right("x_transformers_layers:rms", "a gate", "feed_forward"),
    ("x_transformers_layers:rms", "rms_norm"): ("nonconformant", {"RMS-EPS-2"}, "there is no ε"),
    **right("keras_layers", "right, in float32 at least", "layer_norm rms_norm feed_forward"),
    ("keras_layers", "multi_head_attention"): ("incomplete", set(), "no additive bias"),
    ("keras_layers", "token_embedding"): (
        "conformant", set(), "ids are cast to int32, and count from the end"),
    **right("equinox_layers", "right, in JAX", "layer_norm rms_norm feed_forward"),
    ("equinox_layers", "multi_head_attention"): ("incomplete", set(), "no additive bias"),
    ("equinox_layers", "token_embedding"): ("conformant", set(), "JAX clamps indices"),
    **right("flax_layers", "right, in JAX", "rms_norm"),
    ("flax_layers", "layer_norm"): ("conformant", set(), "use_fast_variance: E[x²] - E[x]²"),
    ("flax_layers", "attention"): ("incomplete", set(), "no scale of one's own"),
    ("flax_layers", "multi_head_attention"): ("incomplete", set(), "no additive bias"),
    ("flax_layers", "token_embedding"): ("conformant", set(), "jnp.take fills with NaN"),
    **right("tokenizers_library", "merges in order of frequency", "bpe_trainer"),
    ("tokenizers_library", "tokenizer"): (
        "conformant", set(), "without an unknown token characters are dropped"),
    ("tokenizers_library", "detokenizer"): ("conformant", set(), "ids out of range are dropped"),
    ("jax_nn", "attention"): ("incomplete", set(), "no dropout"),
    **right("haiku_layers", "right, in JAX", "layer_norm rms_norm feed_forward"),
    ("haiku_layers", "multi_head_attention"): ("incomplete", set(), "no additive bias, no dropout"),
    ("haiku_layers", "token_embedding"): ("conformant", set(), "JAX clamps indices"),
    ("mlx_layers:half", "attention"): ("incomplete", set(), "no dropout"),
    ("mlx_layers:half", "multi_head_attention"): ("incomplete", set(), "no dropout"),
    **right("mlx_layers:half", "right, with frequencies in float32", "sinusoidal"),
    **right("mlx_layers:half", "right, in float32 at least", "rotary alibi rms_norm layer_norm encoder_layer encoder"),
    **right("mlx_layers:interleaved", "right, in float32 at least", "rotary sinusoidal"),
    ("onnx_reference:half", "attention"): (
        "nonconformant", {"MASK-AND-1", "ATT-SCALE-2"}, "a causal mask with the rows of the mask beside it; √scale"),
    **right("onnx_reference:half", "written out from the operators' text", "rotary layer_norm rms_norm"),
    ("onnx_reference:half", "token_embedding"): ("conformant", set(), "Gather counts from the end"),
    **right("onnx_reference:interleaved", "written out from the operator's text", "rotary"),
    **right("curated_layers:self", "right, for self-attention", "multi_head_attention"),
    ("curated_layers:parts", "attention"): (
        "nonconformant", {"MASK-CAUSAL-2"}, "with more queries than keys the causal mask is another"),
    ("curated_layers:parts", "sinusoidal"): ("nonconformant", {"CALL-DTYPE-1"}, "the table is no buffer"),
    ("curated_layers:parts", "rotary"): ("conformant", set(), CAST),
    **right("curated_layers:parts", "right, in float32", "alibi alibi_attention rms_norm"),
    **right("curated_layers:parts", "PyTorch's layers", "feed_forward encoder_layer"),
    ("subword_nmt_library", "tokenizer"): ("conformant", set(), "its segment_tokens"),
    ("subword_nmt_library", "bpe_trainer"): (
        "nonconformant", {"TOK-TRAIN-5", "TOK-TRAIN-7"}, "words without a pair raise"),
    **right("timm_layers:vit", "PyTorch's norm and a pre-norm block", "layer_norm feed_forward encoder_layer"),
    **right("timm_layers:swiglu", "SwiGLU", "rms_norm feed_forward"),
}  # fmt: skip

# What wants more than there is on every machine, and the packages that it wants.
NOT_ALWAYS_THERE = {
    "timm_layers": ("timm", "torchvision"),
    "torchtune_rotary": ("torchtune", "torchao"),
    "flash_attn": ("flash_attn",),
}


def there(adapter):
    """Return whether the packages of an adapter are installed."""
    return all(find_spec(package) for package in NOT_ALWAYS_THERE.get(adapter, ()))


def having(*components):
    """Return the names of the implementations that have a component, with it, of adapters that are there."""
    return [(name, c) for name, c in EXPECTED if c in components and there(name.partition(":")[0])]


@cache
def variants(adapter):
    """Return the implementations of an adapter by name."""
    return {implementation.name: implementation for implementation in load(adapter)}


def shipped(name):
    """Return an implementation by its name, "adapter" or "adapter:variant"."""
    return variants(name.partition(":")[0])[name]
