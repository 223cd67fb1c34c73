"""Which activation a feed-forward network has, and whether it heeds an argument that says which."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.proving import Trial
from attnconf.conformance.inference.trials.trial import FAILED, Certificate, same, within_rounding
from attnconf.conformance.inference.words.records import entries_of, own_record
from attnconf.conformance.inference.words.vocabulary import meanings, snake
from attnconf.conformance.source import source_text
from attnconf.conformance.source.signatures import parameters_of
from attnconf.reference import feed_forward as reference

# Activations that networks have on purpose and that the contract does not know, and how code calls them.
OTHERS: Mapping[str, tuple[str, Callable[[Tensor], Tensor]]] = {
    "squared ReLU": (r"(squared|sq|square)_?relu|relu_?(2|sq|squared|square)", lambda z: z.clamp(min=0) ** 2),
    "ReLU6": (r"relu_?6", lambda z: z.clamp(0, 6)),
    "tanh": (r"tanh", torch.tanh),
    "ELU": (r"elu", torch.nn.functional.elu),
    "SELU": (r"selu", torch.selu),
    "leaky ReLU": (r"leaky_?re_?lu", torch.nn.functional.leaky_relu),
    "Mish": (r"mish", torch.nn.functional.mish),
    "softplus": (r"softplus", torch.nn.functional.softplus),
    "hard swish": (r"hard_?swish", torch.nn.functional.hardswish),
}


def activations_of(thing: Any, name: str, gated: bool) -> tuple[str, ...]:
    """Return what the activation may be; a name that says it is the contract."""
    plain = re.sub(r"[^a-z]", "", name.lower())
    gelus = ("gelu", "gelu-tanh", *(("quick-gelu",) if may_be_quick(thing) else ()))
    told = {"swiglu": ("silu",), "swishglu": ("silu",), "siluglu": ("silu",), "geglu": gelus,
            "reglu": ("relu",), "bilinear": ("none",)}  # fmt: skip
    if gated:
        for word, choices in told.items():
            if word in plain:
                return choices
    return ("relu", *gelus, "silu", "sigmoid")


def says_quick(thing: Any) -> bool:
    """Return whether the code of a class or function names an approximation of GELU."""
    return any(re.search(r"(quick|fast|approx\w*|sigmoid)_?gelu|gelu_?(quick|fast|approx|sigmoid)", word)
               for word in _words(thing))  # fmt: skip


def may_be_quick(thing: Any) -> bool:
    """Return whether z·σ(1.702·z) is on purpose where it is found: not where it is called GELU, and no more is said."""
    return says_quick(thing) or not any(re.search(r"(^|_)gelu", word) for word in _words(thing))


def _words(thing: Any) -> list[str]:
    """Return what the code of a class or function names, in small letters."""
    return [snake(name) for name in {*names_read(thing), getattr(thing, "__name__", "")}]


def outside_the_contract(place: Place, ran: Sequence[Trial[Text]]) -> str:
    """Return in words which other activation a network has that is right but for it and says so, or "".

    Then nothing of it is a mistake: nobody asked for one of those that the contract has.
    """
    words = _words(place.thing)
    words += [word.replace("_", "") for word in words]
    for name, (pattern, function) in OTHERS.items():
        named = any(re.fullmatch(rf"(.*_)?{pattern}(_.*)?", word) for word in words)
        if (named or (name == "squared ReLU" and _squares(place))) and any(_is_with(trial, function) for trial in ran):
            return f"its activation is {name}, none of relu, gelu, gelu-tanh, quick-gelu, silu and sigmoid"
    return ""


def _squares(place: Place) -> bool:
    """Return whether a file squares something, by a name, a word or an operator."""
    text = source_text.text_of_module(place.module)
    return text is not None and re.search(r"squar|\bpow\b|\*\* ?2|\^ ?2", text.text, re.IGNORECASE) is not None


def _is_with(trial: Trial[Text], function: Callable[[Tensor], Tensor]) -> bool:
    """Return whether the replies are those of the formula with another activation."""
    for request, reply in zip(trial.certificate.requests, trial.replies, strict=False):
        weights, x = request.weights, request.inputs["x"]
        z = function(reference.linear(x, weights, "gate" if "gate.weight" in weights else "up"))
        z = z * reference.linear(x, weights, "up") if "gate.weight" in weights else z
        want = Reply(reference.linear(z, weights, "down"), None, {}, ())
        if not same(reply, want):
            return False
    return True


# -- an argument for it

# What such an argument may be given: names, functions, or classes.
NAMED: tuple[Mapping[str, str], ...] = (
    {"relu": '"relu"', "gelu": '"gelu"', "quick-gelu": '"quick_gelu"', "silu": '"silu"'},
    {"relu": '"relu"', "gelu": '"gelu"', "quick-gelu": '"quick_gelu"', "silu": '"swish"'},
    {"relu": "torch.relu", "gelu": "nn.functional.gelu", "silu": "nn.functional.silu"},
    {"relu": "nn.ReLU", "gelu": "nn.GELU", "silu": "nn.SiLU"},
)
SYNONYMS = {"silu": "swish", "quick-gelu": "quick_gelu"}
MEANT = {"relu": ("relu",), "gelu": ("gelu", "gelu-tanh"), "quick-gelu": ("quick-gelu",), "silu": ("silu",)}
Requests = Callable[[str, bool, bool, str, str], Iterable[Request]]  # of choices that a network declares


def heeding(place: Place, text: Text, requests: Requests) -> Text:
    """Return the text with an argument for the activation where there is one that is not heeded: it is asked then."""
    named = [p for p in parameters_of(place.thing) if "activation" in meanings(p.name)]
    if text.kind != "module":
        return text
    if not named:
        return text if text.declares["gated"] == "yes" else _as_promised(place, text, requests)
    name, by_word = named[0].name, isinstance(named[0].default, str)
    for values in NAMED[:2] if by_word else NAMED:  # what compares words passes over functions
        found = {
            a: far
            for a, value in values.items()
            if _knows(place, value) and (far := _distance(place, text, name, a, value, requests)) < FAILED
        }
        if len(found) > 1 and not all(map(within_rounding, found.values())):
            choices = "{" + ", ".join(f'"{a}": {values[a]}' for a in found) + "}"
            declares = {n: c for n, c in text.declares.items() if n != "activation"}
            return _given(text, name, f"chosen({choices}, config.activation)").but(declares=declares)
    return text


def _knows(place: Place, value: str) -> bool:
    """Return whether the file has a word, where the value is one: what it never mentions it does not offer."""
    text, word = source_text.text_of_module(place.module), value.strip('"')
    return text is None or word == value or re.search(rf"\b{word}\b", text.text) is not None


def _as_promised(place: Place, text: Text, requests: Requests) -> Text:
    """Return the text with an entry of a configuration where it is not what a word for it says.

    Those words are tried that the file promises: the default, what stands in quotes beside the entry's name or in its
    annotation, and the keys of a table of the file that has the default.
    """
    for made, name, words in _promised(place):
        values = {a: _written(word) for word in words for a in MEANT if word.lower() in (a, SYNONYMS.get(a))}
        entry = f"{made}({name}="
        texts = {a: _within(text, made, name, value) for a, value in values.items()}
        far = {a: _far(place, one, a, requests) for a, one in texts.items() if entry in one.made.text}
        if far and not all(map(within_rounding, far.values())):
            choices = "{" + ", ".join(f'"{a}": {values[a]}' for a in far) + "}"
            declares = {n: c for n, c in text.declares.items() if n != "activation"}
            return _within(text, made, name, f"chosen({choices}, config.activation)").but(declares=declares)
    return text


def _written(word: str) -> str:
    """Return a word as code: one of an enumeration by its name there."""
    return f"theirs.{type(word).__name__}.{word.name}" if isinstance(word, Enum) else f'"{word}"'


def _promised(place: Place) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the entries for an activation of a constructor's records: class, entry, and words for its values."""
    for kind in filter(None, (own_record(p.annotation, place.module) for p in parameters_of(place.thing))):
        told = [line for thing in (kind, place.thing) for line in (inspect.getdoc(thing) or "").splitlines()]
        for entry in entries_of(kind):
            if "activation" in meanings(entry.name) and isinstance(entry.default, str):
                beside = " ".join(line for line in told if re.match(rf"\W*{entry.name}\b", line))
                quoted = re.findall(r"[\"'`](\w+)[\"'`]", f"{beside} {entry.type}")
                yield kind.__name__, entry.name, (entry.default, *quoted, *_beside(place, entry.default))


