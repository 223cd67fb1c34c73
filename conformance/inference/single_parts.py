"""Norms that compute in float32 whatever they are given, and take parameters in float32 alone."""

from dataclasses import replace

from torch import Tensor, nn

from attnconf.adapters.generated.modules import in_single
from attnconf.conformance.inference.building import Construction
from attnconf.conformance.inference.layer_requests import FIRST
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import drawn


def with_single(made: Construction, module: nn.Module) -> tuple[Construction, nn.Module]:
    """Return a construction and its module such that these norms get what they take; the same without such norms."""
    norms = {name: part for name, part in module.named_modules() if name and _is_norm(part)}
    one_of_each = {type(part): part for part in norms.values()}
    single = {kind for kind, part in one_of_each.items() if not _takes_double(part) and _takes_single(part)}
    names = [name for name, part in norms.items() if type(part) in single]
    if not names:
        return made, module
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
