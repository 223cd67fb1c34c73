"""In which conventions a layer or a model may be: those first that what was seen of it speaks for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import product

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.engine.translate import translated
from attnconf.conformance.inference.layers.state import ONE_NORM, SANDWICH, State
from attnconf.conformance.inference.small.activations import may_be_quick, says_quick
from attnconf.conformance.inference.texts import language_models
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.texts.layer_trace import Trace, activations
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import CONVENTION_SETS
from attnconf.conformance.inference.trials.claims import says_its_order, says_its_placement
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.source_text import code_reached

DIVISOR = ("layer-norm-variance", "layer-norm-eps")
EPS = ("1e-05", "1e-06", "1e-12", "1e-08", "0.0001", "0.001")
TURNS = r"(?i)rope|rotary|rotat(e|or)|freqs_?cis|inv_?freq|view_as_complex|polar\(|theta"
ANGLES = r"\b(cos|sin)\b"  # in a language whose words for turning are not known, or added to the input
HALVES = r"(?i)rotate_?half|chunk\(\s*2\b|// ?2 ?:|: ?[\w. \[\]()-]*// ?2\]|\bhalf\b"
ONE_MORE = r"\b1(\.0?)?\s*\+\s*\w*\.?(weight|scale|gain|gamma|g|w)\b"
CAUSAL_NAME = r"gpt|causal|autoregressive|(?<!masked_)language_?model|^lm_|(?<!masked)_lm$"


def variants(place: Place, text: LayerText, state: State) -> Iterator[dict[str, str]]:
    """Yield the conventions in which a text may be, those first that what was seen speaks for."""
    fixed = dict(state.declares)
    causal = text.known.configures("causal")
    if causal and (text.causal_always or _says_causal(place, text)):
        fixed["causality"] = "always"
    fixed |= state.biased.declares(text.causal_always)
    known, trace = COMPONENTS[place.component], text.trace
    if "config.rotary_dim" in "".join((*text.made.before, text.made.text)):
        fixed["rotary-part"] = "given"
    if not known.layered or trace is None:
        names = translated(place.component)
        for choices in product(*(CONVENTIONS[name] for name in names)):
            yield {**fixed, **dict(zip(names, choices, strict=True))}
        return
    layered = fixed.get("norm-biases") != "no" and fixed["layer-bias"] == "yes"
    axes: list[list[dict[str, str]]] = [
        [{"norm-order": name} for name in _orders(place, text, state)],
        [{"norm-kind": kind} for kind in (("layer",) if layered else _kinds(trace, code_reached(place.thing)))],
        [{"activation": name} for name in _activations(place, trace)],
        [{}] if "eps" in text.made.given else [{"eps": e} for e in dict.fromkeys([*_seen(trace), *EPS])],
        [{"attention-scale": scale} for scale in _scales(place, layered, state)],
    ]
    axes.append(_divisors(trace))
    axes.append(_rotations(place))
    if fixed.get("qk-norm-over") == "head" and len(axes[-1]) > 1:
        axes.append([{}, {"qk-norm-place": "after"}])
    if not layered:
        one_more = re.search(ONE_MORE, code_reached(place.thing)) is not None
        axes.append([{"rms-norm-weight": w} for w in (("one-plus", "plain") if one_more else ("plain", "one-plus"))])
        axes.append(_places(trace))
    if place.component == language_models.COMPONENT:
        axes += language_models.axes(place, trace, fixed)
    for name in ("transformer-scale", "sinusoidal-layout") if "source" in known.attends else ():
        if name in known.conventions:
            axes.append([{name: choice} for choice in CONVENTIONS[name]])
    ranked = sorted(
        product(*(range(len(axis)) for axis in axes)), key=lambda picked: (sum(map(bool, picked)), sum(picked))
    )
    for picked in ranked[:CONVENTION_SETS]:
        declares = dict(fixed)
        for axis, i in zip(axes, picked, strict=True):
            declares |= axis[i]
        if declares["norm-kind"] != "layer" and any(name.startswith("layer-norm-") for name in declares):
            continue
        if declares["norm-kind"] == "layer" and _of_rms_alone(declares):
            continue
        yield _short(declares)


def _orders(place: Place, text: LayerText, state: State) -> list[str]:
    """Return where the norms may stand, by how many there are and whether one comes first.

    What says that it is of post-norm or pre-norm order is not taken for what stands in another one.
    """
    usual = ["pre", "post"] if state.norm_first else ["post", "pre"]
    if "placement" not in {entry.name for entry in fields(text.known.config)} or "norm_first" in text.made.given:
        return usual
    if state.norms == len(SANDWICH):
        return ["sandwich"]
    said = says_its_placement(place.thing)
    if says_its_order(place.thing) and not said:
        return usual
    alone = state.norms == len(ONE_NORM)
    other = "parallel" if alone else "parallel-two" if state.norm_first else "output"
    return [other, *usual] if said or (alone and not _norms_again(place, text)) else [*usual, other]


def _norms_again(place: Place, text: LayerText) -> bool:
    """Return whether more is normalised than one norm in each layer, and one behind them, would."""
    called = text.trace.functions if text.trace else []
    once = 1 if place.component.endswith("_layer") else 3  # of two layers
    return any(called.count(name) > once for name in ("layer_norm", "rms_norm", "rsqrt", "var", "std"))


def _activations(place: Place, trace: Trace) -> list[str]:
    """Return the activations, those first that were seen; quick-GELU before them where it is named, else last."""
    names, quick = list(activations(trace)), {"sigmoid", "silu", "exp"} & set(trace.functions)
    if not quick or not may_be_quick(place.thing):
        return names
    return ["quick-gelu", *names] if says_quick(place.thing) else [*names, "quick-gelu"]


def _scales(place: Place, layered: bool, state: State) -> tuple[str, ...]:
    """Return what scores may be multiplied by: by nothing where it is said, and in layers without biases, as T5's."""
    if state.biased.entries:
        return ("none", "sqrt")
    return ("sqrt",) if layered and place.prescribed.get("attention-scale") != "none" else ("sqrt", "none")


