"""Files in which id 0 is padding, and that say so: the ids that are asked about are those after it.

Which id is padding is the file's affair where it says it: in words, by what it calls `<pad>`, by comparing ids with 0,
or with what it says to be 0, or to a table, `padding_idx=0`. Where nothing says so, id 0 is an id like the others, and
a row that never learns is a mistake. That the file does as it says is seen by what it does.

What a table is told says which row does not learn, and no more: that nobody sees the padding is promised by the others.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import nn

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Implementation, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.trial import reply, same, same_numbers, textbook
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings
from attnconf.conformance.source import source_text
from attnconf.conformance.source.signatures import parameters_of

T = TypeVar("T", LayerText, Text)
PADS = 2  # ids of padding behind a source
COUNTS = (
    "id 0 is padding by what the file says, and a source that is padded gives other scores than without its padding"
)
NAMED = r"""['"][<\[{(]*pad(ding)?[>\]})]*['"]"""  # "<pad>"
FILLER = r"(pad|relleno|füll|fuell|remplissage|bourrage|riempimento|preenchimento|填充)"  # in other languages, too
SAYS = (
    rf"{NAMED}\s*(:|\]\s*=)\s*0\b",  # {"<pad>": 0}
    rf"[\[(]\s*{NAMED}\s*,",  # ["<pad>", …: the first of a list
    r"\b(?!padding_idx\s*=)\w*pad\w*(\s*:\s*[\w\[\]., |]+)?\s*=\s*0\b",  # PAD = 0; not what a table is told alone
    r"\b(id|index|token|number)s?\s+0\b[^\n.;]{0,24}\bpad",  # id 0 is padding
    r"(?<![=!]= )(?<![=!]=)\b0\s*(is|means|=|:|marks|stands for|for|->|→)\s*(the\s+|a\s+)?['\"<\[]*pad",
    rf"\b0\s*(es|ist|est|é|è|是|表示|代表|为)\s*(el\s+|la\s+|le\s+|das\s+|der\s+|die\s+|o\s+|il\s+)?{FILLER}",
    rf"def \w*{FILLER}\w*\([^()]*\)[^\n]*:\n(?:(?!\s*def ).*\n){{0,6}}?.*([!=]= *0\b|\b(eq|ne)\(0\))",  # by its name
    r"\bpad(ding)?(ded|s)?\b[^\n.;=!]{0,24}\b(with|by|is|id|token|index)\s+(id\s+|a\s+)?0(?![.\w])",  # padded with 0
)
ASKED = r"(=|return) *\(* *(\w+ *[!=]= *0\b(?!\.)|\w+\.(eq|ne)\(0\))"  # hidden = ids == 0; not width % heads == 0
_ONE = r"(?:[^,()]|\([^()]*\))+"  # an argument
TABLE = rf"\bEmbedding\(\s*(?:{_ONE},\s*{_ONE},\s*0\s*[,)]|(?:{_ONE},\s*)*padding_idx\s*=\s*0\b)"

GIVEN = rf"\b({SIZES['padding']})=0\b"  # by us, in place of another
SEVERAL = r"^[ \t]*((?:\w+ *, *)+\w+) *= *\(?((?:\d+ *, *)+\d+|range\(\d+\))"  # PAD, BOS, EOS = 0, 1, 2
# The name that ids are compared with.
COMPARED = r"[!=]=\s*(?:[a-z_]\w*\.)*([a-z_]\w*)\b|\.(?:eq|ne)\(\s*(?:[a-z_]\w*\.)*([a-z_]\w*)\s*\)"


def _first_of_several(text: str) -> set[str]:
    """Return the names that are 0 where several get their values in one line: ``PAD, BOS, EOS = 0, 1, 2``."""
    return {
        name
        for names, values in re.findall(SEVERAL, text, re.MULTILINE)
        for name, value in zip(re.split(r"\s*,\s*", names), re.split(r"\s*,\s*", values), strict=False)
        if value == "0" or value.startswith("range(")
    }


def says_zero_is_padding(place: Place) -> bool:
    """Return whether a file says, in words or in code besides that of a table, that id 0 is padding."""
    text = source_text.text_of_module(place.module)
    if text is None:
        return False
    compared = _compares_with_zero(text.text) or re.search(ASKED, source_text.code_reached(place.thing))
    named = any(re.search(FILLER, name, re.IGNORECASE) for name in _first_of_several(text.text))
    return bool(compared) or named or any(re.search(pattern, text.text, re.IGNORECASE) for pattern in SAYS)


def tells_table_zero(place: Place) -> bool:
    """Return whether a table of the file is made with id 0 as its padding, in so many words."""
    text = source_text.text_of_module(place.module)
    return text is not None and re.search(TABLE, text.text) is not None


def _compares_with_zero(text: str) -> bool:
    """Return whether something is compared with what is 0 where it has its value, whatever it is called."""
    names = {one or other for one, other in re.findall(COMPARED, text)}
    return bool(names & _first_of_several(text)) or any(
        re.search(rf"\b{name}(\s*:\s*[\w\[\]., |]+)?\s*=\s*0\b", text) for name in names
    )


def beside_padding(place: Place, text: T, asked: Request) -> T:
    """Return the text with ids after id 0, where that is padding by what a file says, or tells a table, and does.

    ``asked``: a call that succeeds. What takes the padding's id from its caller is asked for it.
    """
    said = says_zero_is_padding(place) or tells_table_zero(place) or re.search(GIVEN, text.made.text)
    if takes_padding(text) or not said:
        return text
    one = _with_zeros(asked, gradients=not place.in_arrays)
    moved = text.but(padded=True)
    alike = [_alike(t.implementation(place), t.conventions(), one)
             for t in (text, moved)]  # fmt: skip
    return moved if alike == [False, True] else text


def half_hidden(place: Place, text: LayerText, asked: Request) -> tuple[str, ...]:
    """Return a word on padding in a source that counts, in a file that treats its id apart: some part sees it still.

    A source without its padding is the same source.
    """
    if not text.padded or "source" not in asked.inputs:
        return ()
    apart = text.but(padded=False)
    made = apart.implementation(place)
    whole = asked.inputs["source"].clamp(min=1)
    padded = torch.cat([whole, torch.zeros_like(whole[:, :PADS])], dim=1)
    calls = [replace(asked, inputs={**asked.inputs, "source": x, "target": asked.inputs["target"].clamp(min=1)})
             for x in (whole, padded)]  # fmt: skip
    cut, given = (reply(made, call) for call in calls)
    plain = reply(in_conventions(textbook(), text.declares), calls[1])
    if any(isinstance(one, Failure) for one in (cut, given, plain)):
        return ()
    return () if same(given, cut) or same(given, plain) else (COUNTS,)


def takes_padding(text: LayerText | Text) -> bool:
    """Return whether a text hands the id of the padding over."""
    return "config.padding_id" in text.made.text or "unpadded(" in text.made.text


def _with_zeros(asked: Request, gradients: bool) -> Request:
    """Return a call with id 0 among the others, and gradients of the tables wanted where there are some."""
    inputs = {name: x.clone() for name, x in asked.inputs.items()}
    for x in inputs.values():
        x[:, -1:] = 0
    tables = tuple(name for name in asked.weights if name.endswith(("table.weight", "source.weight", "target.weight")))
    like = next(iter(asked.weights.values()))
    if not gradients:
        return replace(asked, inputs=inputs)
    return replace(asked, inputs=inputs, cotangent=torch.ones(asked.out_shape).to(like), wrt=tables)


def _alike(implementation: Implementation, declares: Mapping[str, str], request: Request) -> bool:
    """Return whether an implementation and the textbook agree on a call, output and gradients."""
    given, wanted = reply(implementation, request), reply(in_conventions(textbook(), dict(declares)), request)
    if isinstance(given, Failure) or isinstance(wanted, Failure) or not same(given, wanted):
        return False
    pairs = [(given.grads[name], wanted.grads[name]) for name in request.wrt]
    return all(same_numbers(a, b) for a, b in pairs)


def with_its_padding(
    place: Place, made: Construction, built: Callable[[Construction], tuple[Any, Any]]
) -> Construction:
    """Return a construction with the argument that is the id of padding, whatever it is called: its table says so."""
    named = {m for p in parameters_of(place.thing) if f"{p.name}=" in made.text for m in meanings(p.name)}
    if "padding" in named or not made.text.endswith(")") or not made.text.startswith(f"{place.name_in_text}("):
        return made
    comma = "" if made.text.endswith("()") else ", "
    for p in parameters_of(place.thing):
        if (p.default is None or type(p.default) is int) and f"{p.name}=" not in made.text:
            begun = f"{made.text[:-1]}{comma}{p.name}="
            if _pads(built, replace(made, text=f"{begun}{PROBED})")):
                return replace(made, text=f"{begun}config.padding_id)", given=made.given | {"padding"})
    return made


def with_padding_zero(made: Construction) -> Construction:
    """Return a construction with id 0 for its padding in place of one that may be none: not all take None there."""
    return replace(made, text=made.text.replace("=config.padding_id", "=0"), given=made.given - {"padding"})


PROBED = 3  # an id that is no usual default


def _pads(built: Callable[[Construction], tuple[Any, Any]], made: Construction) -> bool:
    try:
        _, thing = built(made)
    except Failed:
        return False
    parts = thing.modules() if isinstance(thing, nn.Module) else ()
    return any(isinstance(part, nn.Embedding) and part.padding_idx == PROBED for part in parts)
