"""Checks of the chapter spec/encoder.md: what attention has besides, within layers."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from attnconf.conformance.chapters.attention_family.checks.shared import kinds
from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import Evidence, as_configured, parts, trailing, whole
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import masked_if_taken, run
from attnconf.conformance.chapters.shared.members import repeated, sharing, widened
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

LONG, LONGER = 32.0, 256.0
SCALES = (0.3, 1.7)  # neither 1 nor 1/√D
CAPS = (0.7, 3.0)  # the smaller one bends most scores
WINDOWS = ((2, 1), (1, 0), (0, 1))


def normalizing(subject: Subject, case: Case) -> Iterator[tuple[str, Call]]:
    """Yield a layer, or a stack of two, with each norm of queries and keys that the subject is asked for, and its name.

    Where queries and keys are turned, the norm stands before the rotation and behind it.
    """
    plain = whole(subject, case, best_known(subject)[-1])
    places = kinds(subject, "qk-norm-place")
    for kind, over, place in product(kinds(subject, "qk-norm"), kinds(subject, "qk-norm-over"), places):
        if over == "width" and place != places[0]:  # which comes before heads, and so before any rotation
            continue
        turned = plain.config.rotary or place == "after"
        config = replace(plain.config, qk_norm=kind, qk_norm_over=over, qk_norm_place=place, rotary=turned)
        yield (
            f"a {kind} norm over the {over}",
            replace(plain, config=config, weights=blocks.encoder_weights(case, config)),
        )


@requirement("ENC-GROUP-1", stimuli.SHARED)
def shared_heads_are_copies_side_by_side(subject: Subject, case: Case) -> Evidence:
    block = whole(subject, case, best_known(subject)[-1])
    for kept in sorted({kept for kept in (1, 2, 3) if case.heads % kept == 0}):
        shared = sharing(block, kept)
        want = run(subject, repeated(shared)).out
        what = f"out of {case.heads} heads that share {kept} of keys and values, against copies side by side,"
        yield close(run(subject, shared).out, want, what)


@requirement("ENC-TURN-1", stimuli.TURNED)
def a_part_of_each_head_turns_as_the_formula_says(subject: Subject, case: Case) -> Evidence:
    block = whole(subject, case, best_known(subject)[-1])
    for part in range(2, case.head_width + 1, 2):
        turned = block.with_config(rotary=True, rotary_dim=part)
        yield as_configured(subject, case, turned, f"{part} of {case.head_width} features turned")


@requirement("ENC-HEAD-1", stimuli.ONE)
def heads_of_another_width_give_what_the_formula_gives(subject: Subject, case: Case) -> Evidence:
    block = widened(whole(subject, case, best_known(subject)[-1]))
    yield as_configured(subject, case, block, f"heads of {block.config.head_dim} features in {case.width}")


@requirement("ENC-SCORE-1", stimuli.ONE)
def scores_are_multiplied_by_what_is_asked_for(subject: Subject, case: Case) -> Evidence:
    block = whole(subject, case, best_known(subject)[-1])
    for scale in SCALES:
        yield as_configured(subject, case, block.with_config(score_scale=scale), f"scores times {scale:g}")


@requirement("ENC-CAP-1", stimuli.ONE)
def scores_are_bent_before_they_are_hidden(subject: Subject, case: Case) -> Evidence:
    block = whole(subject, case, best_known(subject)[-1])
    for cap in CAPS:
        capped = masked_if_taken(subject, block.with_config(score_cap=cap), key_mask=trailing(case))
        yield as_configured(subject, case, capped, f"scores within ±{cap:g}")


@requirement("ENC-WINDOW-1", stimuli.ONE)
def a_token_sees_its_window(subject: Subject, case: Case) -> Evidence:
    """Of what is causal the right side has no effect, and is 0."""
    block = whole(subject, case, best_known(subject)[-1])
    for left, right in WINDOWS:
        sides = (left, 0 if block.config.causal else right)
        window = block.with_config(window=sides)
        yield as_configured(subject, case, window, f"a window of {sides[0]} tokens before and {sides[1]} behind")


@requirement("ENC-QK-1", stimuli.ONE)
def the_length_of_queries_and_keys_has_no_effect(subject: Subject, case: Case) -> Evidence:
    """Of queries and keys so long that ε is nothing, and so alike that longer ones would matter."""
    for what, block in normalizing(subject, case.but(regime="uniform")):
        for name in ("attn.q", "attn.k"):
            long, longer = (
                block.with_weights({n: factor * w for n, w in parts(block, name).items()}) for factor in (LONG, LONGER)
            )
            text = f"{what}: out with {LONGER:g} times {name}, against {LONG:g} times,"
            yield close(run(subject, longer).out, run(subject, long).out, text, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("ENC-QK-2", stimuli.ONE)
def normalized_queries_and_keys_give_what_the_formula_gives(subject: Subject, case: Case) -> Evidence:
    for what, block in normalizing(subject, case):
        yield as_configured(subject, case, block, what)
