"""Windows of attention: an argument or entry by whose name a query sees its neighbours only, asked what it does.

How many keys it counts differs: those before the query's own, or that one too; a pair is both sides. What is causal is
asked in both ways, and what equals the formula in one of them is right, where the file does not say which. One that
hides nothing has no effect.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.attention.said_of_windows import counts_own_key
from attnconf.conformance.inference.attention.window_switches import switches
from attnconf.conformance.inference.building.option_spots import is_given, spots_of, with_value
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, POWERS, request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate, same
from attnconf.conformance.inference.words.vocabulary import snake

NAMES = (
    r"(.*_)?(windows?|ventana|fenster|finestra|fenetre|fenêtre|janela|okn[oa]|venster|pencere|vindu(e|et)?|chuang(_?kou)?)"
    r"(_?(size|len|length|width|gr[oö](ss|ß)e|breite|taille|tamanho|tamano|boyutu?|larghezza|da_?xiao))?"
)
GIVEN = ("window", "given")
SIZES = (24, 6, 4)
ASKED = (2, 0)
NO_LEFT = "config.window is None or config.window[0] is None"
OFF = r"None|256|-1|0|\(-1, -1\)"
KEYS = (  # what it may be handed, where ``{off}`` lets every key be seen
    f"({{off}} if {NO_LEFT} else config.window[0] + 1)",
    f"({{off}} if {NO_LEFT} else config.window[0])",
)
SWITCHES = 3  # values of options that may turn a window on
SIDES = "({off} if config.window is None else tuple(-1 if side is None else side for side in config.window))"


def with_window(place: Place, text: AttentionText) -> AttentionText:
    """Return the text with its window, judged where it is known what it means, or that it does nothing."""
    for name, off, owner in _windows(place, text):
        pair = off.startswith("(")
        values = [SIDES] if pair else list(KEYS[:1] if counts_own_key(place) else KEYS)
        if not pair and not text.causal_always and not text.flagged:
            continue
        every = [text.but(made=with_value(text.made, name, value.format(off=off), owner), family=(*text.family, GIVEN))
                 for value in values]  # fmt: skip
        turned = [
            one.but(made=with_value(one.made, spot.name, f"({default} if {NO_LEFT} else {other})", spot.owner))
            for spot, default, other in islice(switches(place, text.made, name), SWITCHES)
            for one in every
        ]
        text = _judged(place, text, [*turned, *every], name, pair)
    return text


def _judged(place: Place, text: AttentionText, every: list[AttentionText], name: str, pair: bool) -> AttentionText:
    """Return the text with a window in one of its readings, or with words on what it does."""
    whole = pair or text.causal_always  # then it can be asked for any window
    mistakes: list[tuple[AttentionText, Mutant]] = []
    failed, nothing = False, True
    for one in every:
        certificate = Certificate(COMPONENT, list(_requests(one)))
        given = certificate.replies(one.implementation(place))
        failed = failed or any(isinstance(each, Failure) for each in given)
        idle = len(given) == 2 and same(*given)
        nothing = nothing and idle
        if certificate.agrees(given, one.conventions()):
            return one if whole else text
        if not (idle and failed):  # what may turn it on was not tried
            mistakes += [(one, m) for m in [certificate.mistake(given, one.conventions())] if m is not None]
    if mistakes and whole:
        return mistakes[0][0]
    if mistakes:
        does = "hides nothing where attention is causal" if nothing else f"is wrong: {mistakes[0][1].story}"
        return text.but(idle=(*text.idle, f"the argument `{name}` {does}"))
    if failed:
        return text.but(left_alone=(*text.left_alone, f"{name}: with a window of {ASKED[0] + 1} keys it raises"))
    return text.but(unknown=(*text.unknown, f"the argument `{name}` hides keys in a way that is not known"))


def _windows(place: Place, text: AttentionText) -> Iterator[tuple[str, str, str]]:
    """Yield the arguments and entries called windows, what they get where every key is seen, and whose they are."""
    told = re.findall(rf"""[(,{{ ]["']?(\w+)["']?(?:=|: )({OFF})(?=[,)}}])""", text.made.text)
    given = {name for name, _ in told}
    yield from ((name, off, "") for name, off in told if re.fullmatch(NAMES, snake(name)))
    for spot in spots_of(place, text.made, NAMES):
        off = spot.passes or spot.default == (-1, -1)
        if off and spot.name not in given and not is_given(text.made, spot.name):
            yield spot.name, repr(spot.default), spot.owner


def _requests(text: AttentionText) -> Iterator[Request]:
    """Yield a causal call with a window, and one without: beside it all has to stay as it was."""
    plain = request(text, POWERS[0] if text.powers else SIZES, 2, 6, 6, {}, causal=True)
    yield replace(plain, config=replace(plain.config, window=ASKED))
    yield plain
