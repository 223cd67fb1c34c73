"""``--thorough``: explore around the scored cases with Hypothesis, and shrink what fails to the smallest sizes.

Never scored: which examples are drawn changes with the library's version.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from attnconf.conformance.engine.case import REGIMES, Case
from attnconf.conformance.engine.judge import CaseResult, run_case
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject

EXAMPLES = 25


def explore(subject: Subject, checked: Checked, cases: Sequence[Case]) -> CaseResult | None:
    """Return the smallest failing case that Hypothesis finds, or None."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample
    from hypothesis.strategies import integers, lists, sampled_from, tuples

    cases = [case for case in cases if not case.fixed]
    if not cases:
        return None
    most = max(len(case.shape.names) for case in cases)
    drawn = tuples(
        sampled_from(range(len(cases))),
        lists(integers(1, 4), min_size=most, max_size=most),
        sampled_from(tuple(REGIMES)),
        integers(0, 99),
    )
    last: list[CaseResult] = []

    def fails(example: tuple[int, list[int], str, int]) -> bool:
        which, steps, regime, seed = example
        case = around(cases[which], steps).but(name="explored", regime=regime, seed=seed)
        result = run_case(subject, checked, case)
        if result.outcome == "fail":
            last[:] = [result]
        return result.outcome == "fail"

    quiet: Any = settings(
        max_examples=EXAMPLES, database=None, deadline=None, phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    try:
        with _nothing_left_behind():
            fails(find(drawn, fails, settings=quiet, random=Random(0)))
    except NoSuchExample:
        return None
    return last[0]


@contextmanager
def _nothing_left_behind() -> Iterator[None]:
    """Keep Hypothesis from making a folder ``.hypothesis``: it notes the constants of modules there."""
    from hypothesis.configuration import set_hypothesis_home_dir, storage_directory

    own = storage_directory(intent_to_write=False).path  # of the user's tests, in which this may run
    set_hypothesis_home_dir(os.devnull)  # nothing can be written below it, and Hypothesis goes without
    try:
        yield
    finally:
        set_hypothesis_home_dir(own)


def around(case: Case, steps: Sequence[int]) -> Case:
    """Return the case with other sizes, which keep the order and the equalities of its sizes.

    The i-th smallest size becomes the sum of the first i steps. A size that must be a multiple of m becomes the next
    multiple of m, at least 2·m.
    """
    names = case.shape.names
    other = {size: sum(steps[: i + 1]) for i, size in enumerate(sorted({case.sizes[name] for name in names}))}
    sizes = {name: other[case.sizes[name]] for name in names}
    for name, of in case.shape.multiples.items():
        sizes[name] = of * max(2, -(-sizes[name] // of))
    return case.but(**sizes)
