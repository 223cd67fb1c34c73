"""What follows a script: which object may keep a state, and what is wrong with one, in words."""

from types import SimpleNamespace

import pytest
import torch

from attnconf.conformance.worker.refused import UNSUPPORTED, Refused
from attnconf.conformance.worker.steps import as_one_call

X = torch.arange(12.0).reshape(1, 6, 2)


def summing(**others):
    """Return what adds up all tokens so far; its state is their sum."""

    def step(x, total, key_mask=None):
        out = total + x.cumsum(1)
        return out, out[:, -1:]

    return SimpleNamespace(**{"empty": lambda batch: torch.zeros(batch, 1, 2), "step": step, **others})


def test_steps_come_out_one_behind_the_other_from_the_states_that_they_name():
    follow = as_one_call(summing(), "cached_attention")
    whole = follow(X, (("empty", 1), ("step", 0, 0, 6)))
    assert torch.equal(follow(X, (("empty", 1), ("step", 0, 0, 2), ("step", 1, 2, 6))), whole)
    twice = follow(X, (("empty", 1), ("step", 0, 0, 2), ("step", 1, 2, 3), ("step", 1, 2, 3)))
    assert torch.equal(twice[:, 2], twice[:, 3])


def test_masks_are_cut_with_the_tokens():
    seen = []

    def step(x, state, key_mask):
        seen.append(key_mask)
        return x, state

    mask = torch.arange(6)[None] > 2
    as_one_call(summing(step=step), "cached_attention")(
        X, (("empty", 1), ("step", 0, 0, 2), ("step", 1, 2, 6)), key_mask=mask
    )
    assert [one.tolist() for one in seen] == [[[False, False]], [[False, True, True, True]]]


def test_a_reordering_is_handed_over_as_a_tensor():
    follow = as_one_call(summing(reorder=lambda state, order: state[order]), "cached_attention")
    two = torch.cat([X, 10 * X])
    out = follow(two, (("empty", 2), ("step", 0, 0, 1), ("reorder", 1, (1, 1)), ("step", 2, 1, 2)))
    assert out[:, 1].tolist() == [[2.0, 13.0], [20.0, 40.0]]


@pytest.mark.parametrize(
    ("built", "script", "reason", "words"),
    [
        (SimpleNamespace(step=abs), (("empty", 1),), "protocol", "without a method empty"),
        (
            summing(step=lambda x, state: x),
            (("empty", 1), ("step", 0, 0, 2)),
            "protocol",
            r"want a pair \(out, cache\)",
        ),
        (summing(step=lambda x, state: (None, x)), (("empty", 1), ("step", 0, 0, 2)), "protocol", "as out"),
        (summing(step=lambda x, s: (x[:, :1], s)), (("empty", 1), ("step", 0, 0, 2)), "shape", r"want \(1, 2\)"),
        (summing(), (("empty", 1), ("poison", 0)), UNSUPPORTED, "poison"),
    ],
)
def test_what_is_wrong_is_said(built, script, reason, words):
    with pytest.raises(Refused, match=words) as refused:
        as_one_call(built, "cached_attention")(X, script)
    assert refused.value.reason == reason
