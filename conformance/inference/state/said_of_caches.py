"""What a file's words say of how many tokens may come at once after those that a cache holds.

Much right code is for one new token after the other, and is wrong or fails where several come; that several may come
has to be said before they are asked for in earnest.
"""

import re

from attnconf.conformance.inference.state.kept_state import FAILS, SEVERAL
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.claims import said_in_file, words_of
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings
from attnconf.conformance.source import source_text

_ANY = (  # said of how many, whatever else is said of one alone
    r"\b(chunk|piece|block|part)s?\b[^.]{0,40}\b(any|every|each|arbitrary|whatever)\b|"
    r"\b(chunk|piece|block|part)s\b[^.]{0,30}\b(one after (another|the other)|after one another|in turn)\b|"
    r"\bchunked (prefill|decoding)\b|\b[A-Za-z] ?(>= ?1|> ?0)\b|\bas if the whole (sequence|text)\b|"
    r"\b(any|every|arbitrary) (length|number of (\w+ )?(tokens|positions|steps|rows))\b|"
    r"\b(one|1|single|token)\b[^.]{0,20}\bor (in |as )?((an?|any|further|longer|whole) )?"
    r"(chunks?|blocks?|pieces?|several|more|many)\b"
)
_SEVERAL = (
    r"\b(chunk|piece|block|part) (by|after) (chunk|piece|block|part)\b|\bin (chunk|piece|block)s\b|"
    r"\bof several (new )?tokens\b|"
    r"\b(one or (more|several|many)|several|multiple|more than one) (new |next )?(tokens?|positions)\b|"
    r"\bmulti-?token\b"
)
_ONE = (
    r"\b(one|single|1|a) (new |next |more )?(token|position|step|query|word|id)\b|\b(token|step|word) (by|after|for) "
    r"|\bone (by|after) |\bat a time\b|\bper (step|call)\b|[(\[] ?\w+, ?1(, ?\w+)? ?[)\]]|"
    r"\b(un|une|ein|einen|um|uma|uno|una) (nuevo |neues |nouveau |novo |nuovo )?(token|jeton|posi\w+)\b"
)
_FED = r"\w\[:, ?-1:\]|\w\[-1:\]"  # code that hands on the last token alone
_HANDED = r"\[:, ?(\d+):(\d+)\], ?(?:\w+ ?= ?)?(?:past|cache|state|kv)"  # an example: attn(x[:, 10:14], past)
ONE_ALONE = "takes one new token at a time, and is asked for that alone"
NOT_SAID = "continues a sequence by one token: several at once are something else, and nothing says that they may come"


def as_promised(place: Place, told: str, also: str = "") -> str:
    """Return words on a cache such that they hold against nobody what nobody promises, ``also`` in other words."""
    if told not in (SEVERAL, FAILS):
        return told
    if _promises_several(place, also):
        return told
    spoken = re.search(_ONE, " ".join(said_in_file(place.module)), re.IGNORECASE)
    text = source_text.text_of_module(place.module)
    if told == FAILS or spoken or _takes_masks(place) or (text and re.search(_FED, text.text)):
        return ONE_ALONE
    return NOT_SAID


def _promises_several(place: Place, also: str) -> bool:
    """Return whether the words on a class or function and its call say that several tokens may come, not one alone."""
    told = re.sub(r"\s+", " ", f"{place.module.__doc__ or ''} {words_of(place.thing)} {also}")
    whatever, several, one = (re.search(words, told, re.IGNORECASE) is not None for words in (_ANY, _SEVERAL, _ONE))
    handed = any(int(end) - int(start) > 1 for start, end in re.findall(_HANDED, told))
    return (whatever or handed or (several and not one)) and not _takes_masks(place)


def _takes_masks(place: Place) -> bool:
    """Return whether a call takes masks: those of several tokens are to be given."""
    return any("mask" in meanings(p.name, INPUTS) for p in parameters(place.thing))
