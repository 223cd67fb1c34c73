"""The contract between the suite and an adapter: configurations, weights, and the call.

An adapter is a Python module with one function for each component that it implements, of the component's name:
``attention(config, weights)``, ``rotary(config, weights)``, …. The function returns a callable ``forward``. An adapter
needs to import nothing from here, as configurations are handed to it. ``COMPONENTS`` has a record of each component.

Attention returns ``out``, or ``(out, weights)`` if and only if ``need_weights`` is true. Masks are boolean, True = may
attend:

    key_mask   (B, S)
    attn_mask  broadcastable to (B, H, L, S)
    attn_bias  float, broadcastable to (B, H, L, S), added to the scaled scores

``positions``, (L,) or (B, L), int64, are the positions of the tokens, in tokens; by default 0, 1, …, L - 1.

A keyword is only passed when a check needs it. For an option that is not supported, the function or ``forward`` raises
``NotImplementedError("in words")``. Components that write text return ids, text or merges instead of a tensor.

Dtype and device are those of the weights and inputs, or ``config.dtype`` and ``config.device`` if a configuration has
them: the module is then built, and moved with ``module.to``. Weights and inputs must not be changed in place.

This file is long because it is read as one page, and because ``conformance.engine.catalogue`` reads it without torch:
first the configurations, then the record of each component, then the conventions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]
Forward = Callable[..., Any]
Build = Callable[[Any, Weights], Forward]  # the function of an adapter: (config, weights) -> forward


@dataclass(frozen=True)
class AttentionConfig:
    """Scaled dot-product attention: query (B, H, L, E), key (B, H, S, E), value (B, H, S, F), out (B, H, L, F).

    ``weights`` is empty: this component has no parameters.
    """

    scale: float | None = None  # None: 1/√E
    causal: bool = False
    dropout: float = 0.0  # probability, on the attention weights, in training only
    training: bool = False


@dataclass(frozen=True)
class CausalMaskConfig:
    """A causal mask: out (L, S), in ``dtype``: 1 where a query may attend to a key, 0 where it may not."""

    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class PaddingMaskConfig:
    """A mask of padding, or of padding and causality: out (B, L, L), likewise; L = ``length``, in tokens.

    ``tokens`` says what is padding, as ``padding_from`` has it: "ids", (B, L), int64, the id ``padding_id`` is that of
    padding; "lengths", (B,), int64, in tokens. Rows of queries that are padding may be anything.
    """

    length: int
    padding_id: int = 0
    padding_from: str = "ids"
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class MultiHeadAttentionConfig:
    """Multi-head attention: query (B, L, embed_dim), key (B, S, key_dim), value (B, S, value_dim), out (B, L, out_dim).

    Weights, with W = num_heads · head_dim, stored as ``torch.nn.Linear`` stores them:
    ``q.weight`` (W, embed_dim), ``k.weight`` (W, key_dim), ``v.weight`` (W, value_dim), ``out.weight`` (out_dim, W);
    with ``bias`` also ``q.bias``, ``k.bias``, ``v.bias`` (W,) and ``out.bias`` (out_dim,). What declares that it has no
    ``output-projection`` is handed the identity as ``out.weight``, and leaves it alone; likewise one head as wide as
    the model, of what declares that it has no ``one-head-projection``.
    Returned attention weights have shape (B, num_heads, L, S).

    What the family has besides (spec/attention_family.md) is asked only of what declares it: ``kv-heads``,
    ``score-scale``, ``score-cap``, ``window``, ``rotary-part``. With ``num_kv_heads`` K the projections of keys and
    values have K heads: ``k.weight`` (K · head_dim, key_dim), ``v.weight`` (K · head_dim, value_dim). The entries from
    ``positions`` to ``gate`` are what is declared as ``positions-inside``, ``qk-norm``, ``qk-norm-over``,
    ``qk-norm-place``, ``sinks`` and ``output-gate``: an implementation is asked for no other, nor for
    ``relative_values`` other than ``relative-values`` says. Their weights:
    ``q_norm.weight`` and ``k_norm.weight``, (head_dim,) or of the whole width, and of a layer norm the biases beside
    them; ``relative.weight`` (32, num_heads); ``relative_keys.weight`` and, with relative values,
    ``relative_values.weight``, (2 · max_offset + 1, head_dim);
    ``sinks`` (num_heads,); ``gate.weight``, (W, embed_dim) or (num_heads, embed_dim).
    """

    embed_dim: int
    num_heads: int
    head_dim: int
    key_dim: int
    value_dim: int
    out_dim: int
    bias: bool = True
    causal: bool = False
    dropout: float = 0.0  # probability, on the attention weights, in training only
    training: bool = False
    num_kv_heads: int | None = None  # heads of keys and values, a divisor of num_heads; None: num_heads
    scale: float | None = None  # None: 1/√head_dim
    softcap: float | None = None  # c: a score s becomes c·tanh(s/c), before masks and biases
    window: tuple[int | None, int | None] | None = None  # keys seen before and after the query's own; None: all
    positions: str = "none"  # inside: none, rotary, alibi, relative-bias, shaw
    base: float = 10000.0  # of a rotation
    qk_norm: str = "none"  # none, rms, layer
    qk_norm_over: str = "head"  # each head by itself, or the width of all heads together
    qk_norm_place: str = "before"  # the rotation, or after it
    qk_norm_eps: float = 1e-6  # of these norms
    sinks: str = "none"  # none, learned, add-one
    gate: str = "none"  # none, features, heads
    rotary_dim: int | None = None  # features of each head that a rotation turns; None: all
    relative_values: str = "no"  # no, yes: where positions are shaw, values get vectors of offsets, too
    max_offset: int = 2  # k: where positions are shaw, keys that are farther from the query are as those at k


@dataclass(frozen=True)
class CachedAttentionConfig(MultiHeadAttentionConfig):
    """Causal self-attention with a cache: x (B, T, embed_dim), T new tokens, out (B, T, out_dim).

    Weights and entries are those of multi-head attention; all widths of inputs are ``embed_dim``, ``causal`` is true,
    and a window has no right side. The function returns an object with methods, and nobody but they looks into a cache:

        empty(batch) -> cache                                           of no tokens
        step(x, cache, *, key_mask=None, positions=None) -> (out, cache)
        reorder(cache, order) -> cache                                  optional; order (B,), int64
        poison(cache) -> cache                                          optional; NaN in what is not used

    ``key_mask`` and ``positions`` are those of the new tokens, (B, T); positions are a rotation's, and by default go
    on where the cache ends. A caller gives them in each step, or in none.
    """

    max_len: int = 64  # the longest sequence that must work, in tokens


@dataclass(frozen=True)
class PackedAttentionConfig(MultiHeadAttentionConfig):
    """Self-attention within each document of a row: x (B, L, embed_dim), out (B, L, out_dim).

    Weights and entries are those of multi-head attention; all widths of inputs are ``embed_dim``. ``documents`` says
    which tokens belong together, as ``packing`` has it: "segment-ids", (B, L), int64, equal within a document, or
    "cu-seqlens", (n + 1,), int32, where documents begin, from 0, and at the end L: then B is 1.
    """

    packing: str = "segment-ids"


@dataclass(frozen=True)
class SinusoidalConfig:
    """Sinusoidal positions: x (B, L, dim), out (B, L, dim)."""

    dim: int
    max_len: int = 64  # the longest sequence that must work, in tokens
    base: float = 10000.0
    dropout: float = 0.0  # probability, on the output, in training only
    training: bool = False
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class Sinusoidal2dConfig:
    """Sinusoidal positions on a grid: out (height, width, dim)."""

    dim: int
    base: float = 10000.0
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class LearnedConfig:
    """Learned positions: x (B, L, dim), out (B, L, dim).

    Weights: ``table.weight`` (max_len + offset, dim), where offset is what ``learned-offset`` declares (0).
    """

    dim: int
    max_len: int
    dropout: float = 0.0  # probability, on the output, in training only
    training: bool = False


@dataclass(frozen=True)
class RotaryConfig:
    """Rotary positions: x (B, H, L, head_dim), out of the same shape.

    ``scaling``: None, or pairs of a name and its value: ("kind", "linear" | "ntk" | "yarn" | "llama3") first, then
    ("factor", …) and all other numbers of that kind, in the order of spec/rotary.md. For a kind that it lacks, an
    adapter raises NotImplementedError.
    """

    head_dim: int
    rotary_dim: int  # features that are turned, an even number; the others pass
    base: float = 10000.0
    scaling: tuple[tuple[str, float | str], ...] | None = None
    max_len: int = 64  # the longest sequence that must work, in tokens
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class RotaryAttentionConfig:
    """Self-attention with rotary positions in queries and keys: query, key, value and out (B, H, L, head_dim)."""

    num_heads: int
    head_dim: int
    base: float = 10000.0
    causal: bool = False
    max_len: int = 64
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class AlibiConfig:
    """ALiBi: the bias (num_heads, L, S) that is added to the scaled scores.

    With ``causal``, entries of keys later than their query are not compared.
    """

    num_heads: int
    causal: bool = True
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class AlibiAttentionConfig:
    """Self-attention with ALiBi: query, key, value and out (B, H, L, head_dim)."""

    num_heads: int
    head_dim: int
    causal: bool = True
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class RelativeBiasConfig:
    """T5's bias (num_heads, L, S). Weights: ``table.weight`` (num_buckets, num_heads)."""

    num_heads: int
    num_buckets: int = 32
    max_distance: int = 128  # in tokens; larger distances share a bucket
    bidirectional: bool = True


