"""What a file says of a mask: of its values, by its name or in words beside it; and of which attention it is for."""

import inspect
import re
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from types import FunctionType
from typing import Any

from attnconf.conformance.inference.trials.claims import said_in
from attnconf.conformance.inference.words.mask_words import DROPS, KEEPS, votes
from attnconf.conformance.inference.words.vocabulary import snake

_OF = r"(is|key|token|mem(ory)?|src|source|tgt|trg|target|enc(oder)?|dec(oder)?)_"
_NAMES = {
    KEEPS: rf"({_OF})?(keep|valid|visible|allowed)(_mask)?",
    DROPS: rf"(is_)?(block|blocked|hide|hidden|ignored?)(_mask)?|{_OF}(blocked|ignored?)(_mask)?",
}
_PAD = r"(0|[\w.]*pad\w*)\b"
_OF_IDS = {
    KEEPS: rf"^\(?[\w.]+ *!= *{_PAD}|\bne\([^()]*\b{_PAD}\)",
    DROPS: rf"^\(?[\w.]+ *== *{_PAD}|\beq\([^()]*\b{_PAD}\)",
}

OF_MASKS = (
    r"mask|pad|valid|hid|visib|keep|drop|ignor|att|allow|block|real|len|true|false|may|can|see|read|neighb|edge|"
    r"m[aá]s[ck]|maskier|relleno|füll|remplissage|riempi|longitud|länge|laenge|longueur"
)


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
    own = {vote for words in beside(thing, name) for vote in votes(words)} or set(_made_of_ids(thing, name))
    own = own or _said_where_made(thing, name)
    own = own or {vote for f in _handed_to(thing, name) for words in beside(f, name) for vote in votes(words)}
    own = own or {vote for words in _beside(_words_of_file(thing), name) for vote in votes(words)}
    return own or {vote for words in _in_sentences(thing, name) for vote in votes(words)}


def words_on(thing: Any, name: str) -> str:
    """Return what is said of an argument, also in the functions of the file that it is handed to as it came."""
    return " ".join(words for f in (thing, *_handed_to(thing, name)) for words in beside(f, name))


def _said_where_made(thing: Any, name: str) -> set[str]:
    """Return what is said in a function of the file that words beside an argument name as what makes it."""
    there = vars(inspect.getmodule(thing) or object)
    named = {word for words in beside(thing, name) for word in re.findall(r"\b[a-z]\w*\b", words)}
    makers = [there[word] for word in named if isinstance(there.get(word), FunctionType) and there[word] is not thing]
    told = [words for f in makers for words in said_in("\n".join(_lines(f)))]
    return {vote for words in told for vote in votes(words)}


def _handed_to(thing: Any, name: str) -> list[FunctionType]:
    """Return the functions of the file that are handed an argument as it came, and call it the same."""
    code, beside = "\n".join(_lines(thing)), vars(inspect.getmodule(thing) or object).items()
    if re.search(rf"^\s*{re.escape(name)}\s*=(?!=)(?!.*,\s*$)", code, re.MULTILINE):
        return []  # what is handed on is made anew
    called = set(re.findall(rf"\b(\w+)\((?:[^()]*,)?\s*{re.escape(name)}\s*[,)=]", code))
    functions = [f for n, f in beside if n in called and isinstance(f, FunctionType) and f is not thing]
    return [f for f in functions if name in inspect.signature(f).parameters]


def _lines(thing: Any) -> list[str]:
    try:
        return textwrap.dedent(inspect.getsource(thing)).splitlines()
    except (OSError, TypeError):
        return []


def said_to_be_other(thing: Any, name: str) -> bool:
    """Return whether a file says what an argument is, and says nothing of a mask."""
    words = " ".join(words for words in beside(thing, name) if not re.search(r"= *(None|True|False)\b", words))
    return bool(words) and not re.search(OF_MASKS, words, re.IGNORECASE)


def beside(thing: Any, name: str) -> list[str]:
    """Return the lines of docstrings and comments that begin with an argument's name, each with what it goes on in.

    It may stand behind another argument in its line, too.
    """
    return _beside(_lines(thing), name)


