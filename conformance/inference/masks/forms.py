"""The forms in which an argument may take a mask: its shape, its dtype, and what its values mean."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from attnconf.conformance.inference.texts.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.texts.layer_text import LayerMask

ONE = "one_for_all_heads(seen)"
KEYS = f"one_for_all_queries({ONE})"
ADDED = "additive(seen, attn_bias, query)"
LIKE = "next(iter(weights.values()))"  # in a layer: what tells the dtype
SQUARE = "(S, S)"  # of which the code takes the rows of the last queries, those behind a cache
# (in words, expression of seen, whether it says something of keys alone), the widest first
SHAPES = (
    ("(B, 1, L, S)", f"{ONE}[:, None]", False),
    ("(B, L, S)", ONE, False),
    ("(B·H, L, S)", "for_each_head(seen, {heads})", False),
    ("(L, S)", f"one_for_all_samples({ONE})", False),
    ("(B, S)", KEYS, True),
    ("(B, 1, 1, S)", f"{KEYS}[:, None, None]", True),
    ("(B, 1, S)", f"{KEYS}[:, None]", True),
    ("lengths (B,)", f"lengths({KEYS})", True),
    (SQUARE, f"last_rows(one_for_all_samples({ONE}))", False),
    ("(B·H, S)", "one_for_all_queries(for_each_head(seen, {heads}))", True),
    ("lengths (B·H,)", "lengths(one_for_all_queries(for_each_head(seen, {heads})))", True),
)
# of attention that takes tokens first, whose masks may have the samples last
SAMPLES_LAST = (
    ("(L, S, B)", f"{ONE}.permute(1, 2, 0)", False),
    ("(L, S, 1)", f"one_for_all_samples({ONE})[..., None]", False),
    ("(S, B)", f"{KEYS}.T", True),
    ("(1, S, B)", f"{KEYS}.T[None]", True),
)
# The last as (1 - mask)·-1e9 takes masks that are added too, and does something else with them.
KINDS = (
    ("true-keeps", "{m}"),
    ("true-drops", "~{m}"),
    ("1-keeps, integers", "{m}.long()"),
    ("1-keeps", "{m}.to({like}.dtype)"),
    ("1-drops, integers", "(~{m}).long()"),
    ("1-drops", "(~{m}).to({like}.dtype)"),
    ("additive", ""),
)


def mask_forms(text: AttentionText) -> Iterator[MaskForm]:
    """Yield the forms in which an argument of attention may take a mask, the widest first."""
    one_by_one = sorted(SHAPES, key=lambda shape: shape[0] != "(L, S)")  # there is no batch
    shapes = (*SHAPES, *SAMPLES_LAST) if text.sequence_first else SHAPES
    for shape, pattern_of_shape, keys_only in one_by_one if text.single else shapes:
        expression = pattern_of_shape.replace("{heads}", text.heads)
        if shape.startswith("lengths"):
            yield MaskForm(expression, shape, True)
            continue
        for kind, pattern in KINDS:
            additive = kind == "additive"
            words = expression.replace("seen", ADDED) if additive else pattern.format(m=expression, like="query")
            yield MaskForm(words, f"{shape} {kind}", keys_only, additive)


def insisted_on(text: AttentionText) -> Iterator[AttentionText]:
    """Yield the text with the first argument for a mask, or for lengths, given as one that hides nothing."""
    slot = next((slot for slot in text.form.slots if slot.role in ("mask", "lengths")), None)
    for form in mask_forms(text) if slot else ():
        if slot and (slot.role == "mask" or form.told.startswith("lengths")):
            yield text.but(masks={slot.name: form}, needs_mask=True)


def _of_layers() -> Iterator[LayerMask]:
    for shape, text, keys_only in SHAPES:
        for kind, pattern in () if shape.startswith("lengths") else KINDS:
            words = f"additive({text}, None, {LIKE})" if kind == "additive" else pattern.format(m=text, like=LIKE)
            yield LayerMask(words, f"{shape} {kind}", "self", keys_only)
    yield next(LayerMask(text, shape, "self", keys) for shape, text, keys in SHAPES if shape.startswith("lengths"))


FILLED: Mapping[str, LayerMask] = {form.told: form for form in _of_layers()}  # of an argument of a layer


def as_said(form: LayerMask, said: str) -> LayerMask:
    """Return a form for an argument of a layer with the sense that words, "keeps" or "drops", give its values."""
    other = {"keeps": "drops", "drops": "keeps"}.get(said, "")
    told = form.told.replace("additive", f"1-{said}") if said else form.told
    found = FILLED.get(told.replace(other, said)) if other else None
    return replace(found, which=form.which) if found else form