@dataclass(frozen=True)
class RelativeBiasAttentionConfig:
    """Attention with T5's bias: query and out (B, H, L, head_dim), key and value (B, H, S, head_dim).

    Weights: ``table.weight`` (num_buckets, num_heads). With ``cross`` there are none, and keys have no positions.
    """

    num_heads: int
    head_dim: int
    num_buckets: int = 32
    max_distance: int = 128
    causal: bool = False  # if causal, all buckets are for earlier keys
    cross: bool = False


@dataclass(frozen=True)
class FourierConfig:
    """Fourier features of coordinates: x (…, in_dim), out (…, width).

    The width is 2 · in_dim · len(frequencies), and in_dim more where the input is kept.
    """

    in_dim: int
    frequencies: tuple[float, ...]
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(frozen=True)
class RandomFourierConfig:
    """Random Fourier features: x (…, in_dim), out (…, 2 · num_features).

    Weights: ``projection`` (num_features, in_dim), not trained.
    """

    in_dim: int
    num_features: int


@dataclass(frozen=True)
class CoordinateMlpConfig:
    """Fourier features, then linear layers with ReLU between them: x (N, in_dim), out (N, out_dim).

    Weights, as ``torch.nn.Linear`` stores them: ``0.weight``, ``0.bias``, ``1.weight``, …, the last one to out_dim.
    The first layer is as wide as the features, in the order that ``fourier-order`` declares.
    """

    in_dim: int
    frequencies: tuple[float, ...]
    hidden: tuple[int, ...] = (256, 128, 64)
    out_dim: int = 3


