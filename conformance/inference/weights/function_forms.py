"""Functions that are handed their weights: as tensors, each an argument, or together in a dict, list or tuple."""

import dis
import inspect
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from types import CodeType, FunctionType
from typing import Any, get_origin

from attnconf.adapters.generated.function_module import GENERATORS, SEEDS
from attnconf.conformance.inference.building.building import Construction, Meanings
from attnconf.conformance.inference.building.configurations import configuration, said_by
from attnconf.conformance.inference.building.construction import constructions
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import FEW
from attnconf.conformance.inference.trials.calling import parameters, says_nothing
from attnconf.conformance.inference.weights.made_weights import made_weights
from attnconf.conformance.inference.weights.naming import role_of
from attnconf.conformance.inference.weights.nested_arguments import nested_arguments
from attnconf.conformance.inference.weights.watched_arguments import watched_arguments
from attnconf.conformance.inference.weights.watched_keys import watched
from attnconf.conformance.inference.weights.watched_trees import watched_tree
from attnconf.conformance.inference.weights.weight_keys import (
    PART,
    asks_by_key,
    parts_of_keys,
    reads_weights,
    told_part,
)
from attnconf.conformance.inference.weights.weight_makers import functions_of
from attnconf.conformance.inference.words.angle_names import PLACES, may_be_of_a_turn
from attnconf.conformance.inference.words.angle_names import role_of as turning_role
from attnconf.conformance.inference.words.asked import asked_of, codes_of
from attnconf.conformance.inference.words.records import holds_tensors, is_named_tuple, is_record, own_record
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings, snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

TOGETHER = (
    r"p|ps|par|params?|parameters|weights?|ws?|state|state_?dict|sd|theta|variables|model|mha|layer|net|"
    r"poids|pesos|pesi|gewichte"
)
MAKES = r"init|make|create|new|param|weight|build"
GENERATOR = ("torch.Generator()",)
RANDOM = {GENERATORS: GENERATOR, SEEDS: ("0",)}
ALWAYS = {"query", "key", "value", "x", "memory", "mask"}
WIDTH = "config.num_heads * config.head_dim"
# Shapes of a projection's weight, with room for how many lie in one, and of the output's: W x, x W, and by heads.
SHAPES: Sequence[tuple[str, str]] = (
    (f"{{}}{WIDTH}, config.embed_dim", f"config.embed_dim, {WIDTH}"),
    (f"config.embed_dim, {{}}{WIDTH}", f"{WIDTH}, config.embed_dim"),
    ("{}config.num_heads, config.embed_dim, config.head_dim", "config.num_heads, config.head_dim, config.embed_dim"),
    ("{}config.embed_dim, config.num_heads, config.head_dim", "config.num_heads, config.head_dim, config.embed_dim"),
)
PARTS = {"qkv": 3, "kv": 2}
SMALL = 0.01  # a default below is an ε, whatever it is called


def takes_weights(thing: Any) -> bool:
    """Return whether a function is handed the weights of several projections, or something called so."""
    if not isinstance(thing, FunctionType):
        return False
    return len(_tensors(thing)) >= 2 or takes_together(thing)


def takes_together(thing: Any) -> bool:
    """Return whether a function is handed weights together, in a dict or the like, or in several."""
    return isinstance(thing, FunctionType) and bool(_together(thing) or nested_arguments(thing))


def taken(thing: Any) -> set[str]:
    """Return the parameters of a function that are weights, sizes or configurations, and no inputs."""
    if not takes_together(thing):
        return set()
    configured = {p.name for p in parameters(thing) if "config" in meanings(p.name, SIZES)}
    return {*_together(thing)[:1], *nested_arguments(thing), *_fixed(thing, {m: (m,) for m in SIZES}), *configured}


def functional(place: Place, table: Meanings, inputs: Collection[str] = ()) -> Iterator[Construction]:
    """Yield modules that hold the weights which a function wants; ``inputs``: patterns of names that are no sizes."""
    yield from _of_shapes(place, table, inputs)
    for fixed in _fixings(place, table, inputs):
        sizes = frozenset(m for _, m in fixed.values())
        for name, text in _configured(place, table):
            fixed[name] = (text, "config")
            sizes |= said_by(text, table)
        words = "".join(f", {name}={text}" for name, (text, _) in fixed.items())
        yield from _holding(place, table, words, sizes)


