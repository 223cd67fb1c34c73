"""Check a results file against its JSON Schema."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError


def problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return the first violation of the schema in ``value``, with its place; None if there is none."""
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema), mask="it")  # a long value is cut, below
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except UnicodeEncodeError as unknown:
        return f"{unknown.object!r:.60} holds half a character: {unknown.reason}"
    if error is None:
        return None
    error = _innermost(error)
    place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.instance_path)
    return f"{place.removeprefix('.') or 'the file'}: {error.message}; found {error.instance!r:.60}"


def _innermost(error: "ValidationError") -> "ValidationError":
    """Return the deepest error if none of several forms fits; of two equally deep ones, that of the first form."""
    forms = getattr(error.kind, "context", ())  # of anyOf: the errors of each form
    return max((_innermost(e) for form in forms for e in form), key=lambda e: len(e.instance_path), default=error)
