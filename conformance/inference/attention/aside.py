"""What of a class is set aside where attention is judged: norms around it, parameters that are never applied."""

import re
from collections.abc import Iterator, Mapping
from itertools import product

import torch
from torch import Tensor, nn
from torch.func import functional_call

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.inference.attention.probe import Probe
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.trial import drawn, same_numbers
from attnconf.conformance.inference.weights.naming import roles_of

# -- norms

Three = tuple[Tensor, Tensor, Tensor]


def outer(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> bool:
    """Return whether the norms that are left out stand before or behind all of the rest."""
    try:
        one, other = (build(place, text.made, config) for _ in range(2))
        if not isinstance(one, nn.Module) or text.lazy or not isinstance(place.thing, type):
            return False
        whole, rest = Probe(one, text.but(stripped=()), config), Probe(other, text, config)
        x = drawn("normed", 1 if text.single else 2, 4, config.embed_dim)
        given = (x, x, x) if text.self_only else (x, drawn("normed k", *x.shape), drawn("normed v", *x.shape))
        want = eval(text.out, {"result": whole.run(*given), "need_weights": False})
        return any(_alike(want, out) for out in _composed(whole, rest, text, given))
    except (Failed, RuntimeError, TypeError, ValueError):
        return False


def _alike(one: Tensor, other: Tensor) -> bool:
    return same_numbers(other, one)


def _composed(whole: Probe, rest: Probe, text: AttentionText, given: Three) -> Iterator[Tensor]:
    """Yield the rest with its norms before it, in every order of inputs, and behind it."""

    def normed(name: str, x: Tensor) -> Tensor:
        own: Mapping[str, Tensor] = {
            n.removeprefix(f"{name}."): p for n, p in whole.parameters.items() if n.startswith(f"{name}.")
        }
        out: Tensor = functional_call(whole.module.get_submodule(name), dict(own), (x,))
        return out

    def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out: Tensor = eval(text.out, {"result": rest.run(q, k, v), "need_weights": False})
        return out

    names = text.stripped
    if len(names) == 1:
        yield normed(names[0], attended(*given))
    for order in product((*names, ""), repeat=3):
        if set(order[:1] if text.self_only else order) >= set(names):
            inputs = [normed(name, x) if name else x for name, x in zip(order, given, strict=True)]
            inputs = [inputs[0]] * 3 if text.self_only else inputs
            out = attended(*inputs)
            added = inputs[0] - given[0]  # the input is added as it was before the norm
            yield out - (added.transpose(0, 1) if text.sequence_first else added) if text.residual else out


NOTHING = 1e-9  # of the largest gradient: rounding
# -- parameters that are never applied, and numbers that are applied and no parameters


def reached(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> tuple[list[str], list[str]]:
    """Return the parameters that no output comes from, and the tensors that one comes from and that are none."""
    if text.lazy or text.unregistered or not isinstance(place.thing, type):
        return [], []
    try:
        module = build(place, text.made, config)
        if not isinstance(module, nn.Module):
            return [], []
        probe = Probe(module, text, config)
        fixed = _fixed(probe.module, config)
        given = {name: p.requires_grad_() for name, p in probe.parameters.items()}
        x = drawn("applied", 1 if text.single else 2, 4, config.embed_dim)
        result = probe.run(x, x, x, given)
        out: Tensor = eval(text.out, {"result": result, "need_weights": False})
        asked = {**given, **fixed}
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    except (Failed, RuntimeError, TypeError):
        return [], []
    used = {name for name, gradient in zip(asked, found, strict=True) if gradient is not None}
    return [name for name in given if name not in used], [name for name in fixed if name in used]


def _fixed(module: nn.Module, config: MultiHeadAttentionConfig) -> dict[str, Tensor]:
    """Return the rows of numbers of a module that are no parameters and as wide as a bias, made to ask gradients of."""
    width = config.num_heads * config.head_dim
    widths = {times * wide for times in (1, 2, 3) for wide in (width, config.embed_dim)}
    found = {}
    for above, part in module.named_modules():
        for name, x in [*vars(part).items(), *part.named_buffers(recurse=False)]:
            if isinstance(x, Tensor) and x.is_floating_point() and x.numel() in widths and max(x.shape) == x.numel():
                row = x.detach().double().requires_grad_()
                setattr(part, name, row)
                found[f"{above}.{name}" if above else name] = row
    return found


def with_unapplied(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> AttentionText:
    """Return the text with the biases that are there and never applied: they are not absent.

    What else is never applied is a word of its own, and what is applied and never trained.
    """
    dead, fixed = reached(place, text, config)
    biases = {name: [f"{role}.bias" for role in roles_of(name) if role] for name in dead if _is_bias(name)}
    there = {bias for named in biases.values() for bias in named}
    others = [f"the parameter `{n}` is never applied" for n in dead if not set(biases.get(n, ())) & set(text.lacking)]
    others += [f"`{name}` is a tensor and no parameter: it is not trained" for name in fixed]
    lacking = tuple(bias for bias in text.lacking if bias not in there)
    return text.but(lacking=lacking, unapplied=tuple(others))


def _is_bias(name: str) -> bool:
    last = name.rpartition(".")[2].lower()
    return "bias" in last or last.startswith("b_")


def _is_row(x: Tensor, width: int) -> bool:
    return x.numel() == width == max(x.shape)


def without_effect(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> tuple[str, ...]:
    """Return words on parameters that an output is computed from, that are no weights of ours, and change nothing.

    As a sink that is divided away again, or a bias on the scores that is the same for all keys that are seen. A row as
    wide as the keys that changes nothing is a bias of theirs, whatever it is called: it shifts all scores alike.
    """
    if text.lazy or text.unregistered or not isinstance(place.thing, type):
        return ()
    ours = {name for entry in text.state for name in re.findall(r'"([^"]+)":', entry)}
    try:
        module = build(place, text.made, config)
        if not isinstance(module, nn.Module) or not set(dict(module.named_parameters())) - ours:
            return ()
        probe = Probe(module, text, config)
        x = drawn("without effect", 1 if text.single else 2, 5, config.embed_dim)
        given = {name: drawn(f"effect {name}", *p.shape).requires_grad_() for name, p in probe.parameters.items()}
        out: Tensor = eval(text.out, {"result": probe.run(x, x, x, given), "need_weights": False})
        scalar = (out * drawn("effects", *out.shape)).sum()
        found = dict(zip(given, torch.autograd.grad(scalar, list(given.values()), allow_unused=True), strict=True))
    except (Failed, RuntimeError, TypeError):
        return ()
    sizes = {name: float(gradient.abs().max()) for name, gradient in found.items() if gradient is not None}
    least = NOTHING * max(sizes.values(), default=0.0)
    idle = [name for name, size in sizes.items() if size <= least and name not in ours]
    idle = [name for name in idle if not (_is_bias(name) or _is_row(given[name], config.num_heads * config.head_dim))]
    return tuple(f"the parameter `{name}` is applied, and changes nothing" for name in idle)
