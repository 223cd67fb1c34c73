"""Objects that make their vocabulary of a text, or learn it by a method: where they keep it, and what is unknown."""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from attnconf.adapters.contract import TokenizerConfig
from attnconf.conformance.engine import text_codec
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.finding.by_doing import of_one
from attnconf.conformance.inference.tokens.token_text import (
    LIST,
    NO_ID,
    NUMBERED,
    NUMBERS,
    REFUSALS,
    ROLES,
    TOKENS,
    UNKNOWN_ID,
    TokenText,
)
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in_file
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import gap, reply
from attnconf.conformance.inference.words.vocabulary import fitting, snake
from attnconf.conformance.source import source_text

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


def left_out(place: Place, text: TokenText) -> tuple[str, ...]:
    """Return in words what decoding leaves out by default of a text without special tokens; nothing where it is whole.

    The text is what the object has learnt its own vocabulary from; without the default it comes back as it is.
    """
    plainly, by_default = text.decode, re.sub(r", \w+=False", "", text.decode)
    if not (text.encode and text.own[0]) or plainly == by_default:
        return ()
    space = {"made": taught(place, *text.own), "text": FILLING}
    try:
        space["ids"] = attempt(lambda: eval(text.encode, space))
        whole, rest = (attempt(lambda call=call: eval(call, space)) for call in (plainly, by_default))  # type: ignore[misc]
    except Failed:
        return ()
    options = ", ".join(f"`{name}`" for name in re.findall(r"\b(\w+)=False", plainly))
    lost = f"where {options} is on, {rest!a} comes back of {FILLING!a}, in which no token is a special one"
    return (lost,) if whole == FILLING != rest else ()


# -- steps that learning a vocabulary makes and encoding does, too: small letters, punctuation split off

LEARNT_FROM = "Qop,xyz Qop,xyz"  # learnt in small letters and without punctuation it is qop , xyz
KNOWN = ("<unk>", "<pad>", "<s>", "</s>", "new", "low", ",", "er")  # what stands for an unknown word is at the front
ALIKE = {"small": ("Low er", "low er"), "split": ("low,er", "low , er")}
SHOWN = {"small": ("low", "er"), "split": ("low", ",", "er")}  # the tokens of these
SMALL = (
    r"(?i)uncased|lower[-_ ]?cas|to_?lower|small letters|case[-_ ]?insensitiv|ignor\w+[-_ ]case|min[uú]scul|"
    r"kleinschreib|kleingeschrieb|kleinbuchstab|小写|小文字"
)
_WHITE = r"\bonly\b.{0,30}\b(white[- ]?space|spaces|blanks)|\bwhite[- ]?space only"
WHITE_ONLY = rf"(?im)^(?!.*\b(not?|nothing|never)\b).*({_WHITE})"


def learnt_steps(place: Place, built: str, methods: Sequence[str], filling: str) -> tuple[str, ...]:
    """Return the steps that what is in a learnt vocabulary shows.

    ``built``: what makes the object, of ``filling`` if it learns then; ``methods``: by which it learns later, "" none.
    """
    found: set[str] = set()
    for learn, given in product(methods, (LEARNT_FROM, [LEARNT_FROM])):
        words = learnt_from(place, built, learn, filling, given)
        if any("q" in w for w in words) and not any("Q" in w for w in words):
            found.add("small")
        if "," in words and {"qop", "Qop"} & words:
            found.add("split")
    return tuple(step for step in REFUSALS if step in found)


def learnt_from(place: Place, built: str, learn: str, filling: str, given: Any) -> set[str]:
    """Return the strings in the attributes of what has learnt from ``given`` instead; none where that fails."""
    built = built.replace(repr(filling), "GIVEN").replace(repr(filling.split()), "GIVEN")
    config = TokenizerConfig("word", KNOWN, unknown="<unk>")
    space: dict[str, Any] = {"theirs": place.module, "GIVEN": given, "config": config}
    try:
        space["made"] = attempt(lambda: eval(built, space))
        if learn:
            attempt(lambda: eval(f"made.{learn}(GIVEN)", space))
    except Failed:
        return set()
    return set(_words(space["made"]))


def attributes_of(made: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object, then those of objects of its own module that it holds: ``part.name``."""
    own = dict(getattr(made, "__dict__", {}))
    yield from own.items()
    for name, part in own.items():
        if type(part).__module__ == type(made).__module__:
            yield from ((f"{name}.{inner}", x) for inner, x in getattr(part, "__dict__", {}).items())


def _words(made: Any) -> Iterator[str]:
    for _, x in attributes_of(made):
        if isinstance(x, dict | list | tuple):
            yield from (w for w in x if isinstance(w, str))


def with_steps(place: Place, text: TokenText, implementation: Callable[[TokenText], Any]) -> TokenText:
    """Return the text with those of its steps that it makes in encoding, too: the reading refuses what they change."""
    if not text.encode or text.kind != "word":
        return text
    told = text.own_unknown or "config.unknown" in text.whole
    config = TokenizerConfig("word", KNOWN, unknown="<unk>" if told else None)
    plain = implementation(text)
    kept = []
    for step in text.learnt if text.own[0] else REFUSALS:
        answers = [reply(plain, Request("tokenizer", config, {}, {"text": words}, ())) for words in ALIKE[step]]
        if not gap(answers[0], answers[1]) and (text.own[0] or _makes(answers[0], SHOWN[step])):
            kept.append(step)
    return text.but(steps=tuple(kept)) if text.own[0] else _meant(place, text.but(steps=tuple(kept)))


def _makes(answer: Any, tokens: Sequence[str]) -> bool:
    """Return whether the ids of an answer are those of tokens in KNOWN."""
    return not isinstance(answer, Failure) and text_codec.ids(answer.out) == [KNOWN.index(token) for token in tokens]


def _meant(place: Place, text: TokenText) -> TokenText:
    """Return the text of what is given its vocabulary with those of its steps that its file means.

    Letters that are made small in words are a step; where only the code does so, it is a mistake. No comma becomes a
    token of its own by chance, so nothing has to be said of that, but that only white space splits denies it.
    """
    whole = source_text.text_of_module(place.module)
    words = whole.text if whole else ""
    denied = re.search(WHITE_ONLY, "\n".join(said_in_file(place.module))) is not None
    unsaid = re.search(SMALL, words) is None
    left_out = {*(["split"] if denied else []), *(["small"] if unsaid else [])}
    return text.but(steps=tuple(step for step in text.steps if step not in left_out))
