"""Which layer, stack or model a class may be: by what its code calls and how many inputs it takes."""

import dis
import inspect
import re
import sys
from collections.abc import Iterator, Set
from typing import Any

from attnconf.conformance.inference.building.configurations import entry_texts
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.texts.language_models import embeds
from attnconf.conformance.inference.trials.calling import SEGMENTS, parameters
from attnconf.conformance.inference.weights.function_forms import taken, takes_together
from attnconf.conformance.inference.words.angle_names import is_place, is_table
from attnconf.conformance.inference.words.keyword_arguments import constructor_parameters
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings, snake

ATTENDS = {"softmax", "Softmax", "scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"}
NORMS = {"LayerNorm", "layer_norm", "RMSNorm", "rms_norm", "rsqrt", "var", "std", "sqrt", "mean"}
ACTIVATES = {
    "relu", "ReLU", "gelu", "GELU", "silu", "SiLU", "tanh", "Tanh", "clamp", "clamp_min", "maximum", "sigmoid", "erf",
    "ELU", "LeakyReLU", "Mish", "QuickGELU", "act", "activation", "act_fn", "activation_fn", "act_layer",
}  # fmt: skip
WHOLE = {
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
    "TransformerEncoder",
    "TransformerDecoder",
}
STACKS = {"ModuleList", "Sequential", "TransformerEncoder", "TransformerDecoder", "Transformer"}
TABLES = {"Embedding", "embedding"}


def blocks(thing: Any) -> Iterator[str]:
    """Yield the layers, stacks and models that a class may be, the likeliest first; nothing where it is none."""
    if not (isinstance(thing, type) and "__call__" in dir(thing)) and not takes_together(thing):
        return
    above = thing.__mro__[1:] if isinstance(thing, type) else ()
    code = names_read(thing) | {kind.__name__ for kind in above if kind.__module__.startswith("torch.nn")}
    code |= _in_tables(code, thing)
    inputs = inputs_of(thing)
    attends = bool(code & ATTENDS) or code >= {"exp", "sum"}
    layered = bool(code & WHOLE) or bool(attends and code & NORMS and code & ACTIVATES)
    if not layered:
        if code & ATTENDS and code & TABLES and inputs == 1 and not code & {"LayerNorm", "layer_norm"}:
            yield "token_attention"
        return
    sizes = sizes_of(thing)
    stacked, maybe = bool({"layers", "decoder_layers"} & sizes), bool(code & STACKS) or _walks(thing)
    if inputs == 1:
        if (code & TABLES or embeds(thing)) and (stacked or maybe):
            yield "language_model"
        yield from ("encoder_layer",) * (not stacked) + ("encoder",) * (stacked or maybe)
    elif inputs == 2 and (code & TABLES or (takes_together(thing) and embeds(thing))):
        yield from ("transformer", "decoder", "encoder_decoder")
    elif inputs == 2:
        stacks = ("encoder_decoder", "decoder") if _translates(thing) else ("decoder", "encoder_decoder")
        yield from ("decoder_layer",) * (not stacked) + stacks * (stacked or maybe)


def _in_tables(code: Set[str], thing: Any) -> set[str]:
    """Return the names of the functions that stand in dicts of the file that code reads, by the names of options."""
    module = vars(sys.modules.get(thing.__module__, object))
    tables = [module[name] for name in code if isinstance(module.get(name), dict)]
    return {getattr(value, "__name__", "") for table in tables for value in table.values() if callable(value)}


def _walks(thing: Any) -> bool:
    """Return whether a function goes through something in a loop of its own, as through the weights of its layers."""
    code = inspect.unwrap(thing).__code__ if inspect.isfunction(thing) else None
    steps = dis.get_instructions(code) if code is not None else ()
    return any(step.opname == "FOR_ITER" or "BACKWARD" in step.opname for step in steps)


def _translates(thing: Any) -> bool:
    """Return whether a source comes before a target, by their names."""
    required = [p.name.lower() for p in parameters(thing) if p.default is p.empty]
    return len(required) > 1 and bool(
        re.search("src|source|enc", required[0]) and re.search("t[ra]?r?g|dec", required[1])
    )


def inputs_of(thing: Any) -> int:
    """Return how many tensors a call takes that are no masks, no segments, no positions, no angles and no options."""
    found, apart = 0, taken(thing)
    for p in parameters(thing):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.default is not p.empty or p.name in apart:
            continue
        if is_table(p.name) or is_place(p.name) or re.fullmatch(SEGMENTS, snake(p.name)):
            continue
        means = set(meanings(p.name, INPUTS))
        found += "x" in means or not means & {"mask", "lengths", "want_weights", "causal", "average"}
    return found


def sizes_of(thing: Any) -> set[str]:
    """Return what the parameters of a constructor mean; sizes that are told apart mean different things."""
    names = [p.name for p in constructor_parameters(thing)]
    told = entry_texts(names, {meaning: (meaning,) for meaning in SIZES})
    configured = {"config"} if any(meanings(n)[:1] == ["config"] for n in names) else set()
    found = {meaning for meaning in told.values() if meaning} | configured
    letters = {name for name, meaning in told.items() if meaning == "layers" and len(name) == 1}
    if letters and not found & {"embed", "config"}:  # n is rather the width, where nothing else is
        found = found - {"layers"} | {"embed"} | {m for n, m in told.items() if m == "layers" and n not in letters}
    return found
