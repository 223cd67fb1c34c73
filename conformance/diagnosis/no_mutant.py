"""What is behind a failure and is no mutant.

A setting that is hard-coded, other conventions than those that are declared, or a backward pass that raises or is none.
"""

from collections.abc import Mapping

from attnconf.conformance.diagnosis.fixed_settings import fixed, said
from attnconf.conformance.diagnosis.judgements import Judgements
from attnconf.conformance.diagnosis.mistakes import Diagnosis, diagnosis_of
from attnconf.conformance.diagnosis.replay import FLOAT32, ROUNDING, Comparison, Log
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.translate import others_than
from attnconf.conformance.worker.performing import CUT


def hard_coded(judgements: Judgements, failed: Judged) -> Diagnosis | None:
    """Return a diagnosis "eps is 1e-6 whatever the configuration says" if that reproduces a failure, or None."""
    for compare in (judgements.compared(ROUNDING), judgements.compared(FLOAT32)):
        telling = compare.telling(failed.log)
        log = [*telling, *failed.log]
        found = [name for name in fixed(failed.log[0][0].config) if telling and compare.fits(name, log)]
        if found:
            words = said(judgements.best(found, compare))
            return diagnosis_of(failed, [_named(failed, found[0], *words)]) if words else None
    return None


def undeclared(judgements: Judgements, failed: Judged, declares: Mapping[str, str]) -> Diagnosis | None:
    """Return a diagnosis "right in other conventions than declared", if one combination of them gives these replies.

    It is the smallest one: a convention without effect on these replies is not named. Where the declared ones give
    these replies as well, but for rounding, rounding is what fails.
    """

    replies = judgements.replies
    as_declared = [(request, replies.reply("", frozenset(declares.items()), request)) for request, _ in failed.log]

    def fits(choices: Mapping[str, str], log: Log = failed.log) -> bool:
        return Comparison(frozenset({**declares, **choices}.items()), FLOAT32, replies).fits("", log)

    every = others_than(failed.log[0][0].component, declares)
    silent = {name for one in every if len(one) == 1 and fits(one, as_declared) for name in one}
    heard = {name for one in every if len(one) == 1 and not fits(one, as_declared) for name in one}
    found: list[dict[str, str]] = []
    for choices in every:  # those of what changes nothing here are left out: there are hundreds
        told = not choices.keys() & (silent - heard)
        if told and not any(known.items() <= choices.items() for known in found) and fits(choices):
            found.append(choices)
    if len(found) != 1 or fits({}):
        return None
    right = ", ".join(f'"{name}": "{choice}"' for name, choice in found[0].items())
    story = "this is right in other conventions than those that are declared"
    return diagnosis_of(failed, [_named(failed, "undeclared", story, f"declares = {{{right}}}")])


# What autograd says of a backward pass, what that is called, and what mends it.
BACKWARD = (
    (
        "modified by an inplace operation",
        "CALL-saved-tensor-overwritten",
        "the output is right, but backward raises: a tensor that it needs was changed in place after it was saved",
        "write x = x.exp() and x = x / s instead of x.exp_() and x /= s: what a step returned is kept for its slope",
    ),
    (
        "",
        "CALL-backward-raises",
        "the output is right, but backward raises an exception: nothing can be trained with it",
        "call out.sum().backward() once; an autograd.Function needs a backward for all that it returns",
    ),
)


NO_GRADIENT = Mutant(
    "CALL-no-gradient",
    "no gradient comes out of it: whatever it computes, nothing can be trained with it",
    set(),
    "take torch.no_grad(), .detach(), .data, .item() and .numpy() out of the way from inputs and weights to the output",
    {},
)


def untrainable(failed: Judged) -> Diagnosis | None:
    """Return a diagnosis of a check in which a call came back, and its backward pass raised, or there is none.

    None for any other.
    """
    failure = failed.failure
    if failure is not None and failure.message == CUT:
        return diagnosis_of(failed, [NO_GRADIENT])
    if failure is None or failure.reason != "raised" or not failure.message.startswith("backward raised"):
        return None
    name, story, hint = next(told for words, *told in BACKWARD if words in failure.message)
    return diagnosis_of(failed, [Mutant(name, story, set(), hint, {})])


def _named(failed: Judged, name: str, story: str, hint: str) -> Mutant:
    """Return words as a mutant that replaces nothing."""
    return Mutant(f"{failed.requirement.id.split('-')[0]}-{name}", story, set(), hint, {})
