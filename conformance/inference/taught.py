"""Objects that make their vocabulary of a text, or learn it by a method: where they keep it, and what is unknown."""

import copy
import re
from typing import Any

from attnconf.adapters.contract import TokenizerConfig
from attnconf.conformance.engine import text_codec
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.by_doing import of_one
from attnconf.conformance.inference.earlier_steps import KNOWN, attributes_of
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.token_text import (
    LIST,
    NO_ID,
    NUMBERED,
    NUMBERS,
    ROLES,
    TOKENS,
    UNKNOWN_ID,
    TokenText,
)
from attnconf.conformance.inference.trial import reply
from attnconf.conformance.inference.vocabulary import fitting, snake

FILLING = "low er new"
LEARN = ("fit", "train", "build_vocab", "build", "fit_on_texts")
UNLEARNT = "z"


def that_may_learn(thing: type) -> list[str]:
    """Return the methods of a class that are called so, else all that are given one thing."""
    return [name for name in LEARN if hasattr(thing, name)] or of_one(thing)


def taught(place: Place, built: str, learn: str) -> Any:
    """Return an object that has learnt a text, or several, by a method; None where it cannot."""
    config = TokenizerConfig("word", KNOWN, unknown="<unk>")
    for given in (FILLING, [FILLING]):
        try:
            made = attempt(lambda: eval(built, {"theirs": place.module, "config": config}))
            if learn:
                attempt(lambda made=made, given=given: getattr(made, learn)(given))  # type: ignore[misc]
            return made
        except Failed:
            continue
    return None


def own_unknown(taught: Any, encode: str) -> str:
    """Return the token that an object has for what it has not learnt, found by what it makes of that; or nothing."""
    try:
        ids = attempt(lambda: eval(encode, {"made": copy.deepcopy(taught), "text": UNLEARNT}))
    except Failed:
        return ""
    last = ids[-1] if isinstance(ids, list | tuple) and ids else None
    tables = [x for _, x in attributes_of(taught) if isinstance(x, dict) and all(isinstance(k, str) for k in x)]
    tokens = [token for table in tables for token, i in table.items() if i == last and set(token) - set(FILLING)]
    return tokens[0] if tokens and type(last) is int else ""


def held(name: str, x: Any) -> str:
    """Return the entry for something that holds a vocabulary, or its special tokens; nothing for anything else."""
    if isinstance(x, dict | list | tuple) and fitting(name.rpartition(".")[2], ROLES) == ["specials"]:
        return f'"{name}": {type(x).__name__}()'
    if type(x) is int:
        plain = snake(name.rpartition(".")[2]).strip("_")
        unknown = re.fullmatch(r"unk(nown)?(_?(id|idx|index|token(_?id)?))?", plain)
        return f'"{name}": {UNKNOWN_ID}' if unknown else f'"{name}": {NO_ID}' if re.fullmatch(NUMBERED, plain) else ""
    if isinstance(x, dict) and x and all(isinstance(k, str) and isinstance(v, int) for k, v in x.items()):
        return f'"{name}": {NUMBERS}'
    if isinstance(x, dict) and x and all(isinstance(k, int) and isinstance(v, str) for k, v in x.items()):
        return f'"{name}": {TOKENS}'
    if isinstance(x, list | tuple) and x and all(isinstance(v, str) for v in x):
        return f'"{name}": {LIST}'
    return ""


def with_own_unknown(place: Place, text: TokenText, taught: Any, encode: str) -> TokenText:
    """Return the text with what it has for an unknown token, where that is found in another vocabulary, too."""
    own = own_unknown(taught, encode) if encode else ""
    if not own:
        return text
    numbers = f"{{{own!r}: config.vocabulary.index(config.unknown), **{NUMBERS}}}"
    made = text.made if own == "<unk>" else text.made.replace(NUMBERS, numbers)
    one = text.but(made=made, kind="word", encode=encode, own_unknown=own)
    asked = Request("tokenizer", TokenizerConfig("word", KNOWN[::-1], unknown="<unk>"), {}, {"text": UNLEARNT}, ())
    got = reply(one.implementation(place), asked)
    told = not isinstance(got, Failure) and text_codec.ids(got.out) == [len(KNOWN) - 1]
    return one.but(encode="") if told else text
