"""Language models in somebody's file: what stands around their layers, and whether they are any."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from torch import Tensor

from attnconf.conformance.inference.texts.layer_trace import Trace
from attnconf.conformance.inference.texts.layer_units import Units
from attnconf.conformance.inference.trials.binding import Attempts, Place
from attnconf.conformance.inference.trials.calling import Form, call_of, parameters
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.source_text import code_reached

COMPONENT = "language_model"
TARGETS = r"targets?|labels?|tgt|gold|y"  # an argument with which a loss is computed, and all logits are
SAYS = r"gpt|llama|causal|autoregressive|language[_ -]?model|next[_ -]?token|(^|_)lm(_|$)"
BOTH_WAYS = (
    r"bert|mask(ed|ing)?[_ -]+(language|lm)|mlm|bidirectional|both (directions|sides)|cloze|encoder[_ -]only|diffusion"
)
_AS = r"(?:(?:np|numpy|jnp|torch)\.\w+\()?"  # np.asarray(ids)
OWN_LOOK_UP = (
    r"(?i)\w*(table|emb\w*|wte|weight|vectors|rows)\w*[\"']?\]?\[\s*"
    + _AS
    + r"\w*(ids?|idx|tokens?|x|inputs?|index|indices|t|src|source)\w*(\.long\(\))?\)?\s*\]"
    r"|[\"']\]\[\s*"
    + _AS
    + r"\w*(ids?|idx|tokens?|index|indices|src|tgt|trg|source|target)\w*(\.long\(\))?\)?\s*\]"  # p["tok"][ids]
)
SINES = r"\bsin\b|\bcos\b"
TRIED = 2  # ways to build it, or to call it
ROOT = r"sqrt|\*\*\s*0?\.5|embed_?scale|normalizer"


def with_targets(forms: Iterator[Form], component: str) -> Iterator[Form]:
    """Yield the forms; those of a language model without what its loss is computed with, then with it."""
    for form in forms:
        about = [slot for slot in form.slots if re.fullmatch(TARGETS, snake(slot.name)) and slot.role != "ids"]
        if component != COMPONENT or not about:
            yield form
            continue
        if not any(slot.required for slot in about):
            yield Form(tuple(slot for slot in form.slots if slot not in about))
        yield Form(tuple(replace(slot, role="targets") if slot in about else slot for slot in form.slots))


def told_of_targets(thing: object, form: Form, component: str) -> Iterator[str]:
    """Yield a word on each argument that a loss is computed with, and that is not given."""
    if component == COMPONENT:
        given = {slot.name for slot in form.slots}
        about = [p for p in parameters(thing) if re.fullmatch(TARGETS, snake(p.name)) and p.name not in given]
        yield from (f"{p.name}={p.default}: a loss is computed with it" for p in about)


def says_so(place: Place) -> bool:
    """Return whether a class says that it is a causal language model, by its name or in its docstring."""
    words = snake(f"{place.name}\n{getattr(place.thing, '__doc__', '') or ''}")
    return re.search(SAYS, words) is not None and re.search(BOTH_WAYS, words) is None


def demand_causality(place: Place, causal: bool) -> None:
    """Raise Failed for what sees later ids, and does not say that it is what should not."""
    if not (causal or says_so(place)):
        raise Failed("its logits depend on later ids, and nothing says that it is a language model")


def gives_none(attempts: Attempts) -> bool:
    """Return whether what was tried gives something else than logits, however it is built."""
    return sum(count for words, count in attempts.often.items() if "no output of shape" in words) >= TRIED


def embeds(thing: object) -> bool:
    """Return whether code looks ids up in a parameter of its own, without torch's embedding."""
    return re.search(OWN_LOOK_UP, code_reached(thing)) is not None


# -- weights around the layers


def entries(units: Units, real: Mapping[str, Tensor], width: int, size: int) -> list[str]:
    """Return which parameters are the table, the head, its bias and the positions, as entries of a state."""
    tables = [unit.names[0] for unit in units.tables]
    found = [f'"{name}": weights["{our}.weight"]' for name, our in zip(tables, ("table", "head"), strict=False)]
    found += [f'"{name}": weights["head.bias"]' for name in head_biases(units, real, size)]
    return found + [
        f'"{name}": in_rows(weights["positions.weight"], module.get_parameter("{name}"))'
        for name in position_tables(units, real, width)
    ]


def head_biases(units: Units, real: Mapping[str, Tensor], size: int) -> list[str]:
    """Return the parameters with a number for each id."""
    return [name for name in units.others if real[name].ndim == 1 and len(real[name]) == size]


def position_tables(units: Units, real: Mapping[str, Tensor], width: int) -> list[str]:
    """Return the parameters that may have a row for each position."""
    shapes = {name: tuple(real[name].shape) for name in units.others}
    return [name for name, shape in shapes.items() if len(shape) > 1 and shape[-1] == width and prod(shape) > width][:1]


def declared(units: Units, real: Mapping[str, Tensor], width: int, size: int) -> dict[str, str]:
    """Return what the parameters around the layers say of conventions."""
    found = {"tying": "none" if len(units.tables) > 1 else "head"}
    found |= {"head-bias": "yes"} if head_biases(units, real, size) else {}
    return found | ({"added-positions": "learned"} if position_tables(units, real, width) else {})


# -- conventions


def axes(place: Place, trace: Trace, declares: Mapping[str, str]) -> list[list[dict[str, str]]]:
    """Return what may be declared of what stands around the layers, those first that the code speaks for."""
    code = code_reached(place.thing)
    none, sines = [{"added-positions": "none"}], [{"added-positions": "sinusoidal"}]
    layouts = [{**sines[0], "sinusoidal-layout": layout} for layout in ("halves", "halves-cos-first")]
    found: list[list[dict[str, str]]] = []
    if declares.get("added-positions") != "learned":
        turning = {"sin", "cos", "polar", "view_as_complex"} & set(trace.functions) or re.search(SINES, code)
        found.append([*none, *sines, *layouts] if re.search(r"(?i)rope|rotary|polar", code) else
                     [*sines, *layouts, *none] if turning else none)  # fmt: skip
    plain, scaled = dict[str, str](), {"embedding-scale": "sqrt"}
    own = re.search(ROOT, _own_code(place.thing)) is not None
    found.append([scaled, plain] if own else [plain, scaled] if re.search(ROOT, code) else [plain])
    return found


def _own_code(thing: object) -> str:
    """Return the text of a class's own call, where rows may be multiplied; "" where there is none."""
    try:
        return inspect.getsource(call_of(thing))
    except (OSError, TypeError):
        return ""


def with_cap(largest: float) -> dict[str, str]:
    """Return what is declared of a cap; ``largest``: of the logits where all matrices are large."""
    return next(({"logit-cap": cap} for cap in ("15", "30") if largest == float(cap)), {})
