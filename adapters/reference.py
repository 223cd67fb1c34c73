"""The reference itself, as an implementation under test."""

from dataclasses import fields, replace
from types import SimpleNamespace

from attnconf.reference.alibi import alibi_attention as attend_with_alibi
from attnconf.reference.alibi import bias as alibi_bias
from attnconf.reference.attention import attend
from attnconf.reference.attention_family import Member, family_attention
from attnconf.reference.coordinate_mlp import coordinate_mlp as colour
from attnconf.reference.decoder import decoder as decode
from attnconf.reference.decoder import decoder_layer as decode_once
from attnconf.reference.encoder import Style
from attnconf.reference.encoder import encoder as encode
from attnconf.reference.encoder import encoder_layer as encode_once
from attnconf.reference.feed_forward import feed_forward as widen_and_narrow
from attnconf.reference.fourier import fourier as fourier_features
from attnconf.reference.fourier import random_fourier as random_features
from attnconf.reference.kv_cache import empty as empty_cache
from attnconf.reference.kv_cache import poison as poison_cache
from attnconf.reference.kv_cache import reorder as reorder_cache
from attnconf.reference.kv_cache import step as attend_in_steps
from attnconf.reference.language_model import Frame
from attnconf.reference.language_model import language_model as tell_what_follows
from attnconf.reference.layer_norm import Divisor
from attnconf.reference.layer_norm import layer_norm as normalize_layer
from attnconf.reference.learned import learned as add_learned
from attnconf.reference.mask_making import as_keys, as_numbers, told_by_ids, told_by_lengths, up_to_own
from attnconf.reference.mask_making import decoder_mask as hide_later_and_padding
from attnconf.reference.masks import causal, intersect, key_padding
from attnconf.reference.multi_head_attention import multi_head_attention as multi_head
from attnconf.reference.packed_sequences import documents_between
from attnconf.reference.packed_sequences import packed_attention as attend_packed
from attnconf.reference.relative_bias import bias as t5_bias
from attnconf.reference.relative_bias import relative_bias_attention as attend_with_t5_bias
from attnconf.reference.rms_norm import rms_norm as normalize_rms
from attnconf.reference.rotary import frequencies, magnitude, rotate, scaled
from attnconf.reference.rotary import rotary_attention as attend_rotated
from attnconf.reference.sinusoidal import grid
from attnconf.reference.sinusoidal import sinusoidal as add_sinusoidal
from attnconf.reference.token_embedding import embed
from attnconf.reference.token_embedding import token_attention as attend_to_tokens
from attnconf.reference.tokenizer import decode as text_of
from attnconf.reference.tokenizer import encode as cut_into_tokens
from attnconf.reference.tokenizer import train as learn_merges
from attnconf.reference.transformer import encoder_decoder as encode_and_decode
from attnconf.reference.transformer import transformer as translate

declares = {
    "fully-masked-row": "zeros",
    "causal-alignment": "top-left",
    "returned-weights": "per-head",
    "kv-heads": "grouped",
    "head-dim": "given",
    "score-scale": "given",
    "score-cap": "given",
    "window": "given",
    "rotary-part": "given",
    "positions-inside": "any",
    "relative-values": "any",
    "offset-rows": "ascending",
    "qk-norm": "any",
    "qk-norm-over": "any",
    "qk-norm-place": "any",
    "branch-scale": "any",
    "score-bias": "any",
    "sinks": "any",
    "output-gate": "any",
    "earlier-cache": "kept",
    "packing": "any",
    "padding-from": "any",
    "sinusoidal-output": "add",
    "sinusoidal-layout": "interleaved",
    "sinusoidal-frequencies": "paper",
    "sinusoidal-offset": "0",
    "grid-axes": "width-first",
    "grid-layout": "halves",
    "learned-output": "add",
    "learned-offset": "0",
    "rope-pairing": "interleaved",
    "alibi-slopes": "published",
    "t5-scale": "none",
    "t5-alignment": "top-left",
    "fourier-factor": "1",
    "fourier-input": "dropped",
    "fourier-order": "coordinate",
    "random-fourier-order": "cos-first",
    "norm-order": "any",
    "final-norm": "either",
    "glu-activated": "gate",
    "attention-scale": "sqrt",
    "rms-norm-weight": "plain",
    "rms-norm-cast": "after",
    "rms-norm-eps": "inside",
    "layer-norm-variance": "biased",
    "layer-norm-eps": "inside",
    "layer-norm-weight": "plain",
    "embedding-scale": "none",
    "padding-row": "stored",
    "transformer-scale": "sqrt",
    "tying": "any",
    "added-positions": "any",
    "head-bias": "any",
    "logit-cap": "given",
    "token-kind": "any",
    "word-end": "attached",
    "symbols": "characters",
}


