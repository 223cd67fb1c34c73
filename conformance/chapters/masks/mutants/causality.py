"""Ways to get masks wrong: causality."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.masks.mutants.shared import emptied
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import masks


def shifted_causal(shift):
    return lambda queries, keys, offset=0: masks.causal(queries, keys, offset + shift)


causal_strict = Mutant(
    "MASK-causal-strict",
    story="a token does not see itself (diagonal -1), and the first one sees nothing",
    breaks={"MASK-CAUSAL-1"},
    hint="j <= i, torch.tril without a diagonal",
    replace={masks.causal: shifted_causal(-1)},
    variants=emptied({masks.causal: shifted_causal(-1)}),
)

causal_peeking = Mutant(
    "MASK-causal-peeking",
    story="a token sees the next one too (diagonal +1)",
    breaks={"MASK-CAUSAL-1"},
    hint="hide from diagonal=1 on: torch.triu(ones, diagonal=1) is what must not be seen",
    replace={masks.causal: shifted_causal(1)},
    source="jadore801120/attention-is-all-you-need-pytorch#19",
)

causal_future = Mutant(
    "MASK-causal-future",
    story="a token sees itself and the future instead of the past (triu for tril)",
    breaks={"MASK-CAUSAL-1"},
    hint="torch.tril, or j <= i",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(keys, queries, offset).mT},
    source="jadore801120/attention-is-all-you-need-pytorch#19",
)

causal_ignored = Mutant(
    "MASK-causal-ignored",
    story="attention is not causal where it has to be: the flag is ignored, or the mask that was made for it",
    breaks={"MASK-CAUSAL-1"},
    hint="build the mask from the flag",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(queries, keys, keys)},
    source="pytorch#99282",
)

causal_other_corner = Mutant(
    "MASK-causal-other-corner",
    story="the causal diagonal starts from the bottom-right corner, though top-left is declared",
    breaks={"MASK-CAUSAL-2"},
    hint="the offset is 0 for top-left, S - L for bottom-right; declare which",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(queries, keys, keys - queries)},
    source="pytorch#108108; flash-attention#282; tiny-llm#287",
)

causal_middle = Mutant(
    "MASK-causal-middle",
    story="with L and S unequal the causal diagonal is in neither corner: |S - L| always shifts it to the right",
    breaks={"MASK-CAUSAL-2"},
    hint="the offset is S - L with its sign",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(queries, keys, abs(keys - queries))},
)


def gather_later_apart(config, query, key, key_mask, attn_mask):
    """Return the mask without causality, which goes with it as an attribute: what is hidden differently."""
    mask = adapter.gather_masks(replace(config, causal=False), query, key, key_mask, attn_mask)
    if config.causal:
        triangle = masks.causal(query.shape[-2], key.shape[-2]).to(query.device)
        mask = torch.ones_like(triangle) if mask is None else mask.clone()
        mask.later = ~triangle
    return mask


def hiding_later_by(change):
    """Return hide for masks that gather_later_apart made."""

    def hide(scores, mask):
        later = getattr(mask, "later", None)
        return masks.hide(scores if later is None else change(scores, later), mask)

    return hide


causal_penalty = Mutant(
    "MASK-causal-penalty",
    story="later tokens are hidden by subtracting 20 from their scores",
    breaks={"MASK-CAUSAL-4"},
    hint='fill with float("-inf"): a later token whose score is 20 higher is seen',
    replace={
        adapter.gather_masks: gather_later_apart,
        masks.hide: hiding_later_by(lambda scores, later: scores - 20.0 * later.to(scores)),
    },
)

causal_fill = Mutant(
    "MASK-causal-fill-1e4",
    story="the scores of later tokens become -1e4",
    breaks={"MASK-CAUSAL-4"},
    hint='fill with float("-inf"): scores may be lower than -1e4',
    replace={
        adapter.gather_masks: gather_later_apart,
        masks.hide: hiding_later_by(lambda scores, later: scores.masked_fill(later, -1e4)),
    },
    source="the masked_bias of the first GPT-2 of transformers",
)


def run_causal(run, change):
    def run_attention(config, query, key, value, mask, bias, need_weights):
        return run(config, change(query) if config.causal else query, key, value, mask, bias, need_weights)

    return run_attention


def run_causal_projected(run, change):
    def run_multi_head(config, weights, query, key, value, mask, bias, need_weights):
        changed = change(query) if config.causal else query
        return run(config, weights, changed, key, value, mask, bias, need_weights)

    return run_multi_head


causal_unscaled = Mutant(
    "MASK-causal-unscaled",
    story="the causal path has a scale of its own, twice as large",
    breaks={"MASK-CAUSAL-3"},
    hint="one path for all masks",
    replace={
        adapter.run_attention: run_causal(adapter.run_attention, lambda query: 2 * query),
        adapter.run_multi_head: run_causal_projected(adapter.run_multi_head, lambda query: 2 * query),
    },
)

causal_detached = Mutant(
    "MASK-causal-detached",
    story="no gradient reaches the queries on the causal path",
    breaks={"MASK-CAUSAL-3"},
    hint="one path for all masks",
    replace={
        adapter.run_attention: run_causal(adapter.run_attention, torch.detach),
        adapter.run_multi_head: run_causal_projected(adapter.run_multi_head, torch.detach),
    },
)


def gather_causal_by_default(config, query, key, key_mask, attn_mask):
    mask = adapter.gather_masks(config, query, key, key_mask, attn_mask)
    L, S = query.shape[-2], key.shape[-2]
    return masks.causal(L, S) if mask is None and L == S else mask


causal_by_default = Mutant(
    "MASK-causal-by-default",
    story="where there are as many queries as keys and no mask is given, attention is causal unasked",
    breaks={"MASK-DEFAULT-1"},
    hint="apply causality only where it is asked for",
    replace={adapter.gather_masks: gather_causal_by_default},
    source="TransformerEngine#565; transformers#48172",
)


def attention_with_first_causal_mask(build):
    def component(config, weights):
        seen = []

        def forward(query, key, value, **options):
            if not config.causal:
                return build(config, weights)(query, key, value, **options)
            L, S = query.shape[-2], key.shape[-2]
            seen.append(masks.causal(L, S))
            kept, given = seen[0][:L, :S].expand(L, S), options.pop("attn_mask", None)
            mask = masks.intersect(given, kept)
            return build(replace(config, causal=False), weights)(query, key, value, attn_mask=mask, **options)

        return forward

    return component


causal_of_first_call = Mutant(
    "MASK-causal-of-first-call",
    story="the causal mask of the first call is kept, and a later, longer sequence does not fit",
    breaks={"CALL-REPEAT-1"},
    hint="build the mask for the length at hand, or keep it by its length",
    replace={
        adapter.attention: attention_with_first_causal_mask(adapter.attention),
        adapter.multi_head_attention: attention_with_first_causal_mask(adapter.multi_head_attention),
    },
    raises={"CALL-REPEAT-1"},
)
