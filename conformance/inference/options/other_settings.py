"""Options of two values of which a binding uses one: in the other, what their names promise has to hold.

Where a name says a convention, the other value gives the textbook in a choice of it; where it says the order of axes,
it gives the same numbers with these axes exchanged. Only what equals the textbook is asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.adapters.generated.modules import seeded
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translate import in_conventions, others_than
from attnconf.conformance.inference.building.defaults import AXES, turned, worded
from attnconf.conformance.inference.texts.layer_sides import sides_of
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.spied import spied
from attnconf.conformance.inference.trials.trial import gap, reply, same, textbook
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source import source_text

# Names of flags by the convention that they choose.
CHOOSES = {
    "rope-pairing": r"(is_?|use_?)?(interleaved?|(gpt_?)?neox(_style)?|gpt_?j(_style)?|traditional|adjacent(_pairs)?|"
    r"(split_?)?(half|halves)_(style|split)|split_?(half|halves)|pairwise)",
    "sinusoidal-layout": r"(is_?|use_?)?(interleaved?|halves|(cos|sin)_first)",
}
# Words that options are set to, by the convention that they choose, with the choice where the word says it.
WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "rope-pairing": {r"hal(f|ves)|(gpt_?)?neox|split|interleaved?|gpt_?j|adjacent|pairs|pairwise": ()},
    "norm-order": {r"pre(_?(norm|ln))?": ("pre",), r"post(_?(norm|ln))?": ("post",)},
    "activation": {
        "relu": ("relu",),
        "gelu": ("gelu", "gelu-tanh"),
        "quick_?gelu": ("quick-gelu",),
        "silu|swish": ("silu",),
        "(swi|si)glu": ("silu",),  # of gated networks
        "geglu": ("gelu", "gelu-tanh"),
        "reglu": ("relu",),
        "glu": ("sigmoid",),
    },
}
# Names of flags that say how something is computed, and not what; lower precision may be a part of it.
A_WAY = r"(use_?)?(flash|sdpa|fused|(memory_?)?efficient)(_?att(entio)?n)?"
NEAR = 0.02
SAMPLES_FIRST = r"(batch|seq(uence)?|time|tokens?)_?(first|major)"  # of flags for the order of samples and tokens
HEADS_FIRST = r"heads?_?(first|major)"


def broken(bound: Bound, asked: Request, base: Reply | Failure) -> Iterator[tuple[str, str]]:
    """Yield (name, words) for each option that does not do in its other position what its name says."""
    if bound.certified != "reference" or isinstance(base, Failure):
        return
    chosen = [c for c in CHOOSES if c in COMPONENTS[bound.draft.component].conventions]
    names = "|".join(CHOOSES[c] for c in chosen)
    for name, value, given in _settings(bound, names, asked) if chosen else ():
        if not isinstance(given, Failure) and not same(given, base) and not _is_textbook(bound, asked, given):
            yield name, f"computes something else than {bound.draft.component} in any convention, where it is {value}"
    for name, value, given in _settings(bound, A_WAY, asked):
        if isinstance(given, Reply) and not gap(given, base) <= NEAR:
            yield name, f"changes what is computed, where it is {value}"
    for name, word, given, wanted in _words(bound, asked):
        if isinstance(given, Reply) and not any(same(given, want) for want in wanted):
            what = "changes nothing" if same(given, base) else "computes something else than it says"
            yield name, f"{what}, where it is {word!r}"
    for name, value, exchanged in _orders(bound, asked):
        given, want = exchanged
        if isinstance(given, Reply) and given.out.isfinite().all() and not same(given, want):
            yield name, f"does not exchange the axes of what goes in and comes out, where it is {value}"


def _settings(bound: Bound, names: str, asked: Request) -> Iterator[tuple[str, bool, Reply | Failure]]:
    """Yield the flags of these names with their other value, and the reply with it."""
    place = bound.place
    for name, value, body in turned(bound, names):
        yield name, value, _determined(bound, body, asked)
    for p in parameters(place.thing):
        if isinstance(p.default, bool) and re.fullmatch(names, snake(p.name)) and f"{p.name}=" not in bound.draft.body:
            with spied(place, **{p.name: not p.default}):
                yield p.name, not p.default, _determined(bound, bound.draft.body, asked)


def _determined(bound: Bound, body: str, asked: Request) -> Reply | Failure:
    """Return the reply of another text, which has to be determined by what is given: its parameters may be others."""
    implementation = replace(bound.draft, body=body).implementation(bound.place.module)
    given = reply(implementation, asked)
    with seeded(1):
        again = reply(implementation, asked)
    if isinstance(given, Reply) and isinstance(again, Reply) and not same(given, again):
        return Failure("property", "it has parameters that nothing is given for")
    return given


def _words(bound: Bound, asked: Request) -> Iterator[tuple[str, str, Reply | Failure, list[Reply | Failure]]]:
    """Yield the options of words with each other word that the file has: the reply with it, and what it may be."""
    text = source_text.text_of_module(bound.place.module)
    quoted = dict.fromkeys(re.findall(r"""['"]([\w-]{2,12})['"]""", text.text if text else ""))
    for name, word, body_with in worded(bound):
        for convention in (c for c in WORDS if c in COMPONENTS[bound.draft.component].conventions):
            if not any(re.fullmatch(pattern, word) for pattern in WORDS[convention]):
                continue
            others = [(w, choices) for w in quoted if w != word for pattern, choices in WORDS[convention].items()
                      if re.fullmatch(pattern, w.lower().replace("-", "_"))
                      and word.endswith("glu") == w.endswith("glu")]  # fmt: skip # without a gate it is another one
            for other, choices in others:
                given = _determined(bound, body_with(other), asked)
                yield name, other, given, [*_chosen(bound, asked, convention, choices)]