def gather_masks(config, query, key, key_mask, attn_mask):
    """Return the one mask that allows what causality, padding and the explicit mask all allow, or None."""
    mask = attn_mask
    if key_mask is not None:
        mask = intersect(mask, key_padding(key_mask))
    if config.causal:
        mask = intersect(mask, causal(query.shape[-2], key.shape[-2]).to(query.device))
    return mask


def active_dropout(config):
    """Return the dropout probability in force: 0 outside training."""
    return config.dropout if config.training else 0.0


def run_attention(config, query, key, value, mask, bias, need_weights):
    out, attn = attend(query, key, value, mask, bias, config.scale, active_dropout(config))
    return (out, attn) if need_weights else out


def run_multi_head(config, weights, query, key, value, mask, bias, need_weights):
    out, attn = multi_head(query, key, value, weights, config.num_heads, mask, bias, active_dropout(config))
    return (out, attn) if need_weights else out


def run_member(config, weights, query, key, value, mask, bias, need_weights):
    """Run what has more than multi-head attention had in 2017."""
    member = member_of(config)
    out, attn = family_attention(
        query, key, value, weights, config.num_heads, member, mask, bias, active_dropout(config)
    )
    return (out, attn) if need_weights else out


def member_of(config):
    """Return which member of the family a configuration asks for."""
    entries = {f.name: getattr(config, f.name) for f in fields(Member) if hasattr(config, f.name)}
    return Member(**entries, both_ways=not config.causal or config.positions != "relative-bias")


def attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = gather_masks(config, query, key, key_mask, attn_mask)
        return run_attention(config, query, key, value, mask, attn_bias, need_weights)

    return forward


def multi_head_attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = gather_masks(config, query, key, key_mask, attn_mask)
        run = run_multi_head if member_of(config) == Member() else run_member
        return run(config, weights, query, key, value, mask, attn_bias, need_weights)

    return forward


def cached_attention(config, weights):
    member = member_of(config)

    def empty(batch):
        return empty_cache(batch, weights, config.num_heads, member)

    def step(x, cache, *, key_mask=None, positions=None):
        return attend_in_steps(x, cache, weights, config.num_heads, member, key_mask, positions)

    return SimpleNamespace(empty=empty, step=step, reorder=reorder_cache, poison=poison_cache)


def packed_attention(config, weights):
    def forward(x, documents):
        segments = documents_between(documents, x.shape[1]) if config.packing == "cu-seqlens" else documents
        return attend_packed(x, segments, weights, config.num_heads, member_of(config), config.causal)

    return forward


# -- masks


def causal_mask(config, weights):
    def forward(query_length, key_length):
        return as_numbers(up_to_own(query_length, key_length), config.dtype).to(config.device)

    return forward


def real_tokens(config, tokens):
    """Return which tokens are real, (B, L), told by ids or by lengths."""
    by_ids = config.padding_from == "ids"
    return told_by_ids(tokens, config.padding_id) if by_ids else told_by_lengths(tokens, config.length)


def padding_mask(config, weights):
    def forward(tokens):
        return as_numbers(as_keys(real_tokens(config, tokens)), config.dtype)

    return forward


def decoder_mask(config, weights):
    def forward(tokens):
        return as_numbers(hide_later_and_padding(real_tokens(config, tokens)), config.dtype)

    return forward


# -- positions


def sinusoidal(config, weights):
    def forward(x, *, positions=None):
        return add_sinusoidal(x, positions, config.base, active_dropout(config))

    return forward


def sinusoidal_2d(config, weights):
    def forward(height, width):
        return grid(height, width, config.dim, config.base).to(config.device, config.dtype)

    return forward


def learned(config, weights):
    def forward(x, *, positions=None):
        return add_learned(x, weights["table.weight"], positions, active_dropout(config))

    return forward


def rotary(config, weights):
    omega = scaled(frequencies(config.rotary_dim, config.base), config.base, config.scaling)

    def forward(x, *, positions=None):
        return rotate(x, positions, omega, config.rotary_dim, magnitude(config.scaling))

    return forward


def rotary_attention(config, weights):
    def forward(query, key, value, *, positions=None):
        return attend_rotated(query, key, value, positions, frequencies(config.head_dim, config.base), config.causal)

    return forward


def alibi(config, weights):
    def forward(query_length, key_length):
        return alibi_bias(config.num_heads, query_length, key_length).to(config.device, config.dtype)

    return forward


def alibi_attention(config, weights):
    def forward(query, key, value):
        return attend_with_alibi(query, key, value, config.causal)

    return forward


def relative_bias(config, weights):
    def forward(query_length, key_length):
        table = weights["table.weight"]
        return t5_bias(table, query_length, key_length, config.max_distance, config.bidirectional)

    return forward


def relative_bias_attention(config, weights):
    def forward(query, key, value):
        table = None if config.cross else weights["table.weight"]
        return attend_with_t5_bias(query, key, value, table, config.max_distance, config.causal)

    return forward


