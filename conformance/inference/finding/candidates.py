"""What in a file is to be judged, and as what: classes and functions that look like a component, by their names."""

import inspect
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

from torch import nn

from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.chapters.shared.appearance import POSITIONS
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.finding.builders import as_built, makes_pairs
from attnconf.conformance.inference.finding.by_doing import given, is_given_merges, own_methods
from attnconf.conformance.inference.finding.hints import LAYERS, SOFTMAX, TABLES, named, positional
from attnconf.conformance.inference.finding.layer_kinds import blocks, inputs_of, sizes_of
from attnconf.conformance.inference.texts.language_models import embeds
from attnconf.conformance.inference.trials.calling import own_method, parameters
from attnconf.conformance.inference.weights.function_forms import takes_together, takes_weights
from attnconf.conformance.inference.words.angle_names import is_place, is_table
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake
from attnconf.conformance.source.source_text import code_reached

# What the name of a class or function says, the most telling words first: a norm in an encoder is a norm.
NAMES = [
    (component, pattern)
    for _, component, pattern in sorted(
        (rank, component, pattern) for component, known in appearances().items() for rank, pattern in known.names
    )
]
MAKES = r"(^|_)(init|params|parameters|weights)($|_)"  # in the name of a function that makes parameters
# Of a function that uses a model.
USES = r"^(loss|nll|perplexity|generate|sample)(_\w*)?$|_loss$|^(greedy|beam)_(search|decod\w*)$"
NORM = r"rms|layer_?norm|^ln$|^norm"
ROOT_MEAN_SQUARE = r"root[ -]mean[ -]squared?\b|(\b|_)rms|no (subtraction of (the )?)?mean\b|without (a |the )?mean\b"
UNDOING = (  # no "capa_de_atencion"
    r"(^|_)(inv(erse)?|adjoint|undo(es)?|undone|backwards?|(un|de)rot[^_]*|unrope|unapply)($|_)"
)
# Two inputs that are the two sides of a translation.
SOURCE = r"(src|source|enc(oder)?_?in(put)?s?|question)(_.*)?"
TARGET = r"(tgt|trg|target|dec(oder)?_?in(put)?s?|answer)(_.*)?"


@dataclass(frozen=True)
class Candidate:
    """A class or function that may be a component, and which, the likeliest first."""

    name: str
    thing: Any
    components: tuple[str, ...]
    uses: frozenset[str]  # the names of the file that its code reads
    weak: bool = False  # neither its name nor its inputs say what it is
    guessed: bool = False  # nothing says what it is: it may be anything


def candidates(module: ModuleType, chosen: str | None, component: str | None) -> list[Candidate]:
    """Return what may be judged, in the order of the file; only ``chosen`` where a name was given."""
    found = []
    building = chosen is not None or not _has_classes(module)
    for name, thing in list(vars(module).items()):
        if chosen is not None and name != chosen:
            continue
        if chosen is None and (getattr(thing, "__module__", None) != module.__name__ or name.startswith("_")):
            continue
        if not isinstance(thing, type | FunctionType) and chosen is None:
            continue
        thing = as_built(name, thing, module) if building or makes_pairs(thing) else thing
        components = (component,) if component else _models_first(dict.fromkeys(looks_like(name, thing)))
        if components and not (chosen is None and _undoes(name, thing, module)):
            weak = not component and chosen is None and components == tuple(positional(name, thing)) and not named(name)
            found.append(Candidate(name, thing, components, frozenset(names_read(thing)), weak))
    found = [_as_what_it_uses(c, found) for c in found]
    return sorted([*found, *(_users(module, found) if chosen is None else ())], key=lambda c: _line(c.thing))


def _as_what_it_uses(candidate: Candidate, found: Collection[Candidate]) -> Candidate:
    """Return a candidate that encodes positions somehow as the one that it uses, where a name says which that is."""
    used = _encodings(candidate.uses, found)
    if not (candidate.weak and used and appearances()[candidate.components[0]].kind == POSITIONS):
        return candidate
    return replace(candidate, components=tuple(dict.fromkeys((*used[:1], *candidate.components))))