def _rotations(place: Place) -> list[dict[str, str]]:
    """Return whether queries and keys are turned inside: none where nothing in the code speaks of it."""
    code = code_reached(place.thing)
    said = re.search(TURNS, code)
    if "rotary-inside" not in COMPONENTS[place.component].conventions or not (said or re.search(ANGLES, code)):
        return [{}]
    pairs = ["half", "interleaved"] if re.search(HALVES, code) else ["interleaved", "half"]
    turned: list[dict[str, str]] = [{"rotary-inside": name} for name in pairs]
    return [*turned, {}] if said else [{}, *turned]


def _short(declares: Mapping[str, str]) -> dict[str, str]:
    """Return the conventions without those that say what is taken for granted and is no matter of a layer's kind."""
    quiet = {name: CONVENTIONS[name][0] for name in ("attention-scale", "rms-norm-weight", "rms-norm-eps", *DIVISOR)}
    return {name: choice for name, choice in declares.items() if quiet.get(name) != choice}


def _kinds(trace: Trace, code: str = "") -> tuple[str, ...]:
    """Return the kinds of norm, that first which the functions that were called, or the only name, speak for."""
    if re.search("layer_?norm", code, re.IGNORECASE) and not re.search("rms", code, re.IGNORECASE):
        return ("layer", "rms")
    centred = "layer_norm" in trace.functions or "var" in trace.functions or "std" in trace.functions
    return ("layer", "rms") if centred else ("rms", "layer")


def _divisors(trace: Trace) -> list[dict[str, str]]:
    """Return what layer norms may divide by, that first which the functions that were called speak for."""
    outside = [dict(zip(DIVISOR, (v, "outside"), strict=True)) for v in ("unbiased", "biased")]  # as norms.py says
    if "layer_norm" in trace.functions:
        return [{}]
    if "std" in trace.functions:
        return [*outside, {}]
    return [{}, *outside] if {"var", "var_mean", "mean", "sum"} & set(trace.functions) else [{}]


def _places(trace: Trace) -> list[dict[str, str]]:
    """Return where ε of RMS norms may stand, likewise."""
    outside = {"rms-norm-eps": "outside"}
    if {"rms_norm", "rsqrt"} & set(trace.functions):
        return [{}]
    by_length = {"norm", "linalg_norm", "linalg_vector_norm"} & set(trace.functions)  # as their authors compute it
    return [outside, {}] if by_length and _kinds(trace)[0] == "rms" else [{}, outside]


def _of_rms_alone(declares: Mapping[str, str]) -> bool:
    return declares.get("rms-norm-weight") == "one-plus" or declares.get("rms-norm-eps") == "outside"


def _seen(trace: Trace) -> list[str]:
    return [e for eps in trace.eps if (e := next((x for x in EPS if float(x) == eps), ""))]


def _says_causal(place: Place, text: LayerText) -> bool:
    plain = snake(place.name)
    masked = any(slot.role in ("mask", "lengths", "causal") for slot in text.form.slots)
    return not text.decodes and not masked and re.search(CAUSAL_NAME, plain) is not None
