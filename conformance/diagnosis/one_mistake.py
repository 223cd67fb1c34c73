"""One mistake that reproduces a failure: a mutant that gives the implementation's replies to all calls of the check.

At least one of these replies is not the reference's. A mutant is excluded by a passed check that it does not reproduce.
"""

from collections.abc import Iterable
from itertools import takewhile

from attnconf.conformance.chapters.contents import all_mutants, plain, with_variants
from attnconf.conformance.diagnosis.judgements import Judgements
from attnconf.conformance.diagnosis.replay import FLOAT32, LARGE, LIMIT, ROUNDING, Comparison, Log, cost, has_numbers
from attnconf.conformance.diagnosis.suspects import Suspects
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant, reaches
from attnconf.conformance.engine.request import Reply, Request

MANY = 1_000_000


def named_before(judgements: Judgements, suspects: Suspects, failed: Judged) -> list[Mutant]:
    """Return the mutants named for other failures that reproduce this one too."""
    return _fitting(judgements, suspects.known, failed, judgements.compared(ROUNDING))


def supposed(judgements: Judgements, name: str, failed: Judged) -> list[Mutant]:
    """Return the variants of one mutant that reproduce a failure."""
    name = name.partition("~")[0]
    there = name in all_mutants() and reaches(judgements.component, all_mutants()[name])
    return _fitting(judgements, with_variants(name), failed, judgements.compared(ROUNDING)) if there else []


def singles(judgements: Judgements, suspects: Suspects, failed: Judged) -> list[Mutant]:
    """Return, of the mutants that reproduce a failure, those that reproduce most of the other failures."""
    far = suspects.far if judgements.replies.spent < LIMIT // 3 else suspects.partly
    if _raises_alone(judgements, failed):
        far = [m for m in far if failed.requirement.id in m.raises]
    for compare in (judgements.compared(ROUNDING), judgements.compared(FLOAT32)):
        near = _fitting(judgements, suspects.near, failed, compare)
        fitting = [m for m in near if judgements.passes(m.id, compare, m.breaks)]  # else this mistake was not made
        if not fitting:
            found = _fitting(judgements, suspects.partly, failed, compare) or _fitting(judgements, far, failed, compare)
            suspects.partly += [m for m in found if m not in suspects.partly]
            must = failed.requirement.strength == "MUST"
            fitting = [m for m in found if judgements.passes(m.id, compare, musts_alone=must)]
        if fitting:
            fitting = _chapters_own(_best(judgements, fitting, compare))
            suspects.known += fitting
            return fitting
    return _raising(judgements, suspects, failed)


def _raises_alone(judgements: Judgements, failed: Judged) -> bool:
    """Return whether all that is wrong are exceptions of the implementation's own."""
    wrong = judgements.compared(ROUNDING).telling(failed.log)
    return bool(wrong) and all(isinstance(reply, Failure) and not _cut(reply) for _, reply in wrong)


def _raising(judgements: Judgements, suspects: Suspects, failed: Judged) -> list[Mutant]:
    """Return the mutants that raise on exactly the calls on which the implementation raises, in any words."""
    compare = judgements.compared(ROUNDING, words=False)
    fitting = _fitting(judgements, [m for m in suspects.near if failed.requirement.id in m.raises], failed, compare)
    held = [call for judged in judgements.passed for call in judged.log]
    return _best(judgements, [m for m in fitting if all(compare.raises_alike(m.id, *call) for call in held)], compare)


def _chapters_own(mutants: list[Mutant]) -> list[Mutant]:
    """Return the mutants of chapters that are about the mathematics, if there are any: they say more than a law's."""
    return [m for m in mutants if m.chapter != "calls"] or mutants


def _best(judgements: Judgements, mutants: list[Mutant], compare: Comparison) -> list[Mutant]:
    best = judgements.best([m.id for m in mutants], compare) if mutants else []
    return [m for m in mutants if m.id in best]


def _fitting(judgements: Judgements, mutants: Iterable[Mutant], failed: Judged, compare: Comparison) -> list[Mutant]:
    telling = compare.telling(failed.log)
    log = [*telling, *failed.log] if telling else []
    heads = max((_heads(request) for request, _ in log), default=1)
    possible = [m for m in mutants if m.heads <= heads and (not m.rounding or judgements.failed >= set(m.breaks))]
    dear = bool(telling) and cost(telling[0][0]) > LARGE  # calls that take long, of which a thousand take minutes
    tried = takewhile(lambda _: not dear or judgements.replies.affordable, possible)
    found = [m for m in tried if log and compare.fits(m.id, log) and _answers_elsewhere(judgements, m, telling)]
    found = [m for m in found if not m.rounding or not all(compare.is_the_textbook(m.id, r) for r, _ in telling)]
    return [m for m in found if not _adds(m) or not all(compare.silent(plain(m).id, r) for r, _ in telling)]


def _heads(request: Request) -> int:
    """Return how many heads a call has; many where it is not told, as nothing is excluded then."""
    return getattr(request.config, "num_heads", MANY)


def _adds(mutant: Mutant) -> bool:
    """Return whether a variant replaces more functions than the mutant that it is a variant of."""
    return set(plain(mutant).replace) < set(mutant.replace)


def _answers_elsewhere(judgements: Judgements, mutant: Mutant, telling: Log) -> bool:
    """Return whether the mutant is excluded or confirmed by replies that say something.

    If all wrong replies are exceptions or NaN, passed checks must hold numbers, and the mutant must give some there.
    Otherwise an implementation that always raises would match every mutant that always raises.
    """
    if any(has_numbers(reply) or _cut(reply) for _, reply in telling):
        return True
    answered = [call for judged in judgements.passed for call in judged.log if has_numbers(call[1])]
    replies = (judgements.replies.reply(mutant.id, judgements.replies.spoken, request) for request, _ in answered[:20])
    return bool(answered) and all(map(has_numbers, replies))


def _cut(reply: Reply | Failure) -> bool:
    """Return whether a call failed in words of this project, which say what is wrong."""
    return isinstance(reply, Failure) and reply.reason != "raised"
