"""Checks of the chapter spec/encoder.md: other configurations."""

from dataclasses import replace
from functools import partial
from itertools import product

import torch

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    Evidence,
    as_configured,
    each,
    where_supported,
    whole,
)
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ENC-EPS-1", stimuli.ONE)
def eps_reaches_every_norm(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        yield as_configured(subject, case, block.with_config(eps=1.0), f"{what}, eps = 1")


@requirement("ENC-ACT-1", stimuli.ONE)
def the_activation_reaches_the_network(subject: Subject, case: Case) -> Evidence:
    what, block = list(each(subject, case, whole))[-1]
    yield from where_supported(
        partial(as_configured, subject, case, block.with_config(activation=name), f"{what}, {name}")
        for name in ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu")
    )


@requirement("ENC-KIND-1", stimuli.ONE)
def kind_of_norm_and_gate_reach_every_layer(subject: Subject, case: Case) -> Evidence:
    yield from where_supported(
        partial(as_configured, subject, case, other_kind(subject, case, norm, gated), f"{norm} norm, gated: {gated}")
        for norm, gated in product(("layer", "rms"), (False, True))
    )


def other_kind(subject: Subject, case: Case, norm: str, gated: bool) -> Call:
    """Return a block with this kind of norm, gated or not, and the weights that it needs."""
    block = whole(subject, case, best_known(subject)[-1]).with_config(norm=norm, gated=gated)
    return replace(block, weights=blocks.encoder_weights(case, block.config))


@requirement("ENC-BIAS-1", stimuli.ONE)
def no_bias_is_a_bias_of_zero(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        zeros = {name: torch.zeros_like(w) for name, w in block.weights.items() if name.endswith(".bias")}
        bare = replace(block, weights={n: w for n, w in block.weights.items() if n not in zeros})
        got, want = run(subject, bare.with_config(bias=False)).out, run(subject, block.with_weights(zeros)).out
        yield close(got, want, f"{what}: out with bias=False, against zero biases,")
