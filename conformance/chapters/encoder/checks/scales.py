"""Checks of the chapter spec/encoder.md: learned factors on what the sublayers of a layer add."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    ATTENTION,
    NETWORK,
    Evidence,
    order_name,
    parts,
    scales_of,
    unscaled,
    whole,
)
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.shared.placements import behind, placements
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def kinds(subject: Subject) -> tuple[str, ...]:
    """Return the kinds of factors that a subject is asked for: all where it declares "any"."""
    declared = subject.choice("branch-scale")
    return CONVENTIONS["branch-scale"][1:-1] if declared == "any" else (declared,)


def scaling(subject: Subject, case: Case) -> Iterator[tuple[str, Call]]:
    """Yield a layer, or a stack of two, in each place of norms and with each kind of factors, and its name."""
    for placement in placements(subject):
        plain = whole(subject, case, placement)
        for kind in kinds(subject):
            config = replace(plain.config, branch_scale=kind)
            weights = blocks.encoder_weights(case, config)
            yield f"{order_name(placement)}, {kind}", replace(plain, config=config, weights=weights)


def folded(subject: Subject, case: Case, block: Call) -> Call:
    """Return the block with factors of 1, and the others in what comes last in each branch: a linear layer, a norm."""
    last = behind(block.config) or (ATTENTION if case.projects else "attn.v", NETWORK)
    one_plus = bool(behind(block.config)) and block.config.norm == "rms"
    shift = 1.0 if one_plus and subject.choice("rms-norm-weight") == "one-plus" else 0.0
    larger: dict[str, Tensor] = {}
    for i, part in enumerate(last, 1):
        for name, w in parts(block, part).items():
            under, _, kind = name.rpartition(f"{part}.")
            factors = torch.as_tensor(scales_of(block, f"{under}scale{i}")).reshape(-1, *[1] * (w.ndim - 1))
            larger[name] = factors * (w + shift * (kind == "weight")) - shift * (kind == "weight")
    return unscaled(block).with_weights(larger)


@requirement("ENC-SCALE-1", stimuli.ONE)
def factors_are_those_of_what_each_branch_adds(subject: Subject, case: Case) -> Evidence:
    for what, block in scaling(subject, case):
        want = run(subject, folded(subject, case, block)).out
        text = f"{what}: out, against that of factors of 1 and larger last weights,"
        yield close(run(subject, block).out, want, text)
