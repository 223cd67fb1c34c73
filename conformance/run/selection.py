"""``-k EXPR``: which planned checks, which of their cases, and which of what is timed, are wanted."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnconf.conformance.run.plan import Planned

if TYPE_CHECKING:
    from attnconf.conformance.timing.run import Entrant


def by_expression(text: str) -> "tuple[Callable[[Planned, str], bool], Callable[[Entrant], bool]]":
    """Return what chooses checks, by requirement, implementation, component, lens and case, and what chooses timings.

    Raises ValueError with a message.
    """
    from _pytest.mark.expression import Expression

    try:
        expression = Expression.compile(text)
    except SyntaxError as error:
        raise ValueError(f"-k {text!r}: {error}") from None

    def fits(requirement: str, *words: str) -> bool:
        whole = {word.lower() for word in words}

        def has(name: str, /, **_: object) -> bool:
            return name.lower() in requirement.lower() or name.lower() in whole

        return expression.evaluate(has)

    def keep(planned: Planned, case: str) -> bool:
        entry = planned.entry
        return fits(entry.requirement, planned.implementation.name, entry.component, entry.lens, case)

    def race(entrant: "Entrant") -> bool:
        case = entrant.case
        return fits("", entrant.contender.name, case.component, case.passes, case.name, "throughput")

    return keep, race
