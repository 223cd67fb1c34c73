"""The library's models, small, with drawn weights, and what their attention and layers are given and give back."""

import importlib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.reports.families.families import E, Family

BACKENDS = ("eager", "sdpa", "flex_attention")
B, T = 3, 11


@dataclass(frozen=True)
class Situation:
    """What a model is given: vectors in the place of tokens, and which of them are real."""

    name: str
    keep: Tensor  # (B, T), True = real

    @property
    def mask(self) -> Tensor | None:
        """Return the library's mask of padding; None where nothing is padded, so that it may take another path."""
        return None if self.keep.all() else self.keep.long()

    @property
    def positions(self) -> Tensor:
        """Return positions that count the real tokens, as the library's own generation does."""
        return (self.keep.long().cumsum(1) - 1).clamp(min=0)


def _without(*padded: tuple[int, slice]) -> Tensor:
    keep = torch.ones(B, T, dtype=torch.bool)
    for sample, where in padded:
        keep[sample, where] = False
    return keep


SITUATIONS = (
    Situation("no padding", _without()),
    Situation("padding behind", _without((0, slice(9, None)), (2, slice(6, None)))),
    Situation("padding before", _without((0, slice(2)), (2, slice(5)))),
)


@dataclass
class Seen:
    """One call of a module in a model: its path, what it was given, and what it gave back."""

    path: str
    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Tensor


@dataclass
class Trace:
    """What the attentions and the layers of a model did in one call."""

    attentions: list[Seen] = field(default_factory=list)
    layers: list[Seen] = field(default_factory=list)
    out: Tensor = field(default_factory=lambda: torch.empty(0))  # the model's


def build(family: Family, backend: str, dtype: torch.dtype) -> Any:
    """Return the model for evaluation, with weights that depend on nothing but their names.

    Raises what the library raises where it does not offer the backend.
    """
    library = importlib.import_module("transformers")
    model_class = getattr(library, family.model)
    config = model_class.config_class(**family.settings)
    model = model_class._from_config(config, attn_implementation=backend).eval()
    for name, parameter in model.named_parameters():
        parameter.data = drawn(name, parameter)
    return model.to(dtype)


def drawn(name: str, like: Tensor) -> Tensor:
    """Return a parameter: weights that keep the size of what they are applied to, gains beside 1, biases not 0."""
    by_name = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    noise = torch.randn(like.shape, generator=by_name)
    if like.ndim >= 2:
        return noise.mul(1.5 / like.shape[-1] ** 0.5)
    start = like.detach().flatten()[0] if like.unique().numel() == 1 else 0.0  # 1 of gains; sinks begin at random
    return start + 0.3 * noise


def tokens(name: str, dtype: torch.dtype, *shape: int) -> Tensor:
    """Return vectors that depend on nothing but their name and shape."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(zlib.crc32(name.encode()))).to(dtype)


def inputs(model: Any, situation: Situation, dtype: torch.dtype, sample: int | None = None) -> dict[str, Any]:
    """Return the arguments of a whole pass: of all samples, or of the real tokens of one, alone."""
    x, positions, mask = tokens("tokens", dtype, B, T, E), situation.positions, situation.mask
    which = slice(None) if sample is None else slice(sample, sample + 1)
    if sample is not None:
        kept = situation.keep[sample]
        x, positions, mask = x[which, kept], positions[which, kept], None
    if not model.config.is_encoder_decoder:
        return {"inputs_embeds": x, "attention_mask": mask, "position_ids": positions}
    frames = tokens("frames", dtype, B, model.config.num_mel_bins, 2 * model.config.max_source_positions)[which]
    decoder = {"decoder_inputs_embeds": x, "decoder_attention_mask": mask, "decoder_position_ids": positions}
    return {"input_features": frames} | decoder


def trace(family: Family, model: Any, situation: Situation, dtype: torch.dtype, sample: int | None = None) -> Trace:
    """Return what the model's attentions and layers do in a whole pass without a cache."""
    given = inputs(model, situation, dtype, sample)
    if family.cache:
        given["use_cache"] = False
    with _recorded(family, model) as found, torch.no_grad():
        found.out = model(**given).last_hidden_state
    return found


@contextmanager
def _recorded(family: Family, model: nn.Module) -> Iterator[Trace]:
    """Record calls of the model's attentions and layers, for as long as this lasts."""
    found = Trace()
    hooks = []
    for path, module in model.named_modules():
        name = type(module).__name__
        kept = found.attentions if name == family.attention else found.layers if name in family.layers else None
        if kept is not None:
            hooks.append(module.register_forward_hook(_keeper(kept, path), with_kwargs=True))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _keeper(kept: list[Seen], path: str) -> Any:
    def keep(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        kept.append(Seen(path, module, args, kwargs, first(out)))

    return keep


def first(out: Any) -> Tensor:
    """Return the output of a call that may return more."""
    found: Tensor = out if isinstance(out, Tensor) else out[0]
    return found


def hidden(seen: Seen) -> Tensor:
    """Return the tokens that an attention was given."""
    found: Tensor = seen.args[0] if seen.args else seen.kwargs["hidden_states"]
    return found


def again(seen: Seen, x: Tensor, memory: Tensor | None) -> Tensor:
    """Return the output of a recorded call with other tokens, with gradients."""
    kwargs: Mapping[str, Any] = seen.kwargs | ({} if memory is None else {"key_value_states": memory})
    if seen.args:
        return first(seen.module(x, *seen.args[1:], **kwargs))
    return first(seen.module(**{**kwargs, "hidden_states": x}))
