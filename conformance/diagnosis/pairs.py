"""Two mistakes at once: the pair of mutants that reproduces what neither does alone.

Tried on one call: the cheapest that neither the reference nor one mistake reproduces. What gives its reply is compared
on all calls. Not tried are two mutants that replace the same function, or of which neither is of another chapter and
that do not break, together, every failure at the root. Of the rest, and of the LIKELY likeliest mutants only, the
likeliest pairs are tried, as many per component as take a second or two (Shared.affordable), and none that are less
likely than AT_ONCE of which one fits. Likelier are, in this order: mistakes that explain another failure alone, that
show on that call alone, that break a failure at the root, that have been seen in the wild (``source``), and that are of
the component's own chapter.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product

from attnconf.conformance.diagnosis.replay import Comparison, Log
from attnconf.conformance.engine.mutant import Mutant

Pair = tuple[Mutant, Mutant]
AT_ONCE = 50
LIKELY = 150  # mutants, of which all pairs are considered


def candidates(
    known: Collection[str], shown: Collection[str], near: Sequence[Mutant], far: Sequence[Mutant], roots: set[str],
    beside: bool = False,
) -> list[Pair]:  # fmt: skip
    """Return the pairs worth trying, the likeliest first.

    ``known``: the names of those that explain a failure alone. ``shown``: of those that show alone on the call that is
    tried. ``near``: those that break something that failed. ``far``: those of other chapters. ``roots``: the
    requirements whose failure follows from no other. ``beside``: only pairs with a known one.
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
    """Return the pairs that give all replies. ``beside``: only such as have a known one."""
    telling = compare.telling(log)
    if not telling or not compare.shared.affordable:
        return []
    singles = known if beside else [m.id for m in (*near, *far)]
    screen = next((c for c in telling[:2] if not any(compare.same(name, *c) for name in singles)), telling[0])
    shown = set() if beside else {name for name in singles if not compare.silent(name, screen[0])}
    known = known if beside else {*known, *(name for name in singles if compare.same(name, *screen))}
    tried = candidates(known, shown, near, far, roots, beside)
    for first in range(0, len(tried), AT_ONCE):
        some = tried[first : first + AT_ONCE] if compare.shared.affordable else []
        found = [pair for pair in some if compare.fits(joined(pair), [screen, *telling, *log])]
        if found:
            return found
    return []


def joined(pair: Iterable[Mutant]) -> str:
    """Return the name of several mutants at once."""
    return "+".join(m.id for m in pair)


def alternatives(pairs: Sequence[Pair]) -> tuple[tuple[Mutant, ...], ...] | None:
    """Return pairs as two mistakes with the alternatives of each: one in all of them, and one of several; or None."""
    (first, *others) = pairs
    if not others:
        return ((first[0],), (first[1],))
    common = [m for m in first if all(m in pair for pair in others)]
    if len(common) != 1:
        return None
    return ((common[0],), tuple(m for pair in pairs for m in pair if m is not common[0]))