def _holding(place: Place, table: Meanings, words: str, sizes: frozenset[str]) -> Iterator[Construction]:
    """Yield modules that hold the weights which a function wants; ``words``: what else it is given."""
    if nested_arguments(place.thing):
        for made in watched_arguments(place, table, words):
            text = f"functional({place.name_in_text}, {made.text}{words})"
            yield Construction(text, made.before, made.given | sizes)
        return
    if len(_tensors(place.thing)) >= 2:
        for inner, out in SHAPES:
            held = ", ".join(f"{n}=torch.zeros({_shape(n, inner, out)})" for n in _tensors(place.thing))
            yield Construction(f"functional({place.name_in_text}, dict({held}){words})", (), sizes)
    for takes in _together(place.thing)[:1]:
        asked = chain(_entered(place, takes), _watched(place, table, takes, words))
        made_so = _made(place, table, sizes)
        named = any(re.search(MAKES, name.lower()) for name, _ in _makers(place))
        for made in chain(made_so, _entered(place, takes)) if named else chain(asked, made_so):
            yield from _around(place, table, made, takes, words, sizes)


def of_arrays(place: Place, table: Meanings) -> Iterator[Construction]:
    """Yield ways to build a class that is handed its weights, those of several projections, beside sizes.

    What its code calls by such a name is no array.
    """
    wanted = [p for p in parameters_of(place.thing) if p.default is p.empty or p.default is None]
    arrays = [p.name for p in wanted if role_of(p.name) and not meanings(p.name, SIZES)]
    others = [p for p in wanted if p.name not in arrays and p.default is p.empty]
    known = {p.name: next((m for m in meanings(p.name, SIZES) if m in table), "") for p in others}
    code = code_reached(place.thing)
    if len(arrays) < 2 or not all(known.values()) or any(re.search(rf"\b{name}\(", code) for name in arrays):
        return
    words = [f"{name}={table[m][0]}" for name, m in known.items()]
    for inner, out in SHAPES:
        held = [f"{n}=torch.zeros({_shape(n, inner, out)})" for n in arrays]
        by_heads = {"heads", "head_dim"} if inner.count(",") > 1 else set[str]()
        text = f"{place.name_in_text}({', '.join([*held, *words])})"
        yield Construction(text, (), frozenset({*known.values()} | by_heads))


def _of_shapes(place: Place, table: Meanings, inputs: Collection[str]) -> Iterator[Construction]:
    """Yield modules that hold the weights which another function of the file makes, of sizes that their shapes tell."""
    fixed = _fixed(place.thing, table, inputs)
    silent = [n for n in _silent(place.thing) if n not in fixed and not _fits(n, inputs)]
    for takes in _together(place.thing)[:1]:
        for name, _ in _makers(place):
            for made in made_weights(place, table, name, takes, {n: m for n, (_, m) in fixed.items()}, silent):
                told = {n: text for n, (text, _) in fixed.items()} | dict(made.told)
                words = "".join(f", {n}={text}" for n, text in told.items())
                sizes = frozenset(m for _, m in fixed.values())
                yield from _around(place, table, made.construction, takes, words, sizes)


def _around(
    place: Place, table: Meanings, made: Construction, takes: str, words: str, sizes: frozenset[str]
) -> Iterator[Construction]:
    """Yield modules that hold weights; where the function goes through them, those of each layer."""
    layers = table["layers"][0] if "layers" in table and "layers" not in made.given else ""
    each = f"[{made.text} for _ in range({layers})]" if layers else ""
    for held in (each, made.text) if each and _walked(place.thing, takes) else (made.text,):
        text = f'functional({place.name_in_text}, {held}, "{takes}"{words})'
        yield Construction(text, made.before, made.given | sizes | ({"layers"} if held == each else set()))


def _entered(place: Place, takes: str) -> Iterator[Construction]:
    """Yield dicts of projections with the entries that a function asks for, where no function of the file makes one."""
    asked = asked_of(place.thing, takes)
    if asked.by_item and asked.entries and all(map(role_of, asked.entries)):
        for inner, out in SHAPES:
            held = ", ".join(f'"{n}": torch.zeros({_shape(n, inner, out)})' for n in asked.entries)
            yield Construction(f"{{{held}}}", given=frozenset({"heads", "head_dim"}))


def _watched(place: Place, table: Meanings, takes: str, words: str) -> Iterator[Construction]:
    """Yield dicts of weights with the keys that a function puts together, where no function of the file makes one."""
    found = list(watched(place, table, takes, words)) if asks_by_key(place.thing, takes) else []
    yield from found or watched_tree(place, table, takes, words)


def _tensors(thing: FunctionType) -> list[str]:
    """Return the parameters of a function that are weights or biases, by their names."""
    names = [p.name for p in parameters(thing) if p.default is p.empty or p.default is None]
    return [n for n in names if role_of(n) and not ALWAYS & set(meanings(n, INPUTS)) and not meanings(n, SIZES)]


