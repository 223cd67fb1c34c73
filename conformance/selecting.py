"""``-k EXPR``: which planned checks, and which of their cases, are wanted."""

from attnconf.conformance.session import Planned, Select


def by_expression(text: str) -> Select:
    """Return what chooses by requirement, implementation, component, lens and case.

    Raises ValueError with a message.
    """
    from _pytest.mark.expression import Expression

    try:
        expression = Expression.compile(text)
    except SyntaxError as error:
        raise ValueError(f"-k {text!r}: {error}") from None

    def keep(planned: Planned, case: str) -> bool:
        entry = planned.entry
        whole = {word.lower() for word in (planned.implementation.name, entry.component, entry.lens, case)}

        def fits(name: str, /, **_: object) -> bool:
            return name.lower() in entry.requirement.lower() or name.lower() in whole

        return expression.evaluate(fits)

    return keep
