"""Ways to get masks wrong: several masks at once."""

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import masks


def either(first, second):
    return first | second if first is not None and second is not None else masks.intersect(first, second)


joined_by_or = Mutant(
    "MASK-joined-by-or",
    story="masks are joined by or: a key is seen if any of them allows it",
    breaks={"MASK-AND-1"},
    hint="first & second",
    replace={masks.intersect: either},
    source="GLM-4-Voice#182",
)

last_mask_wins = Mutant(
    "MASK-last-wins",
    story="of several masks only the last is used",
    breaks={"MASK-AND-1"},
    hint="first & second",
    replace={masks.intersect: lambda first, second: first if second is None else second},
    source="GLM-4-Voice#182",
)


def gather_explicit_or_padding(config, query, key, key_mask, attn_mask):
    return adapter.gather_masks(config, query, key, None if attn_mask is not None else key_mask, attn_mask)


padding_dropped = Mutant(
    "MASK-padding-dropped",
    story="the key mask is dropped where there is an explicit mask",
    breaks={"MASK-AND-1"},
    hint="join both",
    replace={adapter.gather_masks: gather_explicit_or_padding},
    source="keras#22910",
)


def gather_causal_last(config, query, key, key_mask, attn_mask):
    causal = config.causal and attn_mask is None and key_mask is None
    mask = adapter.gather_masks(config, query, key, key_mask, attn_mask)
    if config.causal and not causal:
        plain = attn_mask
        return masks.intersect(plain, masks.key_padding(key_mask)) if key_mask is not None else plain
    return mask


causality_dropped = Mutant(
    "MASK-causality-dropped",
    story="causality is dropped where there is a mask",
    breaks={"MASK-AND-1"},
    hint="join the causal mask with the others",
    replace={adapter.gather_masks: gather_causal_last},
    source="xformers#103; pytorch#187413",
)


def gather_one_or_other(config, query, key, key_mask, attn_mask):
    if config.causal and (attn_mask is not None or key_mask is not None):
        raise RuntimeError("a mask cannot be given together with causality")
    return adapter.gather_masks(config, query, key, key_mask, attn_mask)


both_refused = Mutant(
    "MASK-both-refused",
    story="a mask together with causality is refused",
    breaks={"MASK-AND-1"},
    hint="write causality into the mask, or raise NotImplementedError in an adapter",
    replace={adapter.gather_masks: gather_one_or_other},
    raises={"MASK-AND-1"},
    source="F.scaled_dot_product_attention with attn_mask and is_causal",
)
