"""Checks of the chapter spec/language_model.md: from vectors to logits."""

from functools import partial

import torch

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import (
    Evidence,
    cotangent,
    gradients,
    key_of,
    without_bias,
)
from attnconf.conformance.chapters.language_model.stimuli import CAP, model, ties, uncapped, wanted
from attnconf.conformance.chapters.shared.layers import endings, run, style_of
from attnconf.conformance.chapters.shared.placements import placement_of
from attnconf.conformance.chapters.transformer.checks.shared import with_gradients
from attnconf.conformance.chapters.transformer.stimuli import plain_norms
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.layer_norm import correction

BOTH = ("table.weight", "head.weight")


@requirement("LM-HEAD-1", stimuli.USUAL)
def a_logit_is_a_product_with_the_row_of_its_id(subject: Subject, case: Case) -> Evidence:
    block = without_bias(model(subject, case, final_norm=endings(subject)[-1], tying="none"))
    free = subject.choice("eps") == "free"
    block = block.with_config(eps=1e-9) if free else block  # so that a normalized token has a variance of 1
    name, weight = "head.weight", block.weights["head.weight"]
    got, want = (uncapped(block, run(subject, b).out) for b in (block.with_weights({name: -2 * weight}), block))
    yield close(got, -2 * want, "logits with the head times -2, against logits times -2,")
    if not free or not (block.config.final_norm or placement_of(block.config) == "post"):
        return
    reading = torch.eye(*weight.shape).to(weight)
    token = uncapped(block, run(subject, block.with_weights({**plain_norms(subject, block), name: reading})).out)
    more = correction(weight, (-1,), style_of(block.config).divisor)
    size = more * token.square().sum(dim=2) / weight.shape[1]
    yield close(size, torch.ones_like(size), "the variance of a normalized token, read off its logits,")


@requirement("LM-HEAD-2", stimuli.USUAL)
def a_logit_has_the_bias_of_its_id(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    with_it, without = (uncapped(block, run(subject, b).out) for b in (block, without_bias(block)))
    want = block.weights["head.bias"].expand_as(with_it)
    yield close(with_it - without, want, "logits less those with a bias of 0")


@requirement("LM-CAP-1", stimuli.USUAL)
def capped_logits_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    if block.config.softcap is None:
        plain = run(subject, block).out
        got, want = run(subject, block.with_config(softcap=CAP)).out, CAP * (plain / CAP).tanh()
        yield close(got, want, f"logits with a cap of {CAP}, against {CAP}·tanh(s/{CAP}) of those without one,")
        return
    large = "head.weight" if "head.weight" in block.weights else "table.weight"
    block = block.with_weights({large: 20 * block.weights[large]})
    want = case.once(key_of(subject, block, "capped"), partial(wanted, subject, block))
    yield close(run(subject, block).out, want, "logits that are larger than the cap")


def untied(block: Call) -> Call:
    """Return the model with a head of the same numbers as its table."""
    return block.with_config(tying="none").with_weights({"head.weight": block.weights["table.weight"]})


@requirement("LM-TIE-1", stimuli.USUAL)
def a_tied_head_is_the_table(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, tying="head")
    want = run(subject, untied(block)).out if "none" in ties(subject) else wanted(subject, block)
    yield close(run(subject, block).out, want, "logits of a tied head, against those of a head of the same numbers,")


@requirement("LM-TIE-2", stimuli.USUAL)
def a_tied_table_gets_the_gradients_of_both_uses(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, tying="head")
    free = untied(block)
    if "none" in ties(subject):
        each = list(gradients(subject, case, free, BOTH).values())
    else:
        _, each = with_gradients(partial(wanted, subject), free, cotangent(case), BOTH)
    (got,) = gradients(subject, case, block, ("table.weight",)).values()
    yield close(got, each[0] + each[1], "gradient of a tied table, against the sum over its uses,")
