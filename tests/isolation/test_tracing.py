"""Which forbidden names a call uses, whatever its text calls them."""

import sys

import pytest
import torch
from torch import nn
from torch.nn import functional

from attnconf.conformance.worker.tracing import CALLS, Tracing

FUSED, LAYER = "torch.nn.functional.scaled_dot_product_attention", "torch.nn.MultiheadAttention"
WRITTEN = "torch.nn.functional.multi_head_attention_forward"
x = torch.ones(1, 2, 4)


def used(names, call):
    with Tracing(names) as tracing:
        call()
    return tracing.used


@pytest.mark.parametrize(("names", "call", "found"), [
    ([FUSED], lambda: getattr(functional, "scaled_dot" + "_product_attention")(x, x, x), {FUSED}),
    ([FUSED], lambda: torch.softmax(x, -1), set()),
    ([LAYER, WRITTEN, FUSED], lambda: nn.MultiheadAttention(4, 2)(x, x, x), {LAYER}),  # the others are its library's
    ([LAYER], lambda: nn.Linear(4, 4), set()),
    ([WRITTEN, "torch.no_such_thing", "no_such_package"], lambda: None, set()),
    (["json"], lambda: __import__("json").dumps({}), {"json"}),
    (["torch.nn.functional.softmax"], lambda: functional.softmax(x, -1), {"torch.nn.functional.softmax"}),
])  # fmt: skip
def test_what_a_call_enters_is_noted(names, call, found):
    assert used(names, call) == found


def test_a_subclass_uses_its_class():
    class Mine(nn.MultiheadAttention):
        def __init__(self):
            super().__init__(4, 2)

    assert used([LAYER], Mine) == {LAYER}


def test_only_the_first_calls_are_looked_at():
    tracing = Tracing([FUSED])
    for _ in range(CALLS):
        with tracing:
            pass
    with tracing:
        assert sys.getprofile() is None
        functional.scaled_dot_product_attention(x, x, x)
    assert tracing.used == set()


def test_a_call_that_raises_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError), Tracing([FUSED]):
        _ = 1 / 0
    assert sys.getprofile() is None
