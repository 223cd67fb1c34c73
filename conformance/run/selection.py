"""``-k EXPR``: select planned checks, their cases, and timings."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnconf.conformance.run.plan import Planned

if TYPE_CHECKING:
    from attnconf.conformance.timing.run import Entrant


def by_expression(text: str) -> "tuple[Callable[[Planned, str], bool], Callable[[Entrant], bool]]":
    """Return two predicates for an expression: of (planned check, case name), and of an entrant to time.

    Words of the expression match requirement, implementation, component, lens and case.
    Raises ValueError, with a message, for an expression that cannot be parsed.
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
