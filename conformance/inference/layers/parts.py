"""What a layer is made of: parts that its constructor wants, norms that need float32, all layers in one tensor."""

import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnconf.adapters.generated.modules import in_single
from attnconf.adapters.generated.stacked_parameters import Layered
from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.building.construction import Part, constructions
from attnconf.conformance.inference.texts.layer_requests import FIRST, request
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import Form
from attnconf.conformance.inference.trials.probing import Failed, attempt, call_module
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import meanings, snake

# What a parameter may want, by its name: the pattern of the name, and that of the user's classes that may be it.
_WANTS = (
    (r"(.*_)?(attn|attention|att|mha|self|cross|self_?block|cross_?block|src_?attn)(_.*)?", r"att|mha"),
    (r"(.*_)?(ff|ffn|feed_?forward|mlp|mlp_?block|network|ff_?network)(_.*)?", r"feed_?forward|ffn|^ff|mlp"),
    (r"(encoder_?)?(layer|block)s?|encoder_?layer", r"(layer|block)$"),
    (r"(decoder_?)?(layer|block)s?|decoder_?layer", r"(layer|block)$"),
    (r"encoder", r"encoder$"),
    (r"decoder", r"decoder$"),
)
ROWS = ("64",)  # of a table that vectors are handed in behind
_ACTIVATIONS = ('"relu"', "nn.ReLU()", "torch.nn.functional.relu", "nn.ReLU", '"gelu"')


