"""How a class is built: its parameters matched to a configuration by what their names may mean, then tried.

A construction is text, an expression of ``config`` and of the user's classes, so that it can be tried here and written
into an adapter there.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np

from attnconf.conformance.inference.building.building import SIZES, Construction, Meanings, run, space_for
from attnconf.conformance.inference.building.configurations import (
    configuration,
    filled,
    is_configuration,
    said_by,
    without_unread,
)
from attnconf.conformance.inference.building.heads_by_letter import with_head_width, with_letters, with_query_width
from attnconf.conformance.inference.building.module_sizes import afresh, sizes_of_module
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import CONSTRUCTIONS, FEW, GUESSED_SIZES
from attnconf.conformance.inference.trials.calling import parameters, telling
from attnconf.conformance.inference.trials.filling import likeliest
from attnconf.conformance.inference.trials.probing import attempt
from attnconf.conformance.inference.words.angle_names import may_be_of_a_turn
from attnconf.conformance.inference.words.keyword_arguments import constructor_parameters
from attnconf.conformance.inference.words.looked_up_words import words_for
from attnconf.conformance.inference.words.records import own_record
from attnconf.conformance.inference.words.vocabulary import INPUTS, MOST_SAMPLES, SAMPLES, meanings, snake

Part = Callable[[str, inspect.Parameter], Sequence[str]]  # expressions for a parameter that wants a module
BASES = (10000,)  # defaults that say what they are, whatever the name
_LAYERS = {"layers", "decoder_layers"}
SHORTEST = 8  # what a longest sequence is at least, by default
SMALL = 24  # heads and layers are fewer, widths are more
FLAGS = ("bias", "causal", "norm_first", "bidirectional", "final", "affine")  # what is on or off
WHICH_LAYER = r"(layer|block)_?(idx|index|id)"  # of a model, counted from 0
SCALED = r"((use|with|do|apply)_)?scal(e|ed|ing)(_(attn|attention|scores|qk|dot_product))?"  # so that scores are
ACROSS = r"((is|use|with)_)?cross(_?att(entio)?n)?"  # a flag of what attends to a memory
KV_WIDTH = r"d_?kv|dim_?kv|kv_?dim"
ACTIVATIONS = ("relu", "gelu", "silu", "swish", "tanh")


def constructions(name: str, thing: Any, table: Meanings, module: ModuleType, part: Part) -> Iterator[Construction]:
    """Yield ways to call ``thing``, which is called ``name`` in the text, the likeliest first."""
    parameters = [p for p in constructor_parameters(thing) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    choices = [choices_of(p, table, module, part, thing) for p in parameters]
    choices = _with_hidden(_with_kv_width(parameters, _with_three_widths(parameters, choices)), table)
    choices = with_head_width(with_query_width(parameters, choices, table), table)
    choices = with_letters(parameters, choices, table)
    guessed = _with_silent(parameters, choices, table)
    for before, globals_given in afresh(list(sizes_of_module(thing, table, module)), module):
        for chosen in (
            *islice(_by_rank(choices), CONSTRUCTIONS),
            *islice(_by_rank(guessed) if guessed else (), GUESSED_SIZES),
        ):
            arguments = [
                f"{p.name}={text}" if p.kind is not p.POSITIONAL_ONLY else text
                for p, (text, _) in zip(parameters, chosen, strict=True)
                if text
            ]
            arguments = arguments if "hidden" in table else _one_dropout(arguments)  # a layer has one for all its parts
            given = {m for m, texts in table.items() for t, _ in chosen if texts and t == texts[0]} | globals_given
            given |= {m for text, meaning in chosen if meaning == "config" for m in said_by(text, table)}
            given |= {"heads"} if {"kv_heads", "kv_groups"} <= given else set()  # as many as both say
            yield Construction(f"{name}({', '.join(arguments)})", before, frozenset(given))


def _with_three_widths(
    parameters: Sequence[inspect.Parameter], choices: list[list[tuple[str, str]]]
) -> list[list[tuple[str, str]]]:
    """Return the choices such that sizes of query, key and value that stand together are first those of the inputs."""
    widths = {"query": "embed", "key": "key_dim", "value": "value_dim"}
    meant = {f"{what}{kind}": m for kind in ("_size", "_dim") for what, m in widths.items()}
    told = {snake(p.name) for p in parameters} & meant.keys()
    others = [c for p, c in zip(parameters, choices, strict=True) if snake(p.name) not in told]
    memory = any("key_dim" in {m for _, m in c} for c in others)  # the width of the keys has a name of its own
    if memory or not any({f"{what}{kind}" for what in widths} <= told for kind in ("_size", "_dim")):
        return choices
    return [
        sorted(c, key=lambda choice, p=p: choice[1] != meant.get(snake(p.name))) if snake(p.name) in told else c  # type: ignore[misc]
        for p, c in zip(parameters, choices, strict=True)
    ]


def _with_kv_width(
    parameters: Sequence[inspect.Parameter], choices: list[list[tuple[str, str]]]
) -> list[list[tuple[str, str]]]:
    """Return the choices such that d_kv is the keys' width, and not a head's, where another parameter is that."""
    named = [p for p in parameters if "head_dim" in meanings(p.name)]  # and not by a letter that may be any size
    heads = [p for p, c in zip(parameters, choices, strict=True) if p in named and {m for _, m in c} & {"head_dim"}]
    if len(heads) < 2:
        return choices
    return [
        [one for one in c if one[1] != "head_dim"] or c if re.fullmatch(KV_WIDTH, snake(p.name)) else c
        for p, c in zip(parameters, choices, strict=True)
    ]


def _with_hidden(choices: list[list[tuple[str, str]]], table: Meanings) -> list[list[tuple[str, str]]]:
    """Return the choices such that what is called as the model's width may be the hidden one.

    Only where nothing else is called so, and the model's width may be what is called by a name that says nothing, or
    is that of a configuration which a network gets besides.
    """
    meant = [{m for _, m in c} for c in choices]
    silent = [len(m & set(SIZES)) > 2 for m in meant]
    named = set().union(*(m for m, quiet in zip(meant, silent, strict=True) if not quiet))
    another = "heads" not in table if "config" in named else any(silent)  # that may have the width of the model
    if "hidden" not in table or not another or {"hidden", "ratio"} & named:
        return choices
    return [[*c, (table["hidden"][0], "hidden")] if m == {"embed"} else c for c, m in zip(choices, meant, strict=True)]


def _with_silent(
    parameters: Sequence[inspect.Parameter], choices: list[list[tuple[str, str]]], table: Meanings
) -> list[list[tuple[str, str]]]:
    """Return the choices such that what has a default and a name that says nothing may be a size that no name tells.

    Where the names are in another language their defaults tell them apart. None where nothing is to be guessed.
    """
    open_ends = [len({m for _, m in c} & {*SIZES, "max_len"}) > 1 for c in choices]
    told = {m for c, silent in zip(choices, open_ends, strict=True) if not silent for _, m in c}
    sizes = ("embed", "heads", "hidden", "layers") if "heads" in table else ("embed", "hidden", "max_len")  # of a part
    missing = [m for m in sizes if table.get(m) and m not in told and "config" not in told]
    found, count = [], 0
    for p, before in zip(parameters, choices, strict=True):
        silent = before == [("", "")] and not set(meanings(p.name)) & set(table) and not telling(p.name)
        whole = p.default is None or (type(p.default) is int and p.default > 1)
        fits = [(table[m][0], m) for m in missing if silent and whole and _may_be_as_large(m, p.default)]
        found.append([*fits, *before])
        count += bool(fits)
    return found if count and count + sum(open_ends) >= len(missing) else []


def _one_dropout(arguments: list[str]) -> list[str]:
    """Return the arguments with one dropout, that of the attention weights where one is called so; the others are 0."""
    drops = [a for a in arguments if a.endswith("=config.dropout")]
    if len(drops) < 2:
        return arguments
    kept = next((a for a in drops if "att" in a.lower()), drops[0])
    return [a if a == kept or a not in drops else a.replace("config.dropout", "0.0") for a in arguments]


def _by_rank(choices: list[list[tuple[str, str]]]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield one choice for each parameter, the likeliest first: two parameters seldom mean the same."""
    wanted = {m for c in choices for _, m in c if m in ("embed", "heads", "hidden")}
    any_side = [{m for _, m in c} >= _LAYERS for c in choices]  # layers, of which side nobody says

    def cost(picked: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        meant = [c[i][1] for c, i in zip(choices, picked, strict=True)]
        sizes = [m for m in meant if m in SIZES]
        sides = [m for m, either in zip(meant, any_side, strict=True) if either and m in _LAYERS]
        lengths = meant.count("max_len")
        twice = len(sizes) - len(set(sizes)) + (len(sides) > 1 and len(set(sides)) > 1) + max(lengths - 1, 0)
        missing = len(wanted - set(sizes))
        return sum(picked) + 3 * twice + 2 * missing, picked

    return likeliest(choices, cost)


def choices_of(
    p: inspect.Parameter, table: Meanings, module: ModuleType, part: Part, thing: Any
) -> list[tuple[str, str]]:
    """Return (expression, meaning) for a parameter, the likeliest first; ("", "") leaves it at its default."""
    known = meanings(p.name) or _of_an_input(p.name, thing)
    if isinstance(p.default, float) and 0 < p.default < 0.01 and "eps" not in known:  # whatever it is called
        known = [*known, "eps"]
    if type(p.default) is int and 1 < p.default <= 8 and "ratio" in table and "hidden" in known:  # times the width
        known = ["ratio"]
    if "fraction" in table and not known and may_be_of_a_turn(p, thing):
        return [(table["fraction"][0], "fraction"), ("", "")]
    if "dropout" in known and _is_whole(p):
        known = [m for m in known if m != "dropout"]
    if isinstance(p.default, type) and issubclass(p.default, np.generic):  # NumPy's types are not torch's
        known = [m for m in known if m != "dtype"]
    if own_record(p.annotation, module) is not None:
        known = ["config", *known]
    optional = p.default is not p.empty
    named = "layers" in known and "heads" in table and len(p.name) > 2  # and not n, nor how many words
    if named and not (optional or {"layers", "decoder_layers"} & table.keys()):  # a part has no more
        return [("1", "")]
    if re.fullmatch(WHICH_LAYER, snake(p.name)) and (not optional or p.default is None):
        return [("0", "")]
    if re.fullmatch(MOST_SAMPLES, snake(p.name)) and p.default is not None:
        return [(SAMPLES, "")]
    if type(p.default) is int and p.default < 0 and set(known) & set(SIZES):  # an axis: dim=-1 is no width
        return [("", "")]
    configured = []
    if "config" in table and is_configuration(p, module, thing):
        configured = [(without_unread(text, thing), "config") for text in configuration(p, table, module)]
        if optional or not any(m in table for m in known if m != "config"):
            return configured
    parts = [(text, "part") for text in part(p.name, p)]
    if type(p.default) in (int, float) and p.default in BASES and "base" in table and "max_len" not in known:
        return [(table["base"][0], "base")]
    found = [(text, meaning) for meaning in table if meaning in known and meaning != "any" for text in table[meaning]]
    if optional:  # a constant of ours is no better than theirs
        another = type(p.default) is int and p.default > 0 and "padding" in known and "padding" in table
        found = [(text, m) for text, m in found if m != "padding" or "config." in text]
        found = [("0", "padding"), *found] if another and not found else found  # 0 is what is known to be padding
    if optional and isinstance(p.default, bool):
        found = [(text, m) for text, m in found if m in FLAGS]
        across = re.fullmatch(ACROSS, snake(p.name)) and _takes_memory(thing)
        if p.default is False and (across or re.fullmatch(SCALED, snake(p.name))):
            return [("", ""), ("True", "")]
        if any(m == "bidirectional" for _, m in found):  # its name says all: broken is not absent
            return found
    elif optional and (p.default is None or isinstance(p.default, str) or callable(p.default)):
        found = [(text, m) for text, m in found if m not in ("bias", "causal", "norm_first")]
        parts = parts if p.default is None or callable(p.default) else []
    if optional:
        first = [] if not parts else [("", "")]
        short = type(p.default) is int and len(p.name) <= 2
        others = [g for g in _guesses(p, table, False) if short and g not in found]
        if short:  # its name says little, its default something
            found, others = ([g for g in some if _may_be_as_large(g[1], p.default)] for some in (found, others))
        if not short and type(p.default) is int and any(m in ("vocab", "embed", "heads", "layers") for _, m in found):
            return found  # somebody's own size does not fit ours
        return [*first, *found, *(parts or [("", "")]), *others]
    if p.name.lower() == "h" and {"heads", "hidden"} <= table.keys():  # a letter for both
        found += [(table["hidden"][0], "hidden")]
    words = [(repr(word), "") for word in words_for(thing, p.name)] if not known else []
    if words:
        return words
    weak = [(text, m) for m in table.get("any", ()) for text in table[m] if (text, m) not in found]
    if found and len(p.name) > 2:  # a name that says something is the contract
        weak = []
    return [*parts, *found, *configured, *(weak or _guesses(p, table, bool(parts or found)))] or [("None", "")]


def _of_an_input(name: str, thing: Any) -> list[str]:
    """Return what a width means that is called after one of two inputs of a call: d_item, where items attend."""
    words = [w for w in re.split(r"_", snake(name)) if not re.fullmatch(r"n|d|dim|size|width|features|channels|in", w)]
    inputs = [p.name for p in parameters(thing) if p.default is p.empty] if isinstance(thing, type) else []
    if len(words) != 1 or len(words[0]) < 3 or len(inputs) != 2 or words == [snake(name)]:
        return []
    own = [
        i for i, other in enumerate(inputs) if other.lower().startswith(words[0]) or words[0].startswith(other.lower())
    ]
    return [["embed"], ["key_dim"]][own[0]] if len(own) == 1 else []


def _takes_memory(thing: Any) -> bool:
    return any("memory" in meanings(p.name, INPUTS) for p in parameters(thing))


def _is_whole(p: inspect.Parameter) -> bool:
    """Return whether a parameter is a whole number that is no probability: p may be the size of a patch."""
    return p.annotation in (int, "int") or (type(p.default) is int and p.default > 1)


def _may_be_as_large(meaning: str, default: int | None) -> bool:
    """Return whether something has a size like this default."""
    if default is None:
        return True
    if meaning in ("heads", *_LAYERS):
        return default <= SMALL
    if meaning == "max_len":
        return default >= SHORTEST
    return default >= SMALL or meaning not in ("vocab", "embed", "hidden")


def _guesses(p: inspect.Parameter, table: Meanings, known: bool) -> list[tuple[str, str]]:
    """Return values for a required parameter whose name says little, by its annotation."""
    kind = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "")
    if "Optional" in kind or "None" in str(p.annotation):
        return [("None", "")]
    if kind == "bool":
        return [("False", "")]
    if kind == "float":
        return [("10000.0" if re.search("theta|base", p.name.lower()) else "0.0", "")]
    if kind == "str":
        return [(repr(word), "") for word in ACTIVATIONS[:2]]
    if known or "config" in meanings(p.name):
        return []
    named = {"rotary_dim", "fraction"} if "heads" in table else set()  # of a layer: what turns has a name
    sizes = [(text, m) for m in ("vocab", *SIZES, "head_dim", "max_len") if m not in named for text in table.get(m, ())]
    return sizes or [("None", "")]