def _beside(lines: list[str], name: str) -> list[str]:
    found = []
    named = (
        rf"`*{re.escape(name)}`*((\s*[(\[][^()\[\]]*[)\]])?\s{{2,}}(?=[^\s:=-])|"  # in columns
        r"\s*([(\[][^()\[\]]*[)\]]\s*)?([:=-]|(is|are)\b)|\s+[(\[][^()\[\]]*[)\]]\s*,(?=\s*\S))"
    )
    for i, line in enumerate(lines):
        told = re.match(rf'\s*(#|"""|[*-])?\s*{named}\s*(?P<words>.*)', line)
        code = re.match(rf"\s*{re.escape(name)}\s*(:[^#]*)?=?[^#]*#\s*(?P<words>.*)", line)
        if told and not _is_code(line):
            found.append(" ".join((told["words"], *_going_on(lines[i:]))))
        elif code:
            found.append(code["words"])
    shape = r"([(\[][^()\[\]]*[)\]]\s*)?"
    said = list(said_in("\n".join(lines)))
    begins = rf"[,;.]\s+`*{re.escape(name)}`*\s*"
    for within in (
        rf"{begins}{shape}[:=]\s*(?P<words>\S.*)",
        rf"{begins}(?<=\s)[(\[][^()\[\]]*[)\]]\s*,\s*(?P<words>[^;]+)",
    ):
        found += [m["words"] for line in said if (m := re.search(within, line))]
    quoted = rf"`{re.escape(name)}`+\s*{shape}(is|are)\s+(?P<words>[^.;]+)"
    return found + [m["words"] for m in re.finditer(quoted, " ".join(said))]


def _in_sentences(thing: Any, name: str) -> list[str]:
    """Return what sentences of a class or function, and of its file, say that an argument is."""
    said = " ".join((*said_in("\n".join(_lines(thing))), *_words_of_file(thing)))
    shape = r"([(\[][^()\[\]]*[)\]]\s*)?,?\s*"
    ties = r"is|are|vaut|est|ist|es|vale|è|(in|of) which|where|whose|dans lequel|où|in der|wobei|en la que|donde"
    is_said = rf"\b{re.escape(name)}\b`*\s+{shape}({ties})\s+(?P<words>[^.;]+)"
    return [m["words"] for m in re.finditer(is_said, said)]


def _made_of_ids(thing: Any, name: str) -> list[str]:
    """Return what a line of the file's docstring says that makes a mask of ids: ``name = tokens == 0``."""
    lines = _words_of_file(thing)
    made = [m[1] for line in lines if (m := re.match(rf"\s*{re.escape(name)}\s*=\s*(.*)", line))]
    return [does for words in made for does, pattern in _OF_IDS.items() if re.search(pattern, words)]


def _words_of_file(thing: Any) -> list[str]:
    return (getattr(inspect.getmodule(thing), "__doc__", None) or "").splitlines()


def _is_code(line: str) -> bool:
    return re.match(r"\s*\w+\s*(=|:\s*(torch\.|Optional|Tensor|bool|None))", line) is not None


def _going_on(lines: list[str]) -> list[str]:
    """Return the lines that are deeper than the first of them, or go on after its comma, up to one that is not."""
    depth, found = _depth(lines[0]), []
    for before, line in pairwise(lines[:4]):
        goes_on = _depth(line) > depth or (before.rstrip().endswith(",") and not re.match(r"\s*\w+\s*[:=] *\D", line))
        if not line.strip() or not goes_on:
            break
        found.append(line.strip())
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


# -- of a layer: which attention a mask is for, by its name

_MEMORY = r"mem|src|source|enc|cross|context|question"
_SELF = r"tgt|trg|target|self|look|dec|causal|future|ahead|answer"


def may_be(name: str, which: str) -> bool:
    """Return whether a mask of this name may be for the attention to the memory ("memory"), or to itself ("self")."""
    memory, own = (re.search(pattern, name.lower()) is not None for pattern in (_MEMORY, _SELF))
    return memory or not own if which == "memory" else own or not memory


def likeliest_first(names: Sequence[str], which: str) -> list[str]:
    """Return names of masks, those first that speak of an attention, and of padding last where it is to itself."""

    def rank(name: str) -> tuple[bool, bool]:
        return not may_be(name, which), re.search(r"pad|valid|len", name.lower()) is not None and which == "self"

    return sorted(names, key=rank)