def _together(thing: FunctionType) -> list[str]:
    """Return the parameters that may be all weights together: by their names, else by what they are said to be."""
    required = [p for p in parameters(thing) if p.default is p.empty and p.name not in parts_of_keys(thing)]
    if len(required) < 2 or nested_arguments(thing):
        return []
    named = [p.name for p in required if re.fullmatch(TOGETHER, p.name.lower().strip("_"))]
    listed = [p.name for p in required if _walked(thing, p.name) and not ALWAYS & set(meanings(p.name, INPUTS))]
    others = [p for p in required if "config" not in meanings(p.name, SIZES)]
    unsized = [p.name for p in others if len(p.name) == 1 or not meanings(p.name, SIZES)]  # heads are handed on beside
    read = [n for n in unsized if not ALWAYS & set(meanings(n, INPUTS)) and reads_weights(thing, n)]
    return named or listed or read or [p.name for p in others if _is_said(p, thing)]


def _walked(thing: FunctionType, name: str) -> bool:
    """Return whether a function goes through an argument in a loop, as through the weights of each layer."""
    code = list(dis.get_instructions(inspect.unwrap(thing)))
    loads = [at for at, one in enumerate(code) if one.argval == name and one.opname.startswith("LOAD_FAST")]
    loads = [at for at in loads if all(one.argval != "range" for one in code[max(0, at - 2) : at])]
    return any(one.opname == "GET_ITER" for at in loads for one in code[at + 1 : at + 4])


def _is_said(p: inspect.Parameter, thing: FunctionType) -> bool:
    """Return whether an annotation says that a parameter is a dict, or of a class of the file that holds tensors."""
    said = thing.__globals__.get(p.annotation, p.annotation) if isinstance(p.annotation, str) else p.annotation
    own = getattr(said, "__module__", "") == thing.__module__
    holds = is_named_tuple(said) and not is_record(said)
    return (own and (holds or holds_tensors(said))) or said is dict or get_origin(said) is dict