def _users(module: ModuleType, found: Collection[Candidate]) -> Iterator[Candidate]:
    """Yield the functions of a file whose names say nothing, and that use one for positions, which says what it is."""
    names = {c.name for c in found}
    for name, thing in vars(module).items():
        own = isinstance(thing, FunctionType) and thing.__module__ == module.__name__
        if own and not name.startswith("_") and name not in names and says_nothing(name):
            used = _encodings(names_read(thing), [c for c in found if isinstance(c.thing, FunctionType)])
            if used:
                yield Candidate(name, thing, used[:1], frozenset(names_read(thing)), weak=True)


def _encodings(names: Collection[str], found: Collection[Candidate]) -> tuple[str, ...]:
    """Return what encodings of positions those of some names are, as far as names tell."""
    used = (c.components[0] for c in found if c.name in names and not c.weak)
    return tuple(c for c in used if appearances()[c].kind == POSITIONS)


def _has_classes(module: ModuleType) -> bool:
    """Return whether a file defines classes for others, which then are judged themselves, and not what builds them."""
    own = (name for name, v in vars(module).items() if isinstance(v, type) and v.__module__ == module.__name__)
    return not all(name.startswith("_") for name in own)


def builders(module: ModuleType, of: Collection[Candidate], found: Collection[Candidate]) -> Iterator[Candidate]:
    """Yield the functions of a file that build a class which cannot be built by itself, of sizes, as that component.

    Or a class whose name says nothing, as what its code may be.
    """
    known, names = [c.thing for c in found], {c.name for c in found}
    for name, thing in list(vars(module).items()):
        own = isinstance(thing, FunctionType) and thing.__module__ == module.__name__
        if not own or name.startswith("_") or name in names:
            continue
        built = as_built(name, thing, module)
        kind = built.__mro__[1] if isinstance(built, type) else object
        uses = frozenset(names_read(built))
        yield from (replace(c, name=name, thing=built, uses=uses) for c in of if kind is c.thing)
        unknown = kind.__module__ == module.__name__ and kind not in known
        if unknown and (components := tuple(dict.fromkeys(blocks(built)))):
            yield Candidate(name, built, components, uses)


def _undoes(name: str, thing: Any, module: ModuleType) -> bool:
    """Return whether something is by its name the inverse of what it calls, as ``unrotate`` is of ``rotate``."""
    others = [n for n in names_read(thing) if n != name and isinstance(vars(module).get(n), type | FunctionType)]
    return bool(others) and re.search(UNDOING, snake(name)) is not None


def _models_first(components: Iterable[str]) -> tuple[str, ...]:
    """Return components with a whole model before what is left of it without embeddings."""
    found = list(components)
    if "language_model" in found[found.index("encoder") if "encoder" in found else len(found) :]:
        found.remove("language_model")
        found.insert(found.index("encoder"), "language_model")
    if "transformer" in found[found.index("encoder_decoder") if "encoder_decoder" in found else len(found) :]:
        found.remove("transformer")
        found.insert(found.index("encoder_decoder"), "transformer")
    return tuple(found)


# What a class may be whose name says nothing; it has to be certified.
_RANKS = {component: known.unnamed for component, known in appearances().items() if known.unnamed is not None}
UNNAMED = tuple(sorted(_RANKS, key=_RANKS.__getitem__))


def may_be(thing: Any) -> tuple[str, ...]:
    """Return what a class or function may be whose name says nothing: those first that its inputs allow."""
    if not isinstance(thing, FunctionType):
        return UNNAMED
    required = [p for p in parameters(thing) if p.default is p.empty]
    alone = not (takes_weights(thing) or takes_together(thing))
    return ("attention", *UNNAMED) if len(required) in (3, 4) and alone else UNNAMED


def says_nothing(name: str) -> bool:
    """Return whether the name of a class or function is none of a component."""
    plain = snake(name)
    return not named(name) and not any(re.search(pattern, plain) for _, pattern in NAMES)


def described(thing: Any) -> tuple[str, ...]:
    """Return the components that the docstring of a class or function, or the comment above it, speaks of, in order."""
    told = f"{inspect.getdoc(thing) or ''} {inspect.getcomments(thing) or ''}"
    words = re.sub(r"\W+", "_", snake(told))
    places = ((re.search(pattern, words), component) for component, pattern in NAMES)
    named = sorted((found.start(), at, component) for at, (found, component) in enumerate(places) if found)
    return tuple(dict.fromkeys(component for _, _, component in named))


