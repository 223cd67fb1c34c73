"""``-k EXPR``: select planned checks, their cases, and timings."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from attnconf.conformance.run.plan import Plan, Planned, case_names
from attnconf.spec import registry
from attnconf.spec.nearest import hint

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
        raise ValueError(f"{text!r}: {error}") from None

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


def nothing_selected(text: str, plan: Plan) -> str:
    """Return why an expression selects nothing of a plan: a requirement of something else, or a mistyped name."""
    components = dict.fromkeys(p.entry.component for p in plan.planned)
    names = [name for p in plan.planned for name in (p.entry.requirement, *case_names(p, plan.settings))]
    known = {name.upper(): name for name in (*components, *names)}
    words = [word for word in re.findall(r"[\w-]+", text) if word not in ("and", "or", "not")]
    elsewhere = [word for word in words if word.upper() in registry.requirements() and word.upper() not in known]
    mistyped = [word for word in words if not any(word.upper() in name for name in known)]
    near = next((end for word in mistyped if (end := hint(word.upper(), known, known))), "")
    reason = f": {elsewhere[0]} is not judged on {', '.join(components)}" if elsewhere else near
    return f"{text!r} selects nothing{reason}"