@dataclass(frozen=True)
class LayerNormConfig:
    """Layer normalization over the last axes: x (…, *shape), out of the same shape.

    Weights, where ``affine``: ``weight`` (shape) and, where ``bias``, ``bias`` (shape).
    """

    shape: tuple[int, ...]
    eps: float = 1e-5
    affine: bool = True
    bias: bool = True
    norm_variance: str = "biased"  # what layer-norm-variance declares
    norm_eps: str = "inside"  # what layer-norm-eps declares


@dataclass(frozen=True)
class RmsNormConfig:
    """Root mean square normalization over the last axis: x (…, dim), out likewise. Weights: ``weight`` (dim,)."""

    dim: int
    eps: float = 1e-6
    rms_eps: str = "inside"  # what rms-norm-eps declares


@dataclass(frozen=True)
class FeedForwardConfig:
    """Position-wise feed-forward network: x (B, L, embed_dim), out of the same shape.

    Weights, as ``torch.nn.Linear`` stores them: ``up.weight`` (hidden_dim, embed_dim), ``down.weight`` (embed_dim,
    hidden_dim), with ``gated`` also ``gate.weight`` (hidden_dim, embed_dim); with ``bias`` also ``up.bias``,
    ``gate.bias`` (hidden_dim,) and ``down.bias`` (embed_dim,).
    """

    embed_dim: int
    hidden_dim: int
    activation: str = "relu"  # or gelu (exact), gelu-tanh, quick-gelu, silu, sigmoid, none
    gated: bool = False
    bias: bool = True
    dropout: float = 0.0  # probability, on the activated hidden features, in training only
    training: bool = False


@dataclass(frozen=True)
class EncoderLayerConfig:
    """One encoder layer: x (B, L, embed_dim), out of the same shape.

    Weights: those of multi-head attention under ``attn.`` (``attn.q.weight`` (embed_dim, embed_dim), …), those of the
    feed-forward network under ``ff.``, and ``norm1.weight``, ``norm2.weight`` (embed_dim,) for the norms beside
    attention and feed-forward; with ``bias`` and norm "layer" also ``norm1.bias``, ``norm2.bias``.
    Without ``bias`` nothing has a bias. With ``placement`` "sandwich" there are also ``norm1_out`` and ``norm2_out``,
    of what attention and feed-forward give; with "parallel" there is no ``norm2``.

    What attention has besides is as in multi-head attention, and asked only of what declares it: ``num_kv_heads`` where
    ``kv-heads`` is declared, norms of queries and keys, with ``eps``, where ``qk-norm`` is, and ``head_dim``,
    ``score_scale``, ``score_cap`` and ``window`` where ``head-dim``, ``score-scale``, ``score-cap`` and ``window`` are.
    So it is of factors on what the sublayers add, ``scale1.weight`` and ``scale2.weight``, where ``branch-scale`` is:
    (embed_dim,) each with "vector", (1,) with "scalar"; with "one-scalar" there is ``scale1.weight`` alone.
    T5's relative bias, where ``score-bias`` is declared, has the weight ``attn.relative.weight`` (32, num_heads).
    """

    embed_dim: int
    num_heads: int  # each embed_dim / num_heads wide, or head_dim
    hidden_dim: int
    norm_first: bool = False  # x + f(norm(x)); else norm(x + f(x))
    norm: str = "layer"  # or rms
    eps: float = 1e-5
    activation: str = "relu"
    gated: bool = False
    bias: bool = True
    causal: bool = False
    dropout: float = 0.0  # on attention weights, hidden features and sublayer outputs, in training only
    training: bool = False
    norm_variance: str = "biased"  # of layer norms: what layer-norm-variance declares
    norm_eps: str = "inside"  # what layer-norm-eps declares
    rms_eps: str = "inside"  # of RMS norms: what rms-norm-eps declares
    rotary: bool = False  # queries and keys are turned by their places, with base 10000: what rotary-inside declares
    rotary_dim: int | None = None  # how many features of a head are turned, an even number; None: all
    placement: str | None = None  # of norms: sandwich, output, parallel, parallel-two; None: as norm_first says
    num_kv_heads: int | None = None  # heads of keys and values, a divisor of num_heads; None: num_heads
    qk_norm: str = "none"  # none, rms, layer: what qk-norm declares
    qk_norm_over: str = "head"  # each head by itself, or the width of all heads together
    qk_norm_place: str = "before"  # the rotation, or after it
    head_dim: int | None = None  # the width of a head; None: embed_dim / num_heads
    score_scale: float | None = None  # what q·k is multiplied by; None: 1/√head_dim
    score_cap: float | None = None  # c: a score s becomes c·tanh(s/c), before masks
    window: tuple[int | None, int | None] | None = None  # keys seen before and after the query's own; None: no end
    branch_scale: str = "none"  # none, vector, scalar, one-scalar: learned factors on what sublayers add
    score_bias: str = "none"  # none, both-ways, one-way: T5's relative bias; one-way: later keys have no buckets


@dataclass(frozen=True)
class EncoderConfig(EncoderLayerConfig):
    """A stack of encoder layers: x (B, L, embed_dim), out of the same shape.

    Weights: those of layer i under ``layers.i.``, and with ``final_norm`` those of a last norm under ``norm.``.
    A relative bias is that of all layers: ``relative.weight`` (32, num_heads), and no layer has one of its own.
    """

    num_layers: int = 2
    final_norm: bool = False


