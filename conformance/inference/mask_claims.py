"""What a file says of the values of a mask: by the name of the argument, or in words beside its name."""

import inspect
import re
import textwrap
from typing import Any

from attnconf.conformance.inference.vocabulary import snake

KEEPS, DROPS = "keeps", "drops"
_NAMES = {
    KEEPS: r"(is_)?(keep|valid|visible|allowed)(_mask)?",
    DROPS: r"(is_)?(block|blocked|hide|hidden|ignored?)(_mask)?",
}
_ONE, _ZERO = r"\b(1s?|ones?|True)\b", r"\b(0s?|zeros?|False)\b"
_NOT_HIDDEN = r"\b(not?|never|non|un)[ -]?(be |are |is )?(mask|pad|hid|ignor|block|drop)"
_HIDDEN = (
    r"pad|fill(ed|er|ing)|blank|dumm|"
    r"mask(s|ed|ing)\b|mask (it )?out|hid(e|es|den)\b|ignor|block|forbid|exclud|drop|remove|disallow|left out|"
    r"(no|not|nobody|never|cannot|can't|mustn't|don't)\b.*\b(attend|look|see|seen|use|take|count|allow|visible|valid)"
)
_SEEN = r"token|real|keep|kept|attend|valid|visible|allow|look|see|seen|used|take|takes|part|word|true length"

_PAD = r"(0|[\w.]*pad\w*)\b"
_OF_IDS = {
    KEEPS: rf"^\(?[\w.]+ *!= *{_PAD}|\bne\([^()]*\b{_PAD}\)",
    DROPS: rf"^\(?[\w.]+ *== *{_PAD}|\beq\([^()]*\b{_PAD}\)",
}


def claimed(thing: Any, name: str) -> str:
    """Return whether 1 or True in a mask "keeps" or "drops", going by the file; "" where nothing, or both, is said."""
    votes = _by_name(name) | _said(thing, name)
    return votes.pop() if len(votes) == 1 else ""


def said(thing: Any, name: str) -> str:
    """Return whether 1 or True in a mask "keeps" or "drops", going by words that the name does not contradict."""
    return claimed(thing, name) if _said(thing, name) else ""


def _by_name(name: str) -> set[str]:
    return {does for does, pattern in _NAMES.items() if re.fullmatch(pattern, snake(name).strip("_"))}


def _said(thing: Any, name: str) -> set[str]:
    return {vote for words in _beside(thing, name) for vote in _votes(words)} or set(_made_of_ids(thing, name))


def _beside(thing: Any, name: str) -> list[str]:
    """Return the lines of docstrings and comments that begin with an argument's name, each with what it goes on in."""
    try:
        lines = textwrap.dedent(inspect.getsource(thing)).splitlines()
    except (OSError, TypeError):
        return []
    found = []
    for i, line in enumerate(lines):
        told = re.match(rf'\s*(#|"""|[*-])?\s*`*{re.escape(name)}`*\s*(\([^)]*\)\s*)?[:=-]\s*(?P<words>.*)', line)
        code = re.match(rf"\s*{re.escape(name)}\s*(:[^#]*)?=?[^#]*#\s*(?P<words>.*)", line)
        if told and not _is_code(line):
            found.append(" ".join((told["words"], *_going_on(lines[i:]))))
        elif code:
            found.append(code["words"])
    return found


def _made_of_ids(thing: Any, name: str) -> list[str]:
    """Return what a line of the file's docstring says that makes a mask of ids: ``name = tokens == 0``."""
    module = inspect.getmodule(thing)
    lines = (getattr(module, "__doc__", None) or "").splitlines()
    made = [m[1] for line in lines if (m := re.match(rf"\s*{re.escape(name)}\s*=\s*(.*)", line))]
    return [does for words in made for does, pattern in _OF_IDS.items() if re.search(pattern, words)]


def _is_code(line: str) -> bool:
    return re.match(r"\s*\w+\s*(=|:\s*(torch\.|Optional|Tensor|bool|None))", line) is not None


def _going_on(lines: list[str]) -> list[str]:
    """Return the lines that are deeper than the first of them, up to one that is not."""
    depth, found = _depth(lines[0]), []
    for line in lines[1:4]:
        if not line.strip() or _depth(line) <= depth:
            break
        found.append(line.strip())
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _votes(words: str) -> list[str]:
    """Return what each clause says that 1 does; what it says of 0 is the opposite."""
    found: list[str] = []
    if re.search(r"\badd(ed|itive)?\b|\blogits?\b|-inf", words):
        return found  # its numbers are no truth values
    for clause in re.split(r"[,;.(]|\band\b|\bbut\b|\bor\b|(?=\b(?:0|False|zeros?)\b)", words):
        one, zero = (re.search(p, clause) is not None for p in (_ONE, _ZERO))
        if one == zero:
            continue
        said = clause.lower()
        if re.search(_NOT_HIDDEN, said) or (not re.search(_HIDDEN, said) and re.search(_SEEN, said)):
            found.append(KEEPS if one else DROPS)
        elif re.search(_HIDDEN, said):
            found.append(DROPS if one else KEEPS)
    return found