def _chosen(bound: Bound, asked: Request, convention: str, choices: Sequence[str]) -> Iterator[Reply | Failure]:
    """Yield what the textbook gives in some choices of a convention, or in all where none is named."""
    entries = {"norm-order": "norm_first", "activation": "activation"}
    for choice in choices or CONVENTIONS[convention]:
        config = asked.config
        if convention in entries:
            entry = {entries[convention]: choice == "pre" if convention == "norm-order" else choice}
            config = replace(config, **entry)
        declares = {**bound.draft.declares, convention: choice}
        yield reply(in_conventions(textbook(), declares), asked.asked(config=config))
        if choice == "pre" and declares.get("final-norm") == "never":  # a norm behind the last layer goes with that
            declares, weights = {**declares, "final-norm": "always"}, {**asked.weights, **_new_norms(bound, asked)}
            yield reply(in_conventions(textbook(), declares), asked.asked(config=config, weights=weights))


def _new_norms(bound: Bound, asked: Request) -> dict[str, Tensor]:
    """Return weights of the norms behind the last layers as they begin: gains of 1, shifts of 0."""
    lasts = [side.last for side in sides_of(bound.draft.component, (2, 2)) if side.last]
    ones = next(iter(asked.weights.values())).new_ones(asked.config.embed_dim)
    return {f"{last}.{kind}": x for last in lasts for kind, x in (("weight", ones), ("bias", torch.zeros_like(ones)))}


def _is_textbook(bound: Bound, asked: Request, given: Reply) -> bool:
    """Return whether a reply is the textbook's in some conventions."""
    declares = bound.draft.declares
    others = ({}, *others_than(bound.draft.component, declares))
    return any(same(given, reply(in_conventions(textbook(), {**declares, **one}), asked)) for one in others)


def _orders(bound: Bound, asked: Request) -> Iterator[tuple[str, bool, tuple[Reply | Failure, Reply]]]:
    """Yield the flags for the order of axes with their other value, the reply with it to exchanged inputs, and ours."""
    if "for_each_length(" in bound.draft.body or "each_sequence(" in bound.draft.body:
        return
    for name, value, body in turned(bound, AXES):
        axes = (0, 1) if re.fullmatch(SAMPLES_FIRST, name) else (1, 2) if re.fullmatch(HEADS_FIRST, name) else None
        base = reply(bound.draft.implementation(bound.place.module), asked)
        if axes is None or isinstance(base, Failure) or base.out.ndim <= axes[1] + (axes == (1, 2)):
            continue
        given = {n: x.transpose(*axes) if isinstance(x, Tensor) else x for n, x in asked.inputs.items()}
        out = base.out.transpose(*axes)
        other = asked.asked(inputs=given, out_shape=tuple(out.shape))
        implementation = replace(bound.draft, body=body).implementation(bound.place.module)
        yield name, value, (reply(implementation, other), replace(base, out=out, weights=None))