@dataclass(frozen=True)
class DecoderLayerConfig:
    """One decoder layer: x (B, L, embed_dim), memory (B, S, embed_dim), out (B, L, embed_dim). Always causal.

    Weights: attention of the targets to themselves under ``self.``, to the memory under ``cross.``, feed-forward
    under ``ff.``, and the norms beside them, in this order, under ``norm1.``, ``norm2.``, ``norm3.``.
    """

    embed_dim: int
    num_heads: int
    hidden_dim: int
    norm_first: bool = False
    norm: str = "layer"
    eps: float = 1e-5
    activation: str = "relu"
    gated: bool = False
    bias: bool = True
    dropout: float = 0.0
    training: bool = False
    norm_variance: str = "biased"
    norm_eps: str = "inside"
    rms_eps: str = "inside"


@dataclass(frozen=True)
class DecoderConfig(DecoderLayerConfig):
    """A stack of decoder layers, its weights under ``layers.i.`` and, with ``final_norm``, ``norm.``."""

    num_layers: int = 2
    final_norm: bool = False


@dataclass(frozen=True)
class EncoderDecoderConfig(DecoderLayerConfig):
    """Encoder and decoder on vectors: source (B, S, embed_dim), target (B, L, embed_dim), out (B, L, embed_dim).

    Weights: those of an encoder under ``encoder.``, of a decoder under ``decoder.``.
    """

    num_encoder_layers: int = 2
    num_decoder_layers: int = 2
    final_norm: bool = False  # of both


@dataclass(frozen=True)
class TransformerConfig(EncoderDecoderConfig):
    """The Transformer: source ids (B, S), target ids (B, L), int64; out: logits (B, L, vocab_size).

    Weights: ``encoder.`` and ``decoder.`` as above, ``source.weight``, ``target.weight`` and ``head.weight``, all
    (vocab_size, embed_dim). ``tying`` "head": the head is the target's table, without ``head.weight``; "all": there is
    ``target.weight`` alone. Positions are sinusoidal.
    """

    vocab_size: int = 16
    tying: str = "none"  # or head, all
    max_len: int = 64  # the longest sequence that must work, in tokens


@dataclass(frozen=True)
class LanguageModelConfig(EncoderConfig):
    """A language model: ids (B, L), int64; out: logits (B, L, vocab_size). Always causal.

    Weights: ``table.weight`` (vocab_size, embed_dim); those of a stack of encoder layers, ``layers.0.``, …, and with
    ``final_norm`` ``norm.``; where ``positions`` is "learned", ``positions.weight`` (max_len, embed_dim); unless the
    head is tied, ``head.weight`` (vocab_size, embed_dim); with ``head_bias`` ``head.bias`` (vocab_size,).
    """

    causal: bool = True
    vocab_size: int = 16
    max_len: int = 64  # the longest sequence that must work, in tokens
    positions: str = "learned"  # what is added to the rows: learned, sinusoidal or none; what added-positions declares
    scaled: bool = False  # rows times √embed_dim before that: what embedding-scale declares
    tying: str = "none"  # or head: the head is the table, and there is no head.weight
    head_bias: bool = False
    softcap: float | None = None  # c: a logit s becomes c·tanh(s/c); only what declares logit-cap is asked for one


@dataclass(frozen=True)
class TokenEmbeddingConfig:
    """Token embedding: ids (B, L), int64, out (B, L, dim). Weights: ``table.weight`` (vocab_size, dim)."""

    vocab_size: int
    dim: int
    padding_id: int | None = None  # the row that is not trained


@dataclass(frozen=True)
class TokenAttentionConfig:
    """From ids to attention: ids (B, L), int64, out (B, L, dim).

    An embedding, sinusoidal positions, multi-head self-attention. Weights: ``table.weight`` (vocab_size, dim), and
    those of multi-head attention under ``attn.``, with ``bias`` its biases too.
    """

    vocab_size: int
    dim: int
    num_heads: int
    bias: bool = True
    causal: bool = False
    max_len: int = 64


@dataclass(frozen=True)
class TokenizerConfig:
    """Tokens: text (str) to ids (list of ints), or ids to text. ``weights`` is empty.

    No token occurs twice; ``unknown``, ``specials`` and the results of merges are in the vocabulary. Each part of a
    merge is a symbol of a word or the result of an earlier merge. The last symbol of a word ends in ``</w>``; if
    ``word-end`` is declared as "separate", a symbol ``</w>`` follows it instead, and if it is "none", there is no mark.
    If ``symbols`` is declared as "bytes", each is written as the character with its number, U+0000 to U+00FF.
    """

    kind: str  # word, character or byte-pair
    vocabulary: tuple[str, ...]  # the id of a token is its place, from 0
    merges: tuple[tuple[str, str], ...] = ()  # of kind byte-pair, in the order of learning
    unknown: str | None = None  # the token for words or characters outside the vocabulary
    specials: tuple[str, ...] = ()  # tokens that are one id wherever they stand in a text


@dataclass(frozen=True)
class BpeTrainerConfig:
    """Learning of byte-pair encoding: words (list of str, with repetitions) to merges (list of pairs of str)."""

    num_merges: int  # at most; fewer if no pair is left


