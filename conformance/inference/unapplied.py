"""Parameters of attention that exist and are never applied, and numbers that are applied and no parameters."""

from functools import partial

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.inference.attention_probe import Probe
from attnconf.conformance.inference.attention_text import AttentionText
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.building import run, space_for
from attnconf.conformance.inference.naming import roles_of
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import drawn


def reached(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> tuple[list[str], list[str]]:
    """Return the parameters that no output comes from, and the tensors that one comes from and that are none."""
    if text.lazy or text.unregistered or not isinstance(place.thing, type):
        return [], []
    space = space_for(config, place.module, weights={"q.weight": torch.zeros(1, dtype=torch.float64)})
    try:
        module = attempt(partial(run, text.made, space))
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
