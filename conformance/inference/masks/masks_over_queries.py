"""A mask of padding that lies over the queries: it hides rows of the output, and no key from any token."""

import re

import torch
from torch import Tensor

from attnconf.conformance.diagnosis.broken_argument import IDLE
from attnconf.conformance.engine.request import Reply
from attnconf.conformance.inference.masks.claims import words_on
from attnconf.conformance.inference.trials.trial import same_numbers
from attnconf.conformance.inference.trials.tried import Tried

OF_ATTENTION = r"att|key"  # in a name: others may be for what becomes of the output, by pooling
HIDES_NO_KEY = f"does not hide padding: on what the tokens get it {IDLE}"


def hides_no_key(tried: Tried) -> bool:
    """Return whether tokens get what they get without a mask, whatever padding (B, L) is marked in whatever numbers.

    1 may mark the tokens or the padding, but the same in each. What comes out for the padding does not matter.
    """
    x, *others = tried.asked.inputs.values()
    words = f"{tried.argument.name} {words_on(tried.bound.place.thing, tried.argument.name)}"
    if others or not isinstance(x, Tensor) or x.ndim != 3:
        return False
    if not re.search(OF_ATTENTION, words, re.IGNORECASE):
        return False
    lengths = x.shape[1] - 1 - torch.arange(len(x)) % (x.shape[1] - 1)
    tokens = torch.arange(x.shape[1]) < lengths[:, None]
    tried_ones = [(one, tried.given(one.to(kind))[0])
                  for one in (tokens, ~tokens) for kind in (torch.bool, torch.long, x.dtype)]  # fmt: skip
    ran = [(one, given.out) for one, given in tried_ones if isinstance(given, Reply)]
    each = {bool(one[0, 0]) for one, _ in ran}
    return len(each) > 1 and any(all(_alike(tried, out, one == kept) for one, out in ran) for kept in (True, False))


def _alike(tried: Tried, out: Tensor, rows: Tensor) -> bool:
    """Return whether rows of an output are those without the mask."""
    base = tried.base
    return isinstance(base, Reply) and out.shape == base.out.shape and same_numbers(out[rows], base.out[rows])
