"""Two mistakes at once: find the pair of mutants that reproduces a failure together, and neither alone.

A pair is first tried on one call: the cheapest whose reply neither the reference nor one mutant gives. A pair that
gives this reply is compared on all calls. Two mutants are no pair if they replace the same function, or if both are of
the component's chapter and do not, together, break every requirement that failed at the root.
Pairs are made of the LIKELY likeliest mutants, and tried in groups of AT_ONCE, the likeliest first, until one fits or a
second or two are spent (Replies.affordable). A mutant is likelier, in this order, if it explains another failure alone,
changes the reply to that one call, breaks a requirement that failed at the root, was seen in the wild (``source``), is
of the component's own chapter.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product

from attnconf.conformance.diagnosis.replay import Comparison, Log
from attnconf.conformance.engine.mutant import Mutant

Pair = tuple[Mutant, Mutant]
AT_ONCE = 60  # pairs in a group
LIKELY = 150  # mutants whose pairs are considered


def candidates(
    known: Collection[str], shown: Collection[str], near: Sequence[Mutant], far: Sequence[Mutant], roots: set[str],
    beside: bool = False,
) -> list[Pair]:  # fmt: skip
    """Return the pairs worth trying, the likeliest first.

    known   names of mutants that explain a failure alone
    shown   names of mutants that change the reply to the call on which pairs are tried
    near    mutants that break a requirement that failed
    far     mutants of other chapters
    roots   requirements that failed at the root
    beside  return only pairs with a known mutant
    """
    outside = {m.id for m in far}

    def unlikeliness(pair: Pair) -> tuple[int, ...]:
        names = {m.id for m in pair}
        rootless = not any(roots & set(m.breaks) for m in pair)
        unseen = sum(not m.source for m in pair)
        return -len(names & set(known)), -len(names & set(shown)), rootless, unseen, len(names & outside)

    def possible(pair: Pair) -> bool:
        a, b = pair
        free = {a.id, b.id} & {*known, *outside}
        return not set(a.replace) & set(b.replace) and bool(free or roots <= {*a.breaks, *b.breaks})

    def alone(m: Mutant) -> tuple[bool, ...]:
        return m.id not in known, m.id not in shown, not m.source, m.id in outside

    likely = sorted([*near, *far], key=alone)
    some = product(likely[: len(known)], likely) if beside else combinations(likely[:LIKELY], 2)
    return sorted((pair for pair in some if pair[0] is not pair[1] and possible(pair)), key=unlikeliness)


def reproducing(
    log: Log, known: Collection[str], near: Sequence[Mutant], far: Sequence[Mutant], roots: set[str],
    compare: Comparison, *, beside: bool = False,
) -> list[Pair]:  # fmt: skip
    """Return the pairs that give all replies; arguments as in ``candidates``."""
    telling = compare.telling(log)
    if not telling or not compare.replies.affordable:
        return []
    singles = known if beside else [m.id for m in (*near, *far)]
    screen = next((c for c in telling[:2] if not any(compare.same(name, *c) for name in singles)), telling[0])
    shown = set() if beside else {name for name in singles if not compare.silent(name, screen[0])}
    known = known if beside else {*known, *(name for name in singles if compare.same(name, *screen))}
    tried = candidates(known, shown, near, far, roots, beside)
    for first in range(0, len(tried), AT_ONCE):
        some = tried[first : first + AT_ONCE] if compare.replies.affordable else []
        fitting = [pair for pair in some if compare.fits(joined(pair), [screen, *telling, *log])]
        if fitting:
            return fitting
    return []


def joined(pair: Iterable[Mutant]) -> str:
    """Return the name of several mutants at once: "ATT-unscaled+MHA-no-bias"."""
    return "+".join(m.id for m in pair)


def alternatives(pairs: Sequence[Pair]) -> tuple[tuple[Mutant, ...], ...] | None:
    """Return pairs as two mistakes: the mutant common to all, and the alternatives beside it: AB, AC -> (A,), (B, C).

    None if the pairs do not have exactly one mutant in common.
    """
    (first, *others) = pairs
    if not others:
        return ((first[0],), (first[1],))
    common = [m for m in first if all(m in pair for pair in others)]
    if len(common) != 1:
        return None
    return ((common[0],), tuple(m for pair in pairs for m in pair if m is not common[0]))