def _beside(place: Place, word: str) -> list[str]:
    """Return the keys of the module's tables that a class reads and that have a word."""
    there = (getattr(place.module, name, None) for name in names_read(place.thing))
    tables = [table for table in there if isinstance(table, dict) and word in table]
    return [key for table in tables for key in table if isinstance(key, str)]


def _within(text: Text, made: str, name: str, value: str) -> Text:
    """Return the text with another entry in what it makes a configuration of."""
    one = re.sub(rf"\b{made}\((?!{name}=)", f"{made}({name}={value}, ", text.made.text, count=1)
    return text.but(made=replace(text.made, text=one))


def _given(text: Text, name: str, value: str) -> Text:
    """Return the text with another argument of this name."""
    rest = re.sub(rf"(, )?\b{name}=[^,()]+(\(\))?", "", text.made.text)[:-1]
    made = f"{rest}{'' if rest.endswith('(') else ', '}{name}={value})"
    return text.but(made=replace(text.made, text=made))


def _distance(place: Place, text: Text, name: str, activation: str, value: str, requests: Requests) -> float:
    """Return how far the network is from what an argument says; infinite where it is not taken."""
    return _far(place, _given(text, name, value), activation, requests)


def _far(place: Place, text: Text, activation: str, requests: Requests) -> float:
    """Return how far the network is from the formula with an activation; infinite where it does not run."""
    declared = text.declares
    nearest = FAILED
    for meant in MEANT[activation]:
        sizes = (declared.get(name, "free") for name in ("hidden-ratio", "model-width"))
        asked = requests(meant, declared["gated"] == "yes", declared["layer-bias"] == "yes", *sizes)
        judge = Certificate("feed_forward", list(asked))
        given = judge.replies(text.implementation(place))
        nearest = min(nearest, judge.distance(given, {}))
    return nearest