def layer_parts(place: Place, table: Mapping[str, Sequence[str]]) -> Part:
    """Return what gives expressions for a parameter that wants a module, by its name."""
    config = request(place.component, {}, FIRST, (2, 2)).config
    space = space_for(config, place.module)
    seen: set[Any] = {place.thing}

    def part(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        plain = snake(name).strip("_")
        if parameter.default is not parameter.empty or parameter.annotation in (int, float, bool):
            return ()
        if "activation" in meanings(name):
            return _ACTIVATIONS
        if re.search(r"dim|size|hidden|num|channels|width|units|heads|_n$|^n_|^d_|^dff|_d$|inner|mult|ratio", plain):
            return ()
        found: list[str] = []
        for wanted, kinds in _WANTS:
            if re.fullmatch(wanted, plain):
                side = "decod" if "decod" in plain or place.component == "decoder" else "encod"
                sized = {**table, "vocab": table.get("vocab", ROWS)} if kinds.endswith("coder$") else table
                found += _built(place, kinds, side, sized, part, space, seen)
                if plain.endswith("s") and found and re.search("layer|block", plain):
                    found = [f"nn.ModuleList([{text} for _ in range(config.num_layers)])" for text in found]
        if re.search(r"ff|feed|mlp|network", plain):
            found.append("nn.Sequential(nn.Linear(config.embed_dim, config.hidden_dim), nn.ReLU(), "
                         "nn.Linear(config.hidden_dim, config.embed_dim))")  # fmt: skip
        return tuple(dict.fromkeys(found)) or place.part(name, parameter)

    return part


def _built(
    place: Place, kinds: str, side: str, table: Mapping[str, Sequence[str]], part: Part, space: dict[str, Any],
    seen: set[Any],
) -> list[str]:  # fmt: skip
    """Return expressions that build the user's own classes of some kinds; those of the wanted side first."""
    found = []
    for name, thing in list(vars(place.module).items()):
        plain = snake(name)
        own = isinstance(thing, type) and issubclass(thing, nn.Module) and (
            thing.__module__ == place.module.__name__ or place.module.__name__.startswith("torch")
        )  # fmt: skip
        if not own or thing in seen or not re.search(kinds, plain):
            continue
        seen.add(thing)
        for made in constructions(f"theirs.{name}", thing, table, place.module, part):
            try:
                attempt(partial(run, made, dict(space)))
            except Failed:
                continue
            found.append((side not in plain, made.text))
            break
        seen.discard(thing)
    return [text for _, text in sorted(found)]


# -- norms that compute in float32 whatever they are given, and take parameters in float32 alone


def with_single(made: Construction, module: nn.Module) -> tuple[Construction, nn.Module]:
    """Return a construction and its module such that these norms get what they take; the same without such norms."""
    norms = {name: part for name, part in module.named_modules() if name and _is_norm(part)}
    one_of_each = {type(part): part for part in norms.values()}
    single = {kind for kind, part in one_of_each.items() if not _takes_double(part) and _takes_single(part)}
    found = [name for name, part in norms.items() if type(part) in single]
    if not found:
        return made, module
    names = dict.fromkeys(re.sub(r"(?<![^.])\d+(?![^.])", "*", name) for name in found)  # of however many layers
    words = ", ".join(f'"{name}"' for name in names)
    return replace(made, text=f"in_single({made.text}, {words})"), in_single(module, *names)


def _is_norm(part: nn.Module) -> bool:
    """Return whether a module of the user's own has nothing but vectors, as wide as the model."""
    if type(part).__module__.partition(".")[0] == "torch":
        return False
    shapes = {tuple(p.shape) for p in part.parameters() if not isinstance(p, nn.parameter.UninitializedParameter)}
    return shapes == {(FIRST.width,)}


def _takes_double(part: nn.Module) -> bool:
    return _gives(part, drawn("a norm's x", 2, 3, FIRST.width))


def _takes_single(part: nn.Module) -> bool:
    """Return whether a norm takes what is in float64 once its parameters are in float32."""
    try:
        return _gives(part.float(), drawn("a norm's x", 2, 3, FIRST.width))
    finally:
        part.double()


def _gives(part: nn.Module, x: Tensor) -> bool:
    try:
        out = attempt(lambda: part(x))
    except Failed:
        return False
    return isinstance(out, Tensor) and out.shape == x.shape


# -- stacks that keep all layers in one tensor

LEAST = 6  # parameters that hold all layers: four matrices of attention, two of a network


class _Watch(TorchFunctionMode):
    """Notes what is taken of parameters for layer 0, as "gain[1]"."""

    def __init__(self, names: Mapping[int, str]):
        super().__init__()
        self.names, self.pieces = names, list[str]()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "__getitem__" and id(args[0]) in self.names:
            at = args[1] if isinstance(args[1], tuple) else (args[1],)
            piece = self.names[id(args[0])] + "".join(f"[{i}]" for i in at[1:])
            if all(type(i) is int for i in at) and at[0] == 0 and piece not in self.pieces:
                self.pieces.append(piece)
        return func(*args, **(kwargs or {}))


def layered(made: Construction, module: nn.Module, form: Form, layers: int) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that each layer has its own parameters; the same where it has."""
    every = {name: p for name, p in module.named_parameters() if p.ndim > 1 and len(p) == layers}
    own = {name: p for name, p in every.items() if "." not in name}
    parameters = own or every  # those of a dict of weights have dotted names
    if layers < 2 or len(parameters) < LEAST:
        return made, module
    watch = _Watch({id(p): name for name, p in parameters.items()})
    x = drawn("layered", FIRST.B, FIRST.L, FIRST.width)
    memory = drawn("layered memory", FIRST.B, FIRST.S, FIRST.width)
    given = {"x": x, "memory": memory}
    try:
        with watch:
            call_module(module.double().eval(), form, lambda slot: given.get(slot.role), None)
    except Failed:
        return made, module
    if not _whole(watch.pieces, parameters):
        return made, module
    return replace(made, text=f"layered({made.text}, {watch.pieces!r})"), Layered(module, watch.pieces)


def _whole(pieces: list[str], parameters: Mapping[str, Tensor]) -> bool:
    """Return whether these are all that each parameter has for a layer, each once."""
    counts = Counter(piece.partition("[")[0] for piece in pieces)
    split = {piece.partition("[")[0]: piece.count("[") for piece in pieces}
    return set(counts) == set(parameters) and all(
        counts[name] == (p.shape[1] if split[name] else 1) and split[name] < 2 for name, p in parameters.items()
    )