def unnamed(module: ModuleType, chosen: str | None, tried: Collection[str]) -> list[Candidate]:
    """Return the classes of a file whose names say nothing, as whatever they may be."""
    found = []
    for name, thing in vars(module).items():
        own = getattr(thing, "__module__", None) == module.__name__ if chosen is None else name == chosen
        if not own or name in tried or not isinstance(thing, type | FunctionType):
            continue
        if _does_something(thing) or _works_on_texts(thing):
            found.append(Candidate(name, thing, may_be(thing), frozenset(names_read(thing)), guessed=True))
    return sorted(found, key=lambda c: _line(c.thing))


def _works_on_texts(thing: Any) -> bool:
    """Return whether a class has a method that is given one thing, or two, and is no module: it may be a tokenizer."""
    methods = own_methods(thing).values() if isinstance(thing, type) and not issubclass(thing, nn.Module) else ()
    return any(given(function) in (1, 2) for function in methods)


def _does_something(thing: Any) -> bool:
    """Return whether a class or function can be called, or has a method of a tokenizer."""
    return not isinstance(thing, type) or any(CALLED & set(vars(kind)) for kind in thing.__mro__[:-1])


CALLED = {"forward", "__call__", "encode", "tokenize", "decode", "train", "fit", "learn", "entrainer", "encoder"}


ACTIVATED = r"(?i)relu|elu|gelu|silu|swish|mish|tanh|erf|sigmoid|maximum|clamp|clip|\bact\w*\("
OF_VECTORS = r"softmax|einsum|matmul|layer_?norm|embedding\("  # no code of a tokenizer: what is called ``encode``, too


def looks_like(name: str, thing: Any) -> Iterator[str]:
    """Yield the components that a class or function may be."""
    plain = snake(name)
    if isinstance(thing, type) and not _does_something(thing) and own_method(thing):  # a table that rotates
        yield from positional(name, thing)
        return
    if not _does_something(thing) or (isinstance(thing, FunctionType) and re.search(f"{MAKES}|{USES}", plain)):
        return
    by_name = [component for component, pattern in NAMES if re.search(pattern, plain)]
    if {"tokenizer", "detokenizer"} & {*by_name} and re.search(OF_VECTORS, code_reached(thing)):
        by_name = [c for c in by_name if c not in ("tokenizer", "detokenizer")]
    by_call = list(_by_call(thing))
    encodings = positional(name, thing)
    if re.search(NORM, plain) and not named(name):  # sines in a norm are no positions
        encodings = []
    biases = encodings[:1] in (["relative_bias"], ["alibi"]) and not names_read(thing) & SOFTMAX
    if (named(name) or biases) and encodings:  # heads are those of its bias
        by_call = [c for c in by_call if c == "attention"]
    if named(name) or (encodings and encodings[0].endswith("attention")):
        yield from encodings
    if "layer_norm" in by_name and ("t5" in plain or re.search(ROOT_MEAN_SQUARE, own_text(thing))):
        yield "rms_norm"
    if isinstance(thing, type):
        built = list(blocks(thing)) if not named(name) else []
        if _reads_tokens(thing):
            yield "token_attention"
        if _may_take_memory(thing):  # an option: its name says what it is with that
            yield from (c for c in by_name if c == "decoder_layer")
        if re.search(r"(layer|block|cell)$", plain):  # a BertLayer is one of BERT's
            yield from (c for c in built[:1] if c.endswith("_layer"))
        by_name = [c for c in by_name if c != "attention"]
        yield from _with_memory(thing, [*by_name, *built, *([] if built else by_call)])
        if "multi_head_attention" in by_name and not names_read(thing) & (LAYERS | TABLES):
            yield "attention"
    else:
        yield from (c for c in by_call if c == "attention")
        if "multi_head_attention" in by_name and not re.search(ACTIVATED, code_reached(thing)):
            by_name = [c for c in by_name if not c.startswith("encoder")]  # BERT's attention has no network
        held = takes_together(thing) and names_read(thing) & SOFTMAX  # all weights of a stack
        stacks = {c for c in by_name if c.endswith("_layer") or (held and c == "encoder")}
        yield from (c for c in by_name if appearances()[c].function or (c in stacks and takes_together(thing)))
        built = sorted(blocks(thing), key=lambda c: c not in by_name)
        if "multi_head_attention" in by_name and not set(built) & set(by_name):
            built = []  # a softmax by hand has sums and maxima, and is no layer
        yield from built
        attends = not (built or by_name) and names_read(thing) & SOFTMAX
        if takes_weights(thing) and ("multi_head_attention" in by_name or attends):
            yield "multi_head_attention"
    yield from encodings
    if is_given_merges(thing):  # an Encoder of texts
        yield "tokenizer"
    if encodings and isinstance(thing, type) and embeds(thing):  # it adds them to rows of its own
        yield "token_embedding"


