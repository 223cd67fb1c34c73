"""Options of a layer's attention: a scale of its scores, a cap on them, a window, each by its name, asked what it does.

Once the layer is known without an option, it is asked with it: what computes what the formula does, or what a known
mistake in it does, is declared and judged; what does neither stays an open end.
"""

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.inference.attention import family, family_windows
from attnconf.conformance.inference.building.option_spots import Given, Option, given_options, with_value
from attnconf.conformance.inference.texts.layer_requests import FIRST, block_of
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate, why
from attnconf.conformance.inference.words.vocabulary import meanings

OWN = "(config.embed_dim // config.num_heads)"
CAPS = rf"{family.CAPS}|cap|(att(entio)?n|score)s?_?cap|tope(_\w+)?"

OPTIONS = (
    Option(CAPS, "score_cap", ("score-cap", "given"), ("config.score_cap",), ("None", family.NO_CAP), 0.9, "ENC-CAP-1"),
    Option(
        f"{family.SCALES}|{family.POWER}", "score_scale", ("score-scale", "given"),
        ("config.score_scale", "config.score_scale ** -2"), ("None", f"{OWN} ** -0.5", f"float({OWN})"), 0.3,
        "ENC-SCORE-1",
    ),
    Option(
        family_windows.NAMES, "window", ("window", "given"), ("config.window[0] + 1", "config.window[0]"),
        ("None", "256"), (1, 0), "ENC-WINDOW-1",
    ),
)  # fmt: skip


def with_options(place: Place, text: LayerText) -> LayerText:
    """Return the text with its options asked for, each judged as what its name says, or with words on what it is."""
    for given in given_options(text.made, OPTIONS):
        text = _judged(place, text, given)
    return text


def _judged(place: Place, text: LayerText, given: Given) -> LayerText:
    """Return the text with one option in the reading that computes what is known, else without it."""
    mistaken, failures = [], list[Failure]()
    causal = text.declares.get("causality") == "always"
    if given.option.entry == "window" and not causal:
        return _without(text, given, "is not tried where attention is not causal")
    for value in given.option.values:
        one = text.but(made=with_value(text.made, given.name, given.text(value)),
                       declares=dict([*text.declares.items(), given.option.declares]))  # fmt: skip
        block = block_of(text.component, text.declares, FIRST.but(L=5), (2, 2))
        block = block.with_config(**{given.option.entry: given.option.asked}, **({"causal": True} if causal else {}))
        certificate = Certificate(text.component, [block.asked()])
        replies = certificate.replies(one.implementation(place))
        failures += [each for each in replies if isinstance(each, Failure)]
        if certificate.agrees(replies, one.conventions()):
            return one
        known = certificate.mistakes(replies, one.conventions())
        if any(given.option.requirement in mistake.breaks for mistake in known):
            mistaken.append(one)
    if failures and "max_len" in meanings(given.name):  # it is rather how many tokens there may be
        return _without(text, given)
    if mistaken:
        return mistaken[0]
    return _without(text, given, f"was not tried: {why(failures[0])}" if failures else "does what is not known")


def _without(text: LayerText, given: Given, told: str = "") -> LayerText:
    """Return the text that never asks for an option, with words on it."""
    words = (f"the argument `{given.name}` {told}",) if told else ()
    return text.but(made=with_value(text.made, given.name, given.off), untried=(*text.untried, *words))
