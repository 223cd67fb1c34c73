"""Checks of the chapter spec/rotary.md: longer than trained."""

import torch

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.checks.shared import FEW, Evidence
from attnconf.conformance.chapters.rotary.stimuli import blocks, formula, frequencies
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference import rotary as reference

Scaling = tuple[tuple[str, float | str], ...]
SCALINGS: dict[str, Scaling] = {
    "linear": (),
    "ntk": (),
    "yarn": (("original_max_position", 32.0), ("beta_fast", 4.0), ("beta_slow", 1.0), ("attention_factor", 1.25)),
    "llama3": (("low_freq_factor", 1.0), ("high_freq_factor", 4.0), ("original_max_position", 32.0)),
}


def scaling_is_that_of_the_formula(subject: Subject, case: Case, kind: str) -> Evidence:
    """Base 100, so that some pairs lie where frequencies are blended."""
    for factor in (4.0, 1.0):
        scaling: Scaling = (("kind", kind), ("factor", factor), *SCALINGS[kind])
        block = blocks(subject, case, FEW, base=100.0, scaling=scaling)
        omega = reference.scaled(frequencies(case.E, 100.0), 100.0, scaling).to(block.device)
        cos, sin = (
            reference.magnitude(scaling) * part for part in formula(torch.arange(FEW, device=omega.device), omega)
        )
        yield close(block[..., 0, 0], cos, f"cos of the angles, {kind} with factor {factor:g},")
        yield close(block[..., 1, 0].abs(), sin.abs(), f"|sin| of the angles, {kind} with factor {factor:g},")


@requirement("ROPE-SCALING-1", stimuli.SCALED)
def linear_scaling_divides_the_frequencies(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "linear")


@requirement("ROPE-SCALING-2", stimuli.SCALED)
def ntk_scaling_keeps_the_first_frequency(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "ntk")


@requirement("ROPE-SCALING-3", stimuli.SCALED)
def yarn_blends_by_index_and_lengthens(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "yarn")


@requirement("ROPE-SCALING-4", stimuli.SCALED)
def llama3_scaling_blends_by_turns(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "llama3")
