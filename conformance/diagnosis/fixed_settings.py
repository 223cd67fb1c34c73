"""Settings that are hard-coded instead of read from the configuration: the reference with one entry fixed.

They are no mutants, as there are too many values; they are tried after the mutants, with values seen in the wild.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from attnconf.adapters.contract import Build, Forward
from attnconf.conformance.engine.request import Implementation

# Values hard-coded in the wild, by entry of a configuration.
VALUES: Mapping[str, tuple[Any, ...]] = {
    "eps": (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-12, 0.0),
    "activation": ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu", "sigmoid", "none"),
}


def fixed(config: Any) -> Iterator[str]:
    """Return the names of the settings to try for this kind of configuration: "eps=1e-06"."""
    entries = {entry.name for entry in fields(config)}
    return (f"{entry}={value}" for entry, values in VALUES.items() if entry in entries for value in values)


def said(names: Sequence[str]) -> tuple[str, str] | None:
    """Return (story, hint) for a hard-coded setting, or for several values of ε that rounding cannot tell apart."""
    (entry, value), *others = (name.split("=") for name in names)
    if entry == "eps" and all(other[0] == "eps" and float(other[1]) < float(value) for other in others):
        less = " or less" if others else ""
        return f"ε is {value}{less}, whatever the configuration says", "take eps from the configuration"
    if entry == "activation" and not others:
        return f"the activation is {value}, whatever the configuration says", "take activation from the configuration"
    return None


def fixing(implementation: Implementation, name: str) -> Implementation:
    """Return the implementation with one setting hard-coded: ``name`` is "eps=1e-06", say."""
    entry, text = name.split("=")
    (value,) = (value for value in VALUES[entry] if str(value) == text)

    def component(build: Build) -> Build:
        def built(config: Any, weights: Any) -> Forward:
            has = entry in {one.name for one in fields(config)}
            return build(replace(config, **{entry: value}) if has else config, weights)

        return built

    return replace(implementation, components={c: component(b) for c, b in implementation.components.items()})
