"""Checks of the chapter spec/encoder.md: T5's relative bias, which all layers share."""

from dataclasses import replace

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import Evidence, as_configured, is_stack, three_layers, whole
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

BEFORE_AN_EDGE = 16  # tokens: a distance of 16 is on the edge of a bucket, and the logarithm is a matter of rounding


def ways(subject: Subject) -> tuple[str, ...]:
    """Return the ways in which a subject's buckets are asked for: both where it declares "any"."""
    declared = subject.choice("score-bias")
    return CONVENTIONS["score-bias"][1:-1] if declared == "any" else (declared,)


def biased(subject: Subject, case: Case, way: str) -> Call:
    """Return a layer, or a stack of three, with a relative bias."""
    build = three_layers if is_stack(subject) else whole
    plain = build(subject, case, best_known(subject)[-1])
    config = replace(plain.config, score_bias=way, causal=plain.config.causal or way == "one-way")
    return replace(plain, config=config, weights=blocks.encoder_weights(case, config))


@requirement("ENC-RELATIVE-1", stimuli.FAR)
def the_number_of_two_tokens_distance_is_added_to_their_score_in_every_layer(subject: Subject, case: Case) -> Evidence:
    for way in ways(subject):
        here = case.but(L=BEFORE_AN_EDGE) if way == "both-ways" else case
        yield as_configured(subject, here, biased(subject, here, way), f"a relative bias, {way}")
