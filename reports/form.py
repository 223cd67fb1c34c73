"""Check plain data against a JSON Schema, as far as our own schema goes; users need no validator installed.

Known: type, const, enum, required, properties, additionalProperties, items, anyOf, $ref into $defs. The rest is
ignored here, and checked by the tests with a full validator.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


def problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return the first thing about ``value`` that is not as the schema says, or None."""
    return next(_problems(value, schema, schema, ""), None)


def _problems(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(_is(value, name) for name in wanted):
        yield f"{at or 'the file'} is {value!r:.60}, want {' or '.join(wanted)}"
    choices = [schema["const"]] if "const" in schema else schema.get("enum", [value])
    if value not in choices:
        yield f"{at} is {value!r:.60}, want one of {', '.join(map(str, choices))}"
    if "anyOf" in schema:
        found = [next(_problems(value, option, root, at), None) for option in schema["anyOf"]]
        yield from [found[0]] if found[0] and all(found) else []
    if isinstance(value, dict):
        yield from _in_object(value, schema, root, at)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from _problems(item, schema["items"], root, f"{at}[{i}]")


def _in_object(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], at: str) -> Iterator[str]:
    dot = f"{at}." if at else ""
    yield from (f"{dot}{key} is missing" for key in schema.get("required", []) if key not in value)
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        known = schema.get("properties", {}).get(key, others)
        if known is False:
            yield f"{dot}{key} is not known"
        elif isinstance(known, dict):
            yield from _problems(item, known, root, f"{dot}{key}")


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