def own_text(thing: Any) -> str:
    """Return the text of a class or function in small letters, with what it says in comments; "" where none is."""
    try:
        return inspect.getsource(thing).lower()
    except (OSError, TypeError):
        return ""


def _may_take_memory(thing: type) -> bool:
    """Return whether a class takes one input and, where it gets one, a memory."""
    found = [p for p in parameters(thing) if "memory" in meanings(p.name, INPUTS)]
    required = [p for p in parameters(thing) if p.default is p.empty]
    return len(required) == 1 and any(p.default is None for p in found)


def _by_call(thing: Any) -> Iterator[str]:
    """Yield what a call's parameters, and those of the constructor, say."""
    found = parameters(thing)  # a cache that has to be there is all keys, or all values
    names = [re.sub(r"_caches?$", "", p.name) if p.default is p.empty else p.name for p in found]
    roles = [role for n in names for role in meanings(n, INPUTS)[:1]]
    if {"query", "key", "value"} <= set(roles):
        weighs = isinstance(thing, type) and ("heads" in sizes_of(thing) or names_read(thing) & (LAYERS | TABLES))
        yield "multi_head_attention" if weighs else "attention"
    elif isinstance(thing, type) and {"heads", "layers"} <= sizes_of(thing):
        if names_read(thing) & EMBEDDINGS and inputs_of(thing) == 1:
            yield "language_model"
        yield "encoder"
    elif isinstance(thing, type) and "heads" in sizes_of(thing):
        yield "encoder_layer" if "hidden" in sizes_of(thing) or "ratio" in sizes_of(thing) else "multi_head_attention"


def _with_memory(thing: Any, components: list[str]) -> Iterator[str]:
    """Yield the components; what gets two inputs, and is named a layer or an encoder, may be of a decoder, or both."""
    options = {"mask", "lengths", "causal", "want_weights"}
    needed = (p.name for p in parameters(thing) if p.default is p.empty and not (is_table(p.name) or is_place(p.name)))
    required = [(name.lower(), meanings(name, INPUTS)) for name in needed]
    inputs = [(name, found) for name, found in required if "x" in found or not options & set(found)]
    if len(inputs) != 2 or not {"encoder", "encoder_layer"} & set(components):
        yield from components
        return
    (first, _), (second, found) = inputs
    if re.fullmatch(SOURCE, first) and re.fullmatch(TARGET, second):
        yield "transformer" if "vocab" in sizes_of(thing) else "encoder_decoder"
    for component in components:
        decoding = component.replace("encoder", "decoder") if component in ("encoder", "encoder_layer") else component
        yield from dict.fromkeys((decoding, component) if "memory" in found else (component, decoding))


def _reads_tokens(thing: type) -> bool:
    """Return whether a class is one layer of attention with the embedding before it."""
    sizes, code = sizes_of(thing), names_read(thing)
    one = len([p for p in parameters(thing) if p.default is p.empty]) == 1
    tokens = {"vocab", "heads"} <= sizes and not {"hidden", "ratio", "layers"} & sizes
    return one and tokens and bool(code & EMBEDDINGS) and bool(code & SOFTMAX)


EMBEDDINGS = {"Embedding", "embedding", "one_hot"}


def _line(thing: Any) -> int:
    code = getattr(thing, "__code__", None)
    if code is not None:
        return int(code.co_firstlineno)
    lines = (
        [v.__code__.co_firstlineno for v in vars(thing).values() if isinstance(v, FunctionType)]
        if isinstance(thing, type)
        else []
    )
    return min(lines, default=0)
