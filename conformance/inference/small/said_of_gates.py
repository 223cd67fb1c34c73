"""What a file's words say of the order of two layers in one parameter, which experiment cannot tell from a choice."""

import re
from collections.abc import Sequence

from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in_file

_ROLES = {"gate": r"gates?|gating", "up": r"values?|up|linear|content|candidates?"}
_ACTIVATED = r"(?:silu|swish|gelu|relu|sigmoid|σ)\s*\(\s*(?:x\s*@\s*)?(\w+)"
_OTHER = (r"[*·⊙]\s*\(?(?:x\s*@\s*)?(\w+)", r"(\w+)(?:\(\w+\))?\s*[*·⊙]\s*(?:silu|swish|gelu|relu|sigmoid|σ)")
_FIRST_AND_SECOND = r"\bfirst\b(.{1,60}?)\b(?:second|then|last|other|latter)\b(.{1,60})"
_PAIR = r"[\[(]\s*([\w ]+?)\s*[,;|]\s*([\w ]+?)\s*[\])]"
ORDER = {"gate": ("first", "second"), "up": ("second", "first")}  # what lies first: where the gate is, and is not


def swapped(place: Place, state: Sequence[str]) -> tuple[str, ...]:
    """Return a word on a gate and a layer in one parameter that lie the other way round than the file says.

    ``state``: the entries of the parameters; the gate's is what is activated.
    """
    first = re.search(r'torch\.(?:cat|stack)\(\[weights\["(gate|up)\.weight"\]', " ".join(state))
    said = _said_first(" ".join(said_in_file(place.module))) if first else None
    if not first or said is None or said == first[1]:
        return ()
    here, there = ORDER[first[1]]
    return (f"the gate is the {here} half, and the file says that it is the {there}",)


def _said_first(words: str) -> str | None:
    """Return which of the two is said to come first; None where nothing, or both, is said."""
    roles = _roles(words)
    pairs = [found.groups() for pattern in (_FIRST_AND_SECOND, _PAIR)
             for sentence in re.split(r"\.\s|[;:]", words) for found in re.finditer(pattern, sentence)]  # fmt: skip
    said = {one for one, other in ((_role(a, roles), _role(b, roles)) for a, b in pairs) if {one, other} == {*roles}}
    return said.pop() if len(said) == 1 else None


def _roles(words: str) -> dict[str, str]:
    """Return the names of both; those in a formula, too."""
    roles = dict(_ROLES)
    activated = re.search(_ACTIVATED, words)
    others = {found[1] for pattern in _OTHER for found in re.finditer(pattern, words)}
    if activated and len(others := others - {activated[1], "x"}) == 1:
        roles = {"gate": f"{roles['gate']}|{activated[1]}", "up": f"{roles['up']}|{others.pop()}"}
    return roles


def _role(words: str, roles: dict[str, str]) -> str | None:
    found = [role for role, names in roles.items() if re.search(rf"\b({names})\b", words)]
    return found[0] if len(found) == 1 else None
