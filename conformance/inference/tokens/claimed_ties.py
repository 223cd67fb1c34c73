"""Heads that are said to be tied to the table of a language model or of an embedding, and are not."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from attnconf.conformance.inference.building.building import Construction, having_default
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.state.kept_by_models import handed_text
from attnconf.conformance.inference.texts.language_models import COMPONENT
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source import source_text
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

WITH_WEIGHTS = (nn.Linear, nn.Embedding)
READ = ("weight", "bias")  # of these
SAYS = (
    r"weight[ _-]?tying|tied? (the )?(weights?|embeddings?|head|output)|tied (with|to)|"
    r"shares? (its|the|a) (matrix|weights?)|\b(one|same) shared matrix"
)
OPTION = (  # is on where nothing is said, as an argument or as an entry of a dict
    r"\b(tie|tied|share|shared)(_\w*)?( *(: *bool)? *= *|['\"] *: *)True\b"
)
TYING = r"(is_?)?(tied?|tying|shared?|sharing)(_\w+)?|\w+_(tying|sharing|tied|shared)"  # an option
BEGINS = r"init|begin|start|cop(y|ies)"  # it may say so itself
FREE = r"(un|not |no |without |never |instead of |(do|is|are)n.t )(ti|ty|shar)|tie_|tied_|tie\s*=|share_"  # or a choice
COPY = "its head, which is said to be tied to its table, is a copy of that: each has gradients of its own"


def misnamed(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return a word on each parameter that a linear layer, or a table, was given under a name that it does not read."""
    try:
        module = build(place, text.made, config)
    except Failed:
        return ()
    found = _aliases(module) if isinstance(module, nn.Module) else []
    return tuple(f"{name}: no {kind} reads a parameter of this name, nothing is shared by it" for name, kind in found)


def copied(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return a word on a head that is said to be tied to the table, and has a copy of its numbers; none else.

    The head of what is judged as an encoder is set aside, and so is its table.
    """
    models = (COMPONENT, "encoder", "decoder", "encoder_decoder", "transformer")
    if text.component not in models or text.declares.get("tying", "none") != "none":
        return ()
    words, file = _words(place), source_text.text_of_module(place.module)
    begins = any(_says(SAYS, line) and _says(BEGINS, line) for line in words.splitlines())
    option = "tie" in words and file is not None and re.search(OPTION, file.text)
    try:
        module = build(place, _whole(text), config) if option or (_says_tied(words) and not begins) else None
    except Failed:
        return ()
    return (COPY,) if isinstance(module, nn.Module) and _has_a_copy(module) else ()


def _whole(text: LayerText) -> Construction:
    """Return the construction of a text, of a model that is asked behind its table with that table."""
    inner = handed_text(text.made.text)
    return Construction(inner, text.made.before) if inner else text.made


def copied_by_option(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return a word on an option for tying that makes a copy where it is given; none else."""
    for name, value in _options(place.thing):
        try:
            with having_default(place.thing, name, value):
                module = build(place, _whole(text), config)
        except Failed:
            continue
        if isinstance(module, nn.Module) and _has_a_copy(module):
            return (f"where `{name}` is {value!r}, its head is a copy of its table: each has gradients of its own",)
    return ()


def _options(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the options of a constructor that are called after tying, with the values that it has for them besides."""
    code = code_reached(thing)
    for p in parameters_of(thing) if inspect.isclass(thing) and "__init__" in vars(thing) else ():
        if re.fullmatch(TYING, snake(p.name)) and p.default is False:
            yield p.name, True
        elif re.fullmatch(TYING, snake(p.name)) and isinstance(p.default, str):
            compared = "".join(re.findall(rf"\b{p.name}\b (?:==|!=|in|not in) ([^:\n]*)", code))
            yield from (
                (p.name, word) for word in dict.fromkeys(re.findall(r"[\"'](\w+)[\"']", compared)) if word != p.default
            )


def copied_beside(place: Place, module: Any) -> tuple[str, ...]:
    """Return a word on what an embedding has beside its table, likewise."""
    said = _says_tied(_words(place)) and isinstance(module, nn.Module)
    return (COPY,) if said and _has_a_copy(module) else ()


def _has_a_copy(module: nn.Module) -> bool:
    """Return whether a linear layer as it is built has the numbers of a table, and not its weight."""
    tables = [m.weight for m in module.modules() if isinstance(m, nn.Embedding)]
    heads = [m.weight for m in module.modules() if isinstance(m, nn.Linear)]
    return any(head is not table and torch.equal(head, table) for head in heads for table in tables)


def untied(place: Place, text: LayerText) -> tuple[str, ...]:
    """Return a word on a head that its code says is the table, and that has weights of its own; none else."""
    if text.component != COMPONENT or text.declares.get("tying") != "none":
        return ()
    if _says_tied(_words(place)):
        return ("it says that its head is tied to its table, and both have weights of their own",)
    return ()


def _aliases(module: nn.Module) -> list[tuple[str, str]]:
    """Return parameters of linear layers and tables that stand under other names than these read, with their kind."""
    return [
        (f"{name}.{own}", type(part).__name__)
        for name, part in module.named_modules()
        if type(part) in WITH_WEIGHTS
        for own, _ in part.named_parameters(recurse=False, remove_duplicate=False)
        if own not in READ
    ]


def _words(place: Place) -> str:
    parts = (v for v in vars(place.module).values() if isinstance(v, type) and v.__name__ in _built(place.thing))
    told = (inspect.getdoc(thing) or "" for thing in (place.module, place.thing, *parts))
    return "\n".join([*told, code_reached(place.thing)])


def _built(thing: Any) -> set[str]:
    """Return the names of the classes that the code of a class reaches."""
    return set(re.findall(r"\b[A-Z]\w+(?=\()", code_reached(thing)))


def _says_tied(words: str) -> bool:
    return _says(SAYS, words) and not _says(FREE, words)


def _says(pattern: str, words: str) -> bool:
    return re.search(pattern, words, re.IGNORECASE) is not None