@dataclass(frozen=True)
class Component:
    """The record of one component; an adapter's author needs the first three fields.

    ``forward`` is the signature of the callable: before the star the inputs that are always passed, by position; behind
    it the keywords. ``attends`` has, for each attention in a layer, (sequence of the queries, of the keys, mask).
    """

    config: type
    forward: str
    returns: str = "tensor"  # or ids, text, merges
    made_of: tuple[str, ...] = ()  # components inside it, whose mistakes are its mistakes, too
    conventions: tuple[str, ...] = ()  # names of CONVENTIONS that apply to it
    offers: frozenset[str] = frozenset()  # words of requirements' ``needs:`` lines that it meets
    attends: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)  # of layers, by attention
    by_hand: bool = False  # a call can be small enough to follow by hand
    stateful: bool = False  # its function returns an object whose ``forward`` is the method ``step``: a cache goes in

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs that are always passed, in order."""
        return tuple(self.forward.partition(", *")[0].split(", "))

    @property
    def keywords(self) -> tuple[str, ...]:
        """The names of the keywords, passed only where a check needs them."""
        return tuple(part.partition("=")[0] for part in self.forward.partition("*, ")[2].split(", ") if part)

    @property
    def height(self) -> int:
        """The number of levels of components inside it: 0 for a component without parts."""
        return max((COMPONENTS[part].height + 1 for part in self.made_of), default=0)

    @property
    def parts(self) -> frozenset[str]:
        """The components inside it, directly or not."""
        return frozenset(self.made_of).union(*(COMPONENTS[part].parts for part in self.made_of))

    @property
    def layered(self) -> bool:
        """Whether it consists of layers: attention and a feed-forward network with norms."""
        return self.configures("norm_first")

    @property
    def stacked(self) -> bool:
        """Whether its configuration has a number of layers."""
        return any(entry.name.endswith("_layers") for entry in fields(self.config))

    @property
    def decodes(self) -> bool:
        """Whether its tokens attend to a memory, and to no later tokens of their own sequence."""
        return "memory" in self.attends

    @property
    def reads_ids(self) -> bool:
        """Whether its tokens are given as ids."""
        return self.configures("vocab_size")

    def choices(self, convention: str) -> tuple[str, ...]:
        """Return what it may declare: norms of decoders stand in one of two orders, one key alone is attention's."""
        if convention == "kv-heads" and self.config is not MultiHeadAttentionConfig:
            return CONVENTIONS[convention][:2]
        few = convention == "norm-order" and not self.configures("placement")
        return ("both", "post", "pre") if few else CONVENTIONS[convention]

    def configures(self, entry: str) -> bool:
        """Return whether the configuration has an entry of this name."""
        return entry in (known.name for known in fields(self.config))


