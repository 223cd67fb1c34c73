"""Ways to get windows wrong."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family


def of_sides(change):
    """Return ``within`` with other sides: change(left, right) -> (left, right), None where there is no end."""

    def within(queries, keys, window):
        return family.within(queries, keys, None if window is None else change(*window))

    return within


def more(side, by):
    return None if side is None else max(side + by, 0)


def halved(side):
    return None if side is None else side // 2


window_ignored = Mutant(
    "FAM-window-ignored",
    story="the window has no effect: every key is seen",
    breaks={"FAM-WINDOW-1"},
    hint="hide keys further away than the window",
    replace={family.within: lambda queries, keys, window: None},
)

window_wide = Mutant(
    "FAM-window-wide",
    story="the window is one key too wide on the left",
    breaks={"FAM-WINDOW-1"},
    hint="i - left <= j: left keys before the query's own, and that",
    replace={family.within: of_sides(lambda left, right: (more(left, 1), right))},
)

window_wide_ahead = Mutant(
    "FAM-window-wide-ahead",
    story="the window is one key too wide on the right",
    breaks={"FAM-WINDOW-1"},
    hint="j <= i + right: right keys behind the query's own",
    replace={family.within: of_sides(lambda left, right: (left, more(right, 1)))},
)

window_narrow = Mutant(
    "FAM-window-narrow",
    story="the window is one key too narrow on the left: the query's own key is counted among its left ones",
    breaks={"FAM-WINDOW-2"},
    hint="i - left <= j, not <: a window of w keys in all has left = w - 1",
    replace={family.within: of_sides(lambda left, right: (more(left, -1), right))},
)

window_narrow_ahead = Mutant(
    "FAM-window-narrow-ahead",
    story="the window is one key too narrow on the right",
    breaks={"FAM-WINDOW-2"},
    hint="j <= i + right, not <",
    replace={family.within: of_sides(lambda left, right: (left, more(right, -1)))},
)

window_turned = Mutant(
    "FAM-window-turned",
    story="the window's sides are exchanged: it looks ahead where it should look back",
    breaks={"FAM-WINDOW-1"},
    hint="the first number counts the keys before the query, the second those behind it",
    replace={family.within: of_sides(lambda left, right: (right, left))},
)

window_of_both = Mutant(
    "FAM-window-of-both",
    story="the window looks back and ahead alike, as far as its left side says",
    breaks={"FAM-WINDOW-1"},
    hint="two numbers: before and behind",
    replace={family.within: of_sides(lambda left, right: (left, left))},
)


def from_the_end(queries, keys, window):
    if window is None:
        return None
    near = family.within(queries, keys, window)
    return near.roll(1, dims=0) if queries > 1 else near


window_moved = Mutant(
    "FAM-window-moved",
    story="the window of a query is that of the query before it",
    breaks={"FAM-WINDOW-1"},
    hint="query i stands where key i does",
    replace={family.within: from_the_end},
)


def in_blocks(queries, keys, window):
    if window is None:
        return None
    size = sum(side or 0 for side in window) + 1
    return torch.arange(queries)[:, None] // size == torch.arange(keys)[None, :] // size


window_in_blocks = Mutant(
    "FAM-window-in-blocks",
    story="the sequence is cut into blocks as wide as the window, in which tokens see one another",
    breaks={"FAM-WINDOW-1"},
    hint="a window moves along with its query; blocks are what is called chunked attention",
    replace={family.within: in_blocks},
)


def causal_without_window(config, query, key, key_mask, attn_mask):
    windowed = getattr(config, "window", None) is not None
    return gather(replace(config, causal=config.causal and not windowed), query, key, key_mask, attn_mask)


def gather(config, query, key, key_mask, attn_mask):
    return adapter.gather_masks(config, query, key, key_mask, attn_mask)


window_for_causality = Mutant(
    "FAM-window-for-causality",
    story="a window takes the place of the causal mask: within it, tokens see what comes later",
    breaks={"FAM-WINDOW-3"},
    hint="intersect the window with the causal mask",
    replace={adapter.gather_masks: causal_without_window},
)


def at_the_end(queries, keys, window):
    if window is None:
        return None
    left, right = (keys if side is None else side for side in window)
    last = torch.arange(keys)[None, :] - (keys - 1)  # 0 is the last key
    return ((last >= -left) & (last <= right)).expand(queries, keys)


window_at_the_end = Mutant(
    "FAM-window-at-the-end",
    story="the window is counted from the last key, for every query: right for the newest token alone",
    breaks={"FAM-WINDOW-1"},
    hint="count from the query's own place; what a cache may drop is seen by earlier queries still",
    replace={family.within: at_the_end},
)

window_halved = Mutant(
    "FAM-window-halved",
    story="the sides of the window are taken for its whole: each is half as wide",
    breaks={"FAM-WINDOW-2"},
    hint="left keys before the query's own and right keys behind it",
    replace={family.within: of_sides(lambda left, right: (halved(left), halved(right)))},
)
