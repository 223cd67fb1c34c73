"""Check a results file against its JSON Schema."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError


def problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return the first thing about ``value`` that is not as the schema says, and where it stands, or None."""
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema), mask="it")  # what was found is told in its first characters
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
    """Return the error that lies deepest, where none of several forms fits; of the first form, where two are equal."""
    forms = getattr(error.kind, "context", ())  # of anyOf: the errors of each form
    return max((_innermost(e) for form in forms for e in form), key=lambda e: len(e.instance_path), default=error)