def build(place: Place, made: Construction, config: Any) -> Any:
    """Return what a construction builds. Raises Failed."""
    return attempt(lambda: run(made, space_for(config, place.module)))


def built(place: Place, made: Construction, table: Meanings, config: Any, weights: Any) -> tuple[Construction, Any]:
    """Return a construction with its configuration written out, and what it builds. Raises Failed."""
    space = space_for(config, place.module, weights=weights)
    whole = attempt(lambda: filled(made, table, place.module, space))
    return whole, attempt(lambda: run(whole, space))


# -- parts that it wants


def part_of(module: ModuleType) -> Part:
    """Return what gives expressions for a parameter that wants a part, by its name."""

    def part(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        plain = name.lower().strip("_")
        if re.fullmatch(r"(w_?)?(q|k|v|query|key|value)_?(proj|layer|linear|projection)", plain):
            return ("nn.Linear(config.embed_dim, config.embed_dim)",)
        if re.fullmatch(r"(w_?)?(o|out|output)_?(proj|layer|linear|projection)", plain):
            return ("nn.Linear(config.embed_dim, config.embed_dim)",)
        return ()

    return part


# -- a size that is exactly the length of the inputs, as a mask or table is never cut

ROWS = r"256|config\.max_len"  # what a length gets that is the longest
A_MAXIMUM = r"max|longest|limit|capacity|end"  # such names say that shorter inputs are taken


def lengths_of(made: Construction) -> tuple[str, ...]:
    """Return the arguments that may be the length of the inputs, and no maximum by their names."""
    names = re.findall(rf"\b(\w+)=(?:{ROWS})\b", made.text)
    return tuple(n for n in names if "max_len" in meanings(n) and not re.search(A_MAXIMUM, snake(n)))


def for_each_length(made: Construction) -> Construction:
    """Return the construction such that the object is built anew for the length of each call."""
    text = made.text
    for name in lengths_of(made):
        text = re.sub(rf"\b{name}=(?:{ROWS})\b", f"{name}=length", text)
    return replace(made, text=f"for_each_length(lambda length: {text})")


def and_for_each_length(every: Iterable[Construction]) -> Iterator[Construction]:
    """Yield constructions, and behind them the first of those again that can be built anew for each length."""
    anew: list[Construction] = []
    for made in every:
        yield made
        anew += [for_each_length(made)] if lengths_of(made) else []
    yield from anew[:FEW]


def without_lengths(text: str) -> str:
    """Return what is built in the text of a construction that is built anew for each length."""
    found = re.fullmatch(r"for_each_length\(lambda length: (.*)\)", text)
    return found[1] if found else text