def _fixings(place: Place, table: Meanings, inputs: Collection[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """Yield what the parameters get that are sizes, with what they mean; one that says nothing may be the heads."""
    fixed = _fixed(place.thing, table, inputs)
    silent = [n for n in _silent(place.thing) if n not in fixed and not _fits(n, inputs)]
    if "heads" not in table or "heads" in {m for _, m in fixed.values()} or not silent:
        yield fixed
        return
    number = {silent[0]: (table["heads"][0], "heads")}
    yield from ({**fixed}, fixed | number) if len(silent) > 1 else (fixed | number,)


def _fits(name: str, patterns: Collection[str]) -> bool:
    return any(re.fullmatch(pattern, snake(name)) for pattern in patterns)


def _fixed(thing: FunctionType, table: Meanings, inputs: Collection[str] = ()) -> dict[str, tuple[str, str]]:
    """Return what the parameters get that are sizes, with what they mean, and that are called as no input is."""
    found, behind = {n: (told_part(thing, n), "part") for n in parts_of_keys(thing)}, _behind(thing, inputs=1)
    for p in (p for p in parameters(thing) if p.name not in found):
        known = [m for m in meanings(p.name, SIZES) if m in table and m not in ("config", "causal", "dropout")]
        heads = "heads" in known and (p.name in behind or type(p.default) is int)  # h are no hidden states there
        taken = (ALWAYS & set(meanings(p.name, INPUTS)) and not heads) or p.name in _together(thing)
        taken = taken or p.name in nested_arguments(thing) or turning_role(p) == PLACES
        wanted = p.default is p.empty or (known[:1] == ["heads"] and type(p.default) is int)  # theirs does not fit ours
        if wanted and known and not taken and not _fits(p.name, inputs):
            found[p.name] = (table[known[0]][0], known[0])
        elif "eps" in table and isinstance(p.default, float) and 0 < p.default < SMALL:
            found[p.name] = (table["eps"][0], "eps")
        elif "fraction" in table and may_be_of_a_turn(p, thing):
            found[p.name] = (table["fraction"][0], "fraction")
    return found


def _configured(place: Place, table: Meanings) -> Iterator[tuple[str, str]]:
    """Yield the parameters that are configurations of a class in the file, with how one is made."""
    for p in parameters(place.thing):
        named = "config" in meanings(p.name, SIZES)
        theirs = type(p.default).__module__ == place.module.__name__  # one of the file's, whose sizes do not fit ours
        wanted = (p.default is p.empty or theirs) and p.name not in _together(place.thing)
        if wanted and (named or own_record(p.annotation, place.module)):
            made = (text for text in configuration(p, table, place.module) if "theirs." in text)
            yield from ((p.name, text) for text in islice(made, 1))


def _silent(thing: FunctionType) -> list[str]:
    """Return the required parameters behind the weights whose names say nothing, in whatever language: sizes."""
    return [n for n in _behind(thing) if says_nothing(n) and not role_of(n)]


def _behind(thing: FunctionType, inputs: int = 0) -> list[str]:
    """Return the required parameters behind the weights and so many inputs."""
    names = [p.name for p in parameters(thing) if p.default is p.empty]
    weights = {*_tensors(thing), *_together(thing), *nested_arguments(thing)}
    last = max((at for at, name in enumerate(names) if name in weights), default=len(names))
    others = [at for at, name in enumerate(names) if name not in weights][:inputs]
    return names[max(last, *others, 0) + 1 :]


def _shape(name: str, inner: str, out: str) -> str:
    role = role_of(name) or ""
    if re.search(r"(^|_)b(ias)?(_|\d|$)|^b[qkvo]|bias", name.lower()):
        return "config.embed_dim" if role == "out" else f"{PARTS.get(role, 1)} * {WIDTH}"
    return out if role == "out" else inner.format(f"{PARTS[role]} * " if role in PARTS else "")


def _made(place: Place, table: Meanings, known: frozenset[str]) -> Iterator[Construction]:
    """Yield calls of the file's other functions that may make the weights, those first that call the others.

    What is ``known``, as the function is told it, is rarely what else a maker is told by a name that says nothing.
    """

    told = {p.name: p.default for p in parameters(place.thing) if isinstance(p.default, str)}  # a word, to both

    def random(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        if name in parts:
            return (PART,)
        if name in told:
            return (repr(told[name]),)
        texts = next((texts for pattern, texts in RANDOM.items() if re.fullmatch(pattern, name.lower())), ())
        return GENERATOR if texts and "Generator" in str(parameter.annotation) else texts

    for name, maker in _makers(place):
        parts = parts_of_keys(maker)
        likely = list(islice(constructions(f"theirs.{name}", maker, table, place.module, random), FEW))
        if _makes_functions(maker):
            likely += [replace(made, text=f"initial({made.text})") for made in likely]
        yield from sorted(likely, key=partial(_told_twice, known, _named(maker), "hidden" in table))


def _makers(place: Place) -> Iterator[tuple[str, FunctionType]]:
    """Yield the file's other functions that may make weights, by their names; those first that call the others."""
    own = {name: thing for name, thing in functions_of(place.module).items() if thing is not place.thing}
    named = {name: thing for name, thing in own.items() if re.search(MAKES, name.lower())}
    silent = {name: thing for name, thing in own.items() if name not in named and not _takes_inputs(thing)}
    for makers in (named, silent):
        called = Counter(name for maker in makers.values() for name in _globals_of(maker))
        yield from ((name, makers[name]) for name in sorted(makers, key=called.__getitem__))


def _told_twice(known: frozenset[str], named: set[str], wide: bool, made: Construction) -> bool:
    """Return whether a maker is told the heads, which the function is told: by a name that says nothing, or says h.

    ``wide``: there is a hidden width, which then nobody would be told.
    """
    twice = "heads" in known & made.given
    return twice and ("heads" not in named or (wide and "hidden" not in made.given))


def _makes_functions(thing: FunctionType) -> bool:
    """Return whether a function makes others, as a pair (init, apply)."""
    consts = inspect.unwrap(thing).__code__.co_consts
    return any(isinstance(c, CodeType) and not c.co_name.endswith(("comp>", "genexpr>")) for c in consts)


def _named(thing: FunctionType) -> set[str]:
    """Return what the names of a function's parameters say that they are."""
    return {meaning for p in parameters(thing) for meaning in meanings(p.name, SIZES)}


def _globals_of(thing: FunctionType) -> set[str]:
    """Return the names that a function reads from its module, which are no attributes of something else."""
    codes = codes_of(inspect.unwrap(thing).__code__)
    return {one.argval for code in codes for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}


def _takes_inputs(thing: FunctionType) -> bool:
    """Return whether a function is handed weights or inputs: it makes no weights."""
    wanted = [p.name for p in parameters(thing) if p.default is p.empty]
    return bool(_together(thing)) or any(
        {"x", "memory"} & set(meanings(n, INPUTS)) and not meanings(n, SIZES) for n in wanted
    )
