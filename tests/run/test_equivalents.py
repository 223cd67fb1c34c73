"""Mutants proved equivalent give the reference's outputs, weights and gradients; no other mutant does."""

import pytest
import torch
from made_up import CASE, NAMES

from attnconf.adapters.contract import AttentionConfig, MultiHeadAttentionConfig
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.chapters.equivalent_mutants import equivalents
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Request

B, H, L, S, E, F = CASE.B, CASE.H, CASE.L, CASE.S, CASE.E, CASE.F
ROUNDING = 1e-12


def masks():
    """Return masks that differ between samples, heads and queries, with one fully masked row."""
    attn_mask = CASE.draw("mask", B, H, L, S) > -0.5
    attn_mask[0, 0, 0] = False
    key_mask = torch.ones(B, S, dtype=torch.bool)
    key_mask[1, -1] = False
    return {"attn_mask": attn_mask, "key_mask": key_mask, "attn_bias": CASE.draw("bias", B, H, L, S)}


def bare(options):
    inputs = dict(zip(NAMES, (CASE.q, CASE.k, CASE.v), strict=True)) | options
    return Request("attention", AttentionConfig(), {}, inputs, (B, H, L, F), (B, H, L, S))


def multi_head(options):
    """Return a request with other widths of query, key, value and output, and biases everywhere."""
    config = MultiHeadAttentionConfig(17, H, E, 19, 23, 29)
    sizes = {"q": (H * E, 17), "k": (H * E, 19), "v": (H * E, 23), "out": (29, H * E)}
    weights = {f"{name}.weight": CASE.draw(f"{name}.weight", *size) / 3 for name, size in sizes.items()}
    weights |= {f"{name}.bias": CASE.draw(f"{name}.bias", size[0]) for name, size in sizes.items()}
    shapes = ((B, L, 17), (B, S, 19), (B, S, 23))
    inputs = {name: CASE.draw(name, *shape) for name, shape in zip(NAMES, shapes, strict=True)} | options
    return Request("multi_head_attention", config, weights, inputs, (B, L, 29), (B, H, L, S))


REQUESTS = {
    f"{ask.__name__}{'-masked' if options else ''}": ask(options)
    for ask in (bare, multi_head)
    for options in ({}, masks())
}


def reply(mutants, request):
    """Return output, returned weights, and the gradients of everything that can have one, by name."""
    given = {**request.weights, **request.inputs}
    leaves = tuple(name for name, x in given.items() if x.is_floating_point())
    cotangent = CASE.draw("cotangent", *request.out_shape)
    got = call(apply(mutants), Request(**{**vars(request), "cotangent": cotangent, "wrt": leaves}))
    return {"out": got.out, "weights": got.weights, **got.grads}


def differing(mutants, request):
    """Return the names of what differs from the reference by more than rounding."""
    want, got = reply([], request), reply(mutants, request)
    assert want.keys() == got.keys()
    off = {name: float((got[name] - want[name]).abs().max()) for name in want}
    return {name for name in want if not off[name] <= ROUNDING * max(1.0, float(want[name].abs().max()))}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("mutant", equivalents().values(), ids=equivalents())
def test_an_equivalent_mutant_cannot_be_told_from_the_reference(mutant, request_):
    assert not differing([mutant], request_)


def test_an_equivalent_mutant_is_no_mutant():
    assert not set(equivalents()) & set(all_mutants())
    assert all(not mutant.breaks for mutant in equivalents().values())


@pytest.mark.parametrize("name", ["ATT-epsilon", "ATT-unscaled", "ATT-weights-detached", "ATT-heads-averaged"])
def test_this_comparison_sees_what_is_no_equivalent(name):
    assert all(differing([all_mutants()[name]], request) for request in REQUESTS.values())