def _offers(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ATTENTION = "query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False"
_LAYER = "x, *, key_mask=None, attn_mask=None"
_DECODER = "x, memory, *, key_mask=None, memory_mask=None"
_MODEL = "source, target, *, source_mask=None, target_mask=None"
_IN_ATTENTION = _offers(
    "free-length no-added-score no-slope "
    "cross mask key-mask bias weights dropout dropped-weights causal several-heads head-masks value-width"
)
_IN_LAYERS = _offers(  # the hidden width is as free as that of values
    "pre-norm post-norm final-norm no-final-norm free-causality layer-bias layer-norm value-width several-heads "
    "no-places placed-norms norms-behind side-by-side in-sequence two-norms"
)
_MEMBER_IN_LAYERS = _offers("kv-heads rotary-part qk-norm branch-scale score-bias")
_SCORES = ("head-dim", "score-scale", "score-cap", "window")  # of layers and stacks, and not asked of a language model
_TOKENS = _offers("words word-tokens characters whole-tokens byte-pairs")
_MASKS = (
    "fully-masked-row", "causal-alignment", "returned-weights", "value-width", "head-width", "mask", "masks",
    "mask-arguments", "causality", "heads", "memory",
)  # fmt: skip
_FAMILY = ("kv-heads", "score-scale", "score-cap", "window")
_INSIDE = (
    "positions-inside",
    "rope-pairing",
    "alibi-slopes",
    "relative-values",
    "offset-rows",
    "qk-norm",
    "qk-norm-over",
    "qk-norm-place",
    "sinks",
    "output-gate",
)
_NETWORK = ("glu-activated", "activation", "gated", "layer-bias", "hidden-ratio", "model-width")
_DIVISOR = ("layer-norm-variance", "layer-norm-eps")
_LAYERS = (
    "norm-order", "attention-scale", "rms-norm-weight", "rms-norm-eps", *_DIVISOR, *_NETWORK, "norm-kind", "eps",
    "biases", "one-head-projection", "network-biases", "norm-biases", "mask",
)  # fmt: skip
_ENCODERS = (
    *_LAYERS, "rotary-inside", "rotary-part", "kv-heads", "qk-norm", "qk-norm-over", "qk-norm-place", "branch-scale",
    "score-bias", "causality", "heads", "memory",
)  # fmt: skip
_FOURIER = ("fourier-factor", "fourier-input", "fourier-order", "fourier-bank")
_SINES = ("sinusoidal-frequencies", "sinusoidal-offset")
_SELF = {"self": ("x", "x", "key_mask")}
_IDS = {"self": ("ids", "ids", "key_mask")}
_SELF_AND_MEMORY = {**_SELF, "memory": ("x", "memory", "memory_mask")}
_BOTH_SIDES = {
    "self": ("target", "target", "target_mask"),
    "memory": ("target", "source", "source_mask"),
    "source": ("source", "source", "source_mask"),
}

COMPONENTS: dict[str, Component] = {
    "attention": Component(
        AttentionConfig, _ATTENTION, by_hand=True, conventions=(*_MASKS, "lengths"),
        offers=_IN_ATTENTION | {"scale"},
    ),
    "causal_mask": Component(
        CausalMaskConfig, "query_length, key_length", conventions=("mask", "causal-alignment"),
    ),
    "padding_mask": Component(
        PaddingMaskConfig, "tokens", conventions=("mask", "padding-from"),
    ),
    "decoder_mask": Component(
        PaddingMaskConfig, "tokens", conventions=("mask", "padding-from"),
    ),
    "multi_head_attention": Component(
        MultiHeadAttentionConfig, _ATTENTION, made_of=("attention",), by_hand=True,
        conventions=(*_MASKS, "inputs", "biases", "output-projection", "one-head-projection", "dropout-place", *_FAMILY,
                     *_INSIDE, "rotary-part"),
        offers=_IN_ATTENTION | {"rotary-part"}
        | _offers("projections input-biases output-projection output-bias free-width")
        | _offers("member plain rotary-inside alibi-inside relative-inside shaw-inside relative-values qk-norm")
        | _offers("learned-sinks sinks output-gate")
        | frozenset(_FAMILY),
    ),
    "cached_attention": Component(
        CachedAttentionConfig, "x, cache, *, key_mask=None, positions=None", made_of=("multi_head_attention",),
        conventions=("earlier-cache", "masks", "biases", "output-projection", "head-width", *_FAMILY, *_INSIDE),
        offers=_offers("several-heads kept-cache key-mask no-slope member plain rotary-inside alibi-inside")
        | _offers("relative-inside shaw-inside relative-values qk-norm learned-sinks sinks output-gate")
        | frozenset(_FAMILY),
        stateful=True,
    ),
    "packed_attention": Component(
        PackedAttentionConfig, "x, documents", made_of=("multi_head_attention",),
        conventions=("packing", "causality", "biases", "output-projection", "head-width", *_FAMILY, *_INSIDE),
        offers=_offers("several-heads free-causality segment-ids bounds member plain rotary-inside alibi-inside")
        | _offers("relative-inside shaw-inside relative-values qk-norm learned-sinks sinks output-gate")
        | frozenset(_FAMILY),
    ),
    "sinusoidal": Component(
        SinusoidalConfig, "x, *, positions=None", by_hand=True,
        conventions=("sinusoidal-output", "sinusoidal-layout", *_SINES),
    ),
    "sinusoidal_2d": Component(
        Sinusoidal2dConfig, "height, width", conventions=("grid-axes", "grid-layout", *_SINES),
    ),
    "learned": Component(
        LearnedConfig, "x, *, positions=None", by_hand=True,
        conventions=("learned-output", "learned-offset", "learned-scale", "parameters"),
    ),
    "rotary": Component(
        RotaryConfig, "x, *, positions=None", by_hand=True, conventions=("rope-pairing", "rope-output", "heads"),
        offers=_offers("several-heads"),
    ),
    "rotary_attention": Component(
        RotaryAttentionConfig, "query, key, value, *, positions=None", made_of=("rotary", "attention"), by_hand=True,
        conventions=("rope-pairing", "heads", "memory"), offers=_offers("scores several-heads"),
    ),
    "alibi": Component(
        AlibiConfig, "query_length, key_length", by_hand=True, conventions=("alibi-slopes",),
    ),
    "alibi_attention": Component(
        AlibiAttentionConfig, "query, key, value", made_of=("alibi", "attention"), by_hand=True,
        conventions=("alibi-slopes", "heads", "memory"), offers=_offers("scores several-heads"),
    ),
    "relative_bias": Component(
        RelativeBiasConfig, "query_length, key_length", by_hand=True, conventions=("t5-alignment",),
    ),
    "relative_bias_attention": Component(
        RelativeBiasAttentionConfig, "query, key, value", made_of=("relative_bias", "attention"), by_hand=True,
        conventions=("t5-scale", "heads", "memory"), offers=_offers("scores several-heads"),
    ),
    "fourier": Component(
        FourierConfig, "x", by_hand=True, conventions=_FOURIER,
    ),
    "random_fourier": Component(
        RandomFourierConfig, "x", conventions=("random-fourier-order",),
    ),
    "coordinate_mlp": Component(
        CoordinateMlpConfig, "x", made_of=("fourier",), conventions=_FOURIER,
    ),
    "layer_norm": Component(
        LayerNormConfig, "x", by_hand=True,
        conventions=(*_DIVISOR, "layer-norm-weight", "eps", "layer-bias", "norm-dtype", "parameters"),
        offers=_offers("layer-bias"),
    ),
    "rms_norm": Component(
        RmsNormConfig, "x", by_hand=True,
        conventions=("rms-norm-weight", "rms-norm-cast", "rms-norm-eps", "eps", "norm-dtype", "parameters"),
    ),
    "feed_forward": Component(
        FeedForwardConfig, "x", by_hand=True, conventions=(*_NETWORK, "parameters"),
        offers=_offers("layer-bias ungated"),
    ),
    "encoder_layer": Component(
        EncoderLayerConfig, _LAYER, made_of=("multi_head_attention", "feed_forward", "layer_norm", "rms_norm"),
        conventions=(*_ENCODERS, *_SCORES), offers=_IN_LAYERS | _MEMBER_IN_LAYERS | {"layer", *_SCORES}, attends=_SELF,
    ),
    "encoder": Component(
        EncoderConfig, _LAYER, made_of=("encoder_layer",), conventions=(*_ENCODERS, *_SCORES, "final-norm"),
        offers=_IN_LAYERS | _MEMBER_IN_LAYERS | {"stack", *_SCORES}, attends=_SELF,
    ),
    "decoder_layer": Component(
        DecoderLayerConfig, _DECODER, made_of=("multi_head_attention", "feed_forward", "layer_norm", "rms_norm"),
        conventions=_LAYERS, offers=_IN_LAYERS | {"layer", "ungated"}, attends=_SELF_AND_MEMORY,
    ),
    "decoder": Component(
        DecoderConfig, _DECODER, made_of=("decoder_layer",), conventions=(*_LAYERS, "final-norm"),
        offers=_IN_LAYERS | {"stack", "ungated"}, attends=_SELF_AND_MEMORY,
    ),
    "encoder_decoder": Component(
        EncoderDecoderConfig, _MODEL, made_of=("encoder", "decoder"), conventions=(*_LAYERS, "final-norm"),
        offers=_IN_LAYERS | {"vectors"}, attends=_BOTH_SIDES,
    ),
    "transformer": Component(
        TransformerConfig, _MODEL, made_of=("token_embedding", "sinusoidal", "encoder", "decoder"),
        conventions=(*_LAYERS, "final-norm", "transformer-scale", "sinusoidal-layout", "tying"),
        offers=_IN_LAYERS | {"ids", "untied", "tied"}, attends=_BOTH_SIDES,
    ),
    "language_model": Component(
        LanguageModelConfig, "ids, *, key_mask=None",
        made_of=("token_embedding", "learned", "sinusoidal", "encoder"),
        conventions=(*_ENCODERS, "final-norm", "added-positions", "padded-positions", "sinusoidal-layout",
                     "embedding-scale", "tying", "head-bias", "logit-cap"),
        offers=_IN_LAYERS | _MEMBER_IN_LAYERS | {"ids", "untied", "tied", "head-bias", "logit-cap"}, attends=_IDS,
    ),
    "token_embedding": Component(
        TokenEmbeddingConfig, "ids", by_hand=True, conventions=("embedding-scale", "padding-row", "parameters"),
    ),
    "token_attention": Component(
        TokenAttentionConfig, "ids, *, key_mask=None",
        made_of=("token_embedding", "sinusoidal", "multi_head_attention"),
        conventions=("embedding-scale", "sinusoidal-layout", "causality", "biases", "mask"),
        offers=_offers("free-causality"), attends=_IDS,
    ),
    "tokenizer": Component(
        TokenizerConfig, "text", "ids", conventions=("token-kind", "word-end", "symbols"), offers=_TOKENS
    ),
    "detokenizer": Component(
        TokenizerConfig, "ids", "text", conventions=("token-kind", "word-end", "symbols"), offers=_TOKENS
    ),
    "bpe_trainer": Component(
        BpeTrainerConfig, "words", "merges", conventions=("word-end", "symbols"), offers=_offers("words")
    ),
}  # fmt: skip

# The conventions (what the spec leaves open), each with the choices that an adapter may declare. An undeclared choice
# is observed by the convention's check, else taken to be the first.
CONVENTIONS: dict[str, tuple[str, ...]] = {
    "fully-masked-row": ("zeros", "nan", "mean"),
    "causal-alignment": ("top-left", "bottom-right"),
    "returned-weights": ("per-head", "averaged", "none"),
    "value-width": ("free", "key"),  # key: values must be as wide as keys
    # even: features are turned in pairs; eights: a multiple of 8, as kernels ask that load 16 bytes of half precision
    "head-width": ("free", "even", "eights"),
    "inputs": ("cross", "self", "memory"),  # self: query, key and value are one tensor; memory: key and value are
    "causality": ("optional", "always"),
    "lengths": ("any", "equal"),  # equal: as many queries as keys, and no other number
    "heads": ("any", "one"),
    "parameters": ("given", "own"),  # own: a module keeps its own initial weights, as nobody knows which is which
    # mask values of a user's own code; an adapter is always handed booleans, True = may attend, and makes 1 for it
    "mask": ("true-keeps", "true-drops", "additive", "1-keeps", "1-drops", "lengths"),
    "padding-from": ("ids", "lengths", "any"),  # how a function that makes masks is told what is padding
    "masks": ("any", "shared", "keys", "none"),  # shared: by all heads; keys: by all heads and all queries
    "mask-arguments": ("apart", "one"),  # one: padding goes in with other masks, there is no argument of its own
    "biases": ("all", "none", "output", "inputs"),  # which projections have one; inputs: query, key and value
    "output-projection": ("yes", "no"),  # no: the heads side by side come out; out.weight is the identity then
    "one-head-projection": ("yes", "no"),  # no: likewise of one head that is as wide as the model, and of no other
    "dropout-place": ("weights", "output", "both"),  # what is dropped in training; output: of heads, or projected
    # -- the family of attention: what is asked of those that declare it, and of no other
    "kv-heads": ("same", "grouped", "one"),  # grouped: any divisor of the heads, 1 as well; one: always 1
    "head-dim": ("derived", "given"),  # of layers: embed_dim / num_heads, or what config.head_dim says
    "score-scale": ("fixed", "given"),  # of multi-head attention: 1/√head_dim, or what config.scale says
    "score-cap": ("none", "given"),  # given: config.softcap
    "window": ("none", "given"),  # given: config.window
    "rotary-part": ("all", "given"),  # what turns of each head, where positions are rotary; given: config.rotary_dim
    # what a member of the family always has
    # any, here and below: as config says
    "positions-inside": ("none", "rotary", "alibi", "relative-bias", "shaw", "any"),
    "relative-values": ("no", "yes", "any"),  # where positions are shaw: whether values get vectors of offsets, too
    "offset-rows": ("ascending", "descending"),  # of these: the first is that of offset -k, of the earliest keys, or k
    "rotary-inside": ("none", "interleaved", "half"),  # of layers: queries and keys are turned, in which pairs
    "qk-norm": ("none", "rms", "layer", "any"),  # of queries and keys, each with weights of its own
    "qk-norm-over": ("head", "width", "any"),  # each head by itself, or all heads together
    "qk-norm-place": ("before", "after", "any"),  # the rotation
    "branch-scale": ("none", "vector", "scalar", "one-scalar", "any"),  # of layers: factors on what sublayers add
    # of layers: T5's relative bias, of a stack one for all its layers; one-way: later keys share bucket 0
    "score-bias": ("none", "both-ways", "one-way", "any"),
    "sinks": ("none", "learned", "add-one", "any"),  # a logit beside the scores, for each head; 0
    "output-gate": ("none", "features", "heads", "any"),  # what the merged heads are multiplied by, made of the query
    "earlier-cache": ("kept", "consumed"),  # whether a cache can go on after a step that was made from it
    "packing": ("segment-ids", "cu-seqlens", "any"),  # how it is told where the documents of a row end
    "sinusoidal-output": ("add", "table", "scaled-add"),  # x + PE, PE alone, √dim·x + PE
    "sinusoidal-layout": ("interleaved", "halves", "halves-cos-first"),
    "sinusoidal-frequencies": ("paper", "endpoint"),  # base^(-2i/dim), base^(-i/(dim/2 - 1))
    "sinusoidal-offset": ("0", "1", "2"),  # the position of the first token, or of the first row and column
    "grid-axes": ("width-first", "height-first"),  # which axis the first half of the features encodes
    "grid-layout": ("halves", "interleaved"),  # within the features of one axis
    "learned-output": ("add", "table"),
    "learned-scale": ("one", "inverse-root"),  # of a user's own class: rows come out as they are, or divided by √dim
    "learned-offset": ("0", "1", "2"),  # position p is row p + offset
    # of a user's own code, in which order features come back; firsts-first: the first elements of all pairs, then the
    # second ones; an adapter puts them back
    "rope-output": ("in-place", "firsts-first"),
    "rope-pairing": ("interleaved", "half"),
    "alibi-slopes": ("published", "geometric"),  # for heads that are no power of two
    "t5-scale": ("none", "sqrt"),  # the scores are q·k, or q·k / √E
    "t5-alignment": ("top-left", "bottom-right"),  # which tokens stand at one place where L ≠ S: the first, the last
    "fourier-factor": ("1", "pi", "2pi"),  # the angle is factor · frequency · coordinate
    # the coordinates themselves: kept, before the features; kept-last, behind them
    "fourier-input": ("dropped", "kept", "kept-last"),
    # of which kind the frequencies are that are asked for: each twice the one before, or evenly spaced from 1 on
    "fourier-bank": ("octaves", "even"),
    # what the features are grouped by, outermost first; of one word, coordinates or functions are in between
    "fourier-order": ("coordinate", "frequency", "function", "coordinate-frequency", "function-frequency"),
    "random-fourier-order": ("cos-first", "sin-first"),
    # -- layers: the choice of an implementation that lacks the others. A layer that declares its norm, activation,
    # gate or biases is asked for no other; without the declaration it takes all, or raises NotImplementedError
    # norm(x + f(x)); x + f(norm(x)); and, of encoders alone, x + norm'(f(norm(x))); x + norm(f(x)); attention and
    # network side by side, behind one norm, or a norm for each; any: all of these, as the configuration says
    "norm-order": ("both", "post", "pre", "sandwich", "output", "parallel", "parallel-two", "any"),
    "norm-kind": ("layer", "rms"),
    "final-norm": ("either", "always", "never"),  # of a stack
    # sigmoid and none: of networks with a gate
    "activation": ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu", "sigmoid", "none"),
    "gated": ("no", "yes"),
    "glu-activated": ("gate", "up"),  # which of the two goes through the activation
    "layer-bias": ("yes", "no"),
    "network-biases": ("yes", "no"),  # where anything has a bias: whether the feed-forward network has
    "norm-biases": ("yes", "no"),  # likewise the norms; attention's are told by "biases"
    "hidden-ratio": ("free", "1", "2", "3", "4", "5", "6", "8", "8/3"),  # hidden features for each feature, where fixed
    "model-width": ("free", "2", "24", "96"),  # it is a multiple of this, where the code takes no other
    # of norms, where it is written in the code; dtype: that of the dtype in which a norm is computed
    "eps": ("free", "1e-05", "1e-06", "1e-08", "1e-12", "0.0001", "0.001", "dtype"),
    "norm-dtype": ("input", "float32"),  # what comes out of a norm: the dtype of what came in, or always this one
    "layer-norm-variance": ("biased", "unbiased"),  # the sum of squares over D, or over D - 1
    "layer-norm-eps": ("inside", "outside"),  # √(σ² + ε), or σ + ε
    "layer-norm-weight": ("plain", "one-plus"),  # times w, or times 1 + w
    "attention-scale": ("sqrt", "none"),  # the scores are q·k / √E, or q·k
    "rms-norm-weight": ("plain", "one-plus"),  # times w, or times 1 + w
    "rms-norm-cast": ("after", "before"),  # in half precision: times the weight, then cast, or cast first
    "rms-norm-eps": ("inside", "outside"),  # √(mean square + ε), or √(mean square) + ε
    "embedding-scale": ("none", "sqrt"),  # rows times √dim
    "padding-row": ("stored", "zeros"),  # what a padding token gets: its row as it is, or zeros
    "transformer-scale": ("sqrt", "none"),  # likewise in the Transformer
    "tying": ("any", "none", "head", "all"),  # which tables are one
    # of a language model
    "added-positions": ("learned", "sinusoidal", "none", "any"),  # what is added to the rows of ids
    "padded-positions": ("kept", "counted"),  # of ids behind padding: that of their place, or ids alone count
    "head-bias": ("no", "yes", "any"),
    "logit-cap": ("none", "given", "15", "30"),  # c of c·tanh(s/c): config.softcap, or written in the code
    # -- tokens
    "token-kind": ("any", "word", "character", "byte-pair"),  # the kind of an implementation that lacks the others
    "word-end": ("attached", "separate", "none"),  # l o w</w>; l o w </w>; no words: a text is one row of symbols
    "symbols": ("characters", "bytes"),  # what byte pairs are pairs of at first; bytes: of UTF-8, without words
    # -- throughput
    "memory": ("quadratic", "linear"),  # how that of attention grows with the length
}
