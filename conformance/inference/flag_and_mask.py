"""A flag for causality and a mask given together: what is refused, each alone being right, is a limit."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply
from attnconf.conformance.inference.trial import drawn, reply

if TYPE_CHECKING:
    from attnconf.conformance.inference.attention_text import AttentionText
    from attnconf.conformance.inference.masking import Search

MASKS, BIAS = ("key_mask", "attn_mask"), "attn_bias"
BY_TORCH = r"[Ee]xplicit attn_mask should not be set when is_causal"


def refuses(given: Reply | Failure) -> bool:
    """Return whether code says, by ``raise`` or ``assert`` or through PyTorch's attention, that it takes no such call.

    An error that nobody meant is none: what is broken is not absent.
    """
    if not isinstance(given, Failure) or given.reason != "raised":
        return False
    return given.meant or re.search(BY_TORCH, given.message) is not None


def with_bias_apart(search: "Search", text: "AttentionText") -> "AttentionText":
    """Return the text such that a bias and the flag for causality are not taken together, where the file refuses it.

    PyTorch's attention refuses a mask that has a gradient beside its flag, and takes one that has none.
    """
    if text.exclusive or not text.flagged or not any(m.additive for m in text.masks.values()):
        return text
    B, L, S = 2, 6, 6
    masks: dict[str, Any] = {BIAS: drawn("bias", 1, 1, L, S)}
    made = text.implementation(search.place)
    alone, both = (search.request(text, search.sizes[0], B, L, S, masks, causal=causal) for causal in (False, True))
    back = {"cotangent": drawn("cotangent", *alone.out_shape), "wrt": (BIAS,)}
    limited = isinstance(reply(made, replace(alone, **back)), Reply) and refuses(reply(made, replace(both, **back)))
    return text.but(exclusive=(BIAS,)) if limited else text
