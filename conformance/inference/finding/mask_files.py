"""Files that hold nothing but functions that make masks: elsewhere these are judged with what uses them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.finding.candidates import Candidate
from attnconf.conformance.inference.finding.hints import LAYERS, SOFTMAX, TABLES
from attnconf.conformance.inference.finding.methods import methods_of
from attnconf.conformance.inference.words.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of

MASK = r"mas(k|que)|m[aá]scara|masc?her|maske"
CAUSAL = r"causal|kausal|subsequent|look_?ahead|futur[eo]?|zukunft|square|autoregress|triang|dreieck|tril|triu"
DECODER = r"(^|_)(tgt|trg|target|dec(oder)?|std|combined|ziel|cible|objetivo)(_|$)"
PADDING = (
    r"(^|_)(pad(ding|ded)?|len(gth)?s?|valid|tokens?|ids|sequence|src|source|enc(oder)?|fill|remplissage|longueurs?|"
    r"relleno|longitud(es)?|riempimento|lunghezz[ae]|f(ü|ue)ll\w*|l(ä|ae)ngen?)(_|$)"
)
OTHERS = (
    r"window|local|chunk|stream|slid|band|strict|prefix|pr[eé]fix|block|segment|document|packed|dilat|random|global|sparse|fenetre|"
    r"fen[eê]tre|ventana|finestra|fenster|janela|span|special|alibi|bias"
)
TURNS = (
    r"(^|_)(merge|combine|join|apply|invert|additive|expand|convert|bool|float)(_|$)|^(to|as|en|zu)_|"
    r"_to_(add|bias|float|bool)"
)
SEVERAL = r"masks$|masques|m[aá]scaras|masken"
ANY = ("decoder_mask", "padding_mask", "causal_mask")
NO_SUCH_MASK = "of this kind of mask there is no requirement"
NO_KNOWN_MASK = "it makes no mask that is causal, of padding, or both"


def makers(module: ModuleType, chosen: str | None, found: Sequence[Candidate]) -> list[Candidate]:
    """Return the functions of a file that make masks, methods too; none where it holds anything else to be judged.

    Those whose names say nothing may be any of them, and count only where they equal the textbook; those of kinds
    that no requirement is about have no components. What joins or uses masks may stand beside them.
    """
    there = {name: thing for name, thing in vars(module).items() if _is_own(thing, module) and name[0] != "_"}
    own = {n: f for name, thing in there.items() for n, f in (methods_of(name, thing) or {name: thing}).items()}
    asked = {name: thing for name, thing in own.items() if chosen in (None, name, name.rpartition(".")[0])}
    of_masks = {name: thing for name, thing in asked.items() if _is_of_masks((name, thing))}
    masks = f"{MASK}|{CAUSAL}|{DECODER}|{TURNS}"
    if not all(re.search(masks, snake(c.name)) for c in found) or len(of_masks) < min(2, len(asked)):
        return []
    if any(isinstance(thing, type) for thing in asked.values()):
        return []
    making = [c for name, thing in of_masks.items() for c in _maker(name, thing)]
    telling = re.search(MASK, (module.__doc__ or "").lower()) or any(re.search(MASK, snake(c.name)) for c in making)
    return making if telling and any(c.components for c in making) else []


def _is_own(thing: Any, module: ModuleType) -> bool:
    return isinstance(thing, type | FunctionType) and thing.__module__ == module.__name__


def _is_of_masks(named: tuple[str, Any]) -> bool:
    """Return whether a function's name speaks of masks, and its code of nothing else; or it is given nothing."""
    name, thing = named
    if isinstance(thing, type) or names_read(thing) & (SOFTMAX | LAYERS | TABLES):
        return False
    words = "|".join((CAUSAL, DECODER, PADDING, OTHERS, TURNS))
    plain = _words(name)
    said = re.search(MASK, plain) or (re.search(words, plain) and "att" not in plain)
    return not parameters_of(thing) or bool(said)


def _words(name: str) -> str:
    """Return the words of a name; a method's follow its class's: "CausalMask.build" makes a causal_mask_build."""
    return snake(name.replace(".", "_"))


def makes_masks(name: str, thing: Any) -> bool:
    """Return whether a function makes masks for others by its name, and its code does nothing else."""
    return isinstance(thing, FunctionType) and bool(re.search(MASK, snake(name))) and _is_of_masks((name, thing))


def _maker(name: str, thing: Any) -> list[Candidate]:
    """Return a function as the masks that it may make, the likeliest first; none where it changes masks.

    What makes several, for both sides of a translation, is as many things to judge.
    """
    plain = _words(name)
    if not parameters_of(thing) or re.search(TURNS, plain):
        return []
    names = [snake(p.name) for p in parameters_of(thing)]
    required = [snake(p.name) for p in parameters_of(thing) if p.default is p.empty]
    if any(re.search(MASK, n) for n in required):
        return []
    one = Candidate(name, thing, (), frozenset(names_read(thing)))
    if re.search(OTHERS, plain.removesuffix("_bias") if _said(plain) else plain):
        return [one]
    told_padding = any("padding" in meanings(n) for n in names)
    if re.search(SEVERAL, plain) and len([n for n in required if "padding" not in meanings(n)]) == 2:
        return [replace(one, components=("padding_mask",)), replace(one, components=("decoder_mask",))]
    components = [c for c in _said(plain) or ANY if not (told_padding and c == "causal_mask")]
    return [replace(one, components=tuple(components), guessed=not _said(plain))] if components else []


def _said(plain: str) -> tuple[str, ...]:
    """Return what the name of a function says that it makes."""
    causal, decoder, padding = (re.search(words, plain) is not None for words in (CAUSAL, DECODER, PADDING))
    if decoder or (causal and padding):
        return ANY
    return ("causal_mask",) if causal else ("padding_mask",) if padding else ()
