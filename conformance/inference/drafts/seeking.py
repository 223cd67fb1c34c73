"""Find the binding of a small component: it is written in every likely way, run, and compared."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.translate import others_than
from attnconf.conformance.inference.drafts.drafts import Choice, Family, texts
from attnconf.conformance.inference.drafts.texts import Text, bound
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.budgets import LIKELIEST
from attnconf.conformance.inference.trials.claims import FROM_ONE, claims_from_zero
from attnconf.conformance.inference.trials.filling import arguments_of
from attnconf.conformance.inference.trials.proving import Proof, Prover, Reading, Trial, first_readings
from attnconf.conformance.inference.trials.trial import FLOAT32, ROUNDING, Certificate, all_same, kept_certificate


def seek(place: Place, *families: Family) -> Bound | Refusal:
    """Return the binding that is the textbook in some conventions, else a known mistake, else the first that runs.

    Several families are one component with fewer and fewer options: the textbook with few is likelier than a mistake.
    """
    prover = Prover[Text](place)
    ran: list[tuple[Family, list[Trial[Text]]]] = []  # of each way of asking, the trials
    for family in families:
        if any("" in family.unless or family.unless & t.hypothesis.given for _, trials in ran for t in trials):
            continue
        for way in family.ways:
            failed, before = len(prover.failures.failures), len(prover.ran)
            every = (_readings(family, text, way) for text in texts(place, family, way, prover.failures))
            if proof := prover.certified(every):
                return _bound(place, family, proof)
            trials = prover.ran[before:]
            if all(map(_idle, trials)) and any(_is_told_nothing(place, each) for each in trials):
                return Refusal("it gives its input back, unless it gets more than one")
            if trials:
                ran.append((family, trials))
            if trials and len(prover.failures.failures) == failed:  # all that is likely ran
                break
    for family in families:
        of_family = [trials for known, trials in ran if known is family]
        if proof := _mistaken(prover, family, of_family):
            return _bound(place, family, proof)
    for family, trials in ran[:1]:
        return _bound(place, family, Proof(nearest(family, trials), None))
    return prover.refusal(f"it cannot be called as {place.component}")


def _mistaken(prover: Prover[Text], family: Family, ways: Sequence[Sequence[Trial[Text]]]) -> Proof[Text] | None:
    """Return what a known mistake gives the replies of, but for those that another order of the axes explains."""

    def allowed(mistake: Mutant, text: Text) -> bool:
        turned = family.turned if "x.transpose(0, 1)" in text.call else frozenset()
        return mistake.id not in family.explained | turned

    for rounding in (ROUNDING, FLOAT32):
        if proof := prover.mistaken(_worth_comparing(family, ways), allowed, rounding):
            return proof
    return None


def _readings(family: Family, text: Text, way: str) -> Iterator[Reading[Text]]:
    """Yield a text in each set of conventions that it leaves open, the most common first."""
    certificate = _certificate(family, text.declares, way)
    free = [{k: v for k, v in o.items() if k not in text.declares} for o in others_than(family.component, {})]
    for choice in [dict(pairs) for pairs in dict.fromkeys(tuple(d.items()) for d in [{}, *free])]:
        yield Reading(text.but(declares={**choice, **text.declares}), certificate)


def _worth_comparing(family: Family, ways: Sequence[Sequence[Trial[Text]]]) -> Iterator[Trial[Text]]:
    """Yield what is compared with mistakes: the first that differ of each way, those of the first way first.

    What ran in one way of asking is no news in another; nor is, where something else ran, what gives its input back: a
    rotation does so that is asked for one position alone.
    """
    seen: set[str] = set()
    some = False
    for trials in ways:
        texts = {t.proposal: t.hypothesis.draft().body for t in first_readings(trials)}
        fresh = [t for t in first_readings(trials) if texts[t.proposal] not in seen and not (some and _idle(t))]
        seen |= set(texts.values())
        for one in _different(fresh)[:LIKELIEST]:
            some = True
            yield from family.plausible([t for t in trials if t.proposal == one.proposal])


def _idle(trial: Trial[Text]) -> bool:
    """Return whether all replies are an input as it was."""
    pairs = zip(trial.replies, trial.certificate.requests, strict=False)
    return all(
        isinstance(reply, Failure)
        or any(isinstance(x, Tensor) and torch.equal(x, reply.out) for x in request.inputs.values())
        for reply, request in pairs
    )


def _is_told_nothing(place: Place, trial: Trial[Text]) -> bool:
    """Return whether a function gives its input back while an argument is None that it may do more with."""
    if isinstance(place.thing, type) or not _idle(trial):
        return False
    left = [p for p in arguments_of(place.thing) if p.default is None]
    return any(not re.search(rf"\b{p.name}=", trial.hypothesis.call) for p in left)


def _different(trials: Sequence[Trial[Text]]) -> list[Trial[Text]]:
    """Return those that give other replies than the ones before them."""
    found: list[Trial[Text]] = []
    for each in trials:
        if not any(all_same(each.replies, other.replies) for other in found):
            found.append(each)
    return found


def nearest(family: Family, trials: Sequence[Trial[Text]]) -> Trial[Text]:
    """Return the reading of the first text that is least far away; rare ones have to be much nearer."""
    first = [t for t in trials if t.proposal == trials[0].proposal]
    fixed = min(len(t.hypothesis.declares) for t in first)
    return min(family.plausible(first), key=lambda t: t.distance * (1 + len(t.hypothesis.declares) - fixed))


def _certificate(family: Family, fixed: Choice, way: str) -> Certificate:
    """Return the calls of a trial; what the textbook gives in them is kept for the next file."""
    key = ("sought", frozenset(fixed.items()), way)
    return kept_certificate(family.component, key, lambda: family.requests(fixed, way), family.view)


def _bound(place: Place, family: Family, proof: Proof[Text]) -> Bound:
    text = family.after(place, proof.hypothesis)
    conventions = ", ".join(f"{k} {v}" for k, v in text.declares.items()) or "those of the spec"
    plain = re.sub(r"\btheirs\.|\bconfig\.", "", text.shown)
    kind = "constructor" if isinstance(place.thing, type) else "function   "
    told = (f"{kind}  {plain}", f"forward      {text.call} -> {text.out}", f"conventions  {conventions}")
    found = bound(place, proof, text, told)
    begins = {c for name, c in text.declares.items() if name in ("sinusoidal-offset", "learned-offset")}
    return replace(found, broken=(*found.broken, FROM_ONE)) if begins == {"1"} and claims_from_zero(place) else found
