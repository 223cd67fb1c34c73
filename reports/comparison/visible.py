"""Texts of judged files as they can be shown: nothing in them moves, hides or overflows."""

import re
import unicodedata
from typing import Any

MOST = 2000  # characters of one text
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Return a text with what is unseen named, and cut where it is longer than MOST characters, which it says."""
    if len(text) > MOST:
        text = f"{text[:MOST]} … ({len(text) - MOST} more characters in the results file)"
    return named(text)


def named(text: str) -> str:
    """Return a text with each control character, and each that turns the direction of others, named in brackets.

    Tabs and ends of lines stay.
    """
    return _UNSEEN.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    character = found[0]
    if character == "\r":
        return ""
    return "[ESC]" if character == "\x1b" else f"[U+{ord(character):04X}{_name(character)}]"


def _name(character: str) -> str:
    name = unicodedata.name(character, "")
    return f" {name.lower()}" if name else ""


def deeply(value: Any) -> Any:
    """Return nested lists and dicts with all texts in them visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list | tuple):
        return [deeply(x) for x in value]
    return {key: deeply(x) for key, x in value.items()} if isinstance(value, dict) else value