# -- coordinates


def fourier(config, weights):
    def forward(x):
        return fourier_features(x, config.frequencies)

    return forward


def random_fourier(config, weights):
    def forward(x):
        return random_features(x, weights["projection"])

    return forward


def coordinate_mlp(config, weights):
    def forward(x):
        return colour(x, config.frequencies, weights)

    return forward


# -- layers


def divisor_of(config):
    """Return what the deviations of layer norms are divided by."""
    return Divisor(config.norm_variance, config.norm_eps)


def layer_norm(config, weights):
    def forward(x):
        gain, shift = weights.get("weight"), weights.get("bias")
        return normalize_layer(x, config.shape, gain, shift, config.eps, divisor_of(config))

    return forward


def rms_norm(config, weights):
    def forward(x):
        return normalize_rms(x, weights["weight"], config.eps, config.rms_eps)

    return forward


def feed_forward(config, weights):
    def forward(x):
        return widen_and_narrow(x, weights, config.activation, active_dropout(config))

    return forward


def style_of(config):
    """Return what all layers have in common."""
    norms, divisor = (config.norm_first, config.norm, config.eps), divisor_of(config)
    style = Style(config.num_heads, *norms, config.activation, active_dropout(config), divisor, config.rms_eps)
    return replace(style, **entries_of_encoders(config))


def entries_of_encoders(config):
    """Return what the layers of an encoder may have, and those of a decoder have not."""
    if not hasattr(config, "placement"):
        return {}
    inside = {
        name: getattr(config, name)
        for name in ("num_kv_heads", "rotary_dim", "qk_norm", "qk_norm_over", "qk_norm_place", "window")
    } | {"scale": config.score_scale, "softcap": config.score_cap}
    if config.score_bias != "none":
        inside |= {"positions": "relative-bias", "both_ways": config.score_bias == "both-ways"}
    besides = {name: getattr(config, name) for name in ("rotary", "placement", "branch_scale")}
    return {**besides, "attention": Member(**inside)}


def mask_of_targets(x, key_mask):
    """Return the mask of a decoder's self-attention: causal, and without padding."""
    earlier = causal(x.shape[1], x.shape[1]).to(x.device)
    return earlier if key_mask is None else intersect(earlier, key_padding(key_mask))


def encoder_layer(config, weights):
    def forward(x, *, key_mask=None, attn_mask=None):
        return encode_once(x, weights, style_of(config), gather_masks(config, x, x, key_mask, attn_mask))

    return forward


def encoder(config, weights):
    def forward(x, *, key_mask=None, attn_mask=None):
        return encode(x, weights, style_of(config), gather_masks(config, x, x, key_mask, attn_mask))

    return forward


def mask_of_memory(memory_mask):
    """Return the mask of the attention to the memory: without padding, and not causal."""
    return None if memory_mask is None else key_padding(memory_mask)


def decoder_layer(config, weights):
    def forward(x, memory, *, key_mask=None, memory_mask=None):
        mask, hidden = mask_of_targets(x, key_mask), mask_of_memory(memory_mask)
        return decode_once(x, memory, weights, style_of(config), mask, hidden)

    return forward


def decoder(config, weights):
    def forward(x, memory, *, key_mask=None, memory_mask=None):
        mask, hidden = mask_of_targets(x, key_mask), mask_of_memory(memory_mask)
        return decode(x, memory, weights, style_of(config), mask, hidden)

    return forward


def encoder_decoder(config, weights):
    def forward(source, target, *, source_mask=None, target_mask=None):
        return encode_and_decode(source, target, weights, style_of(config), source_mask, target_mask)

    return forward


def transformer(config, weights):
    def forward(source, target, *, source_mask=None, target_mask=None):
        return translate(source, target, weights, style_of(config), source_mask, target_mask)

    return forward


def frame_of(config):
    """Return what stands around the layers of a language model."""
    return Frame(config.positions, config.scaled, config.softcap)


def language_model(config, weights):
    def forward(ids, *, key_mask=None):
        return tell_what_follows(ids, weights, style_of(config), frame_of(config), key_mask)

    return forward


# -- from text


def token_embedding(config, weights):
    def forward(ids):
        return embed(ids, weights["table.weight"], config.padding_id)

    return forward


def token_attention(config, weights):
    def forward(ids, *, key_mask=None):
        x = ids[..., None]
        return attend_to_tokens(ids, weights, config.num_heads, gather_masks(config, x, x, key_mask, None))

    return forward


def tokenizer(config, weights):
    def forward(text):
        return cut_into_tokens(text, config.kind, config.vocabulary, config.merges, config.unknown, config.specials)

    return forward


def detokenizer(config, weights):
    def forward(ids):
        return text_of(ids, config.kind, config.vocabulary)

    return forward


def bpe_trainer(config, weights):
    def forward(words):
        return learn_merges(words, config.num_merges)

    return forward
