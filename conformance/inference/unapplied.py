"""Parameters of attention that exist and are never applied: a bias that the forward pass does not add."""

import copy
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


def unapplied(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> list[str]:
    """Return the names of parameters that no output comes from, whatever they are."""
    if text.lazy or text.unregistered or not isinstance(place.thing, type):
        return []
    space = space_for(config, place.module, weights={"q.weight": torch.zeros(1, dtype=torch.float64)})
    try:
        module = attempt(partial(run, text.made, space))
        if not isinstance(module, nn.Module):
            return []
        probe = Probe(copy.deepcopy(module), text, config)
        given = {name: p.requires_grad_() for name, p in probe.parameters.items()}
        x = drawn("applied", 1 if text.single else 2, 4, config.embed_dim)
        result = probe.run(x, x, x, given)
        out: Tensor = eval(text.out, {"result": result, "need_weights": False})
        found = torch.autograd.grad(out.sum(), list(given.values()), allow_unused=True)
    except (Failed, RuntimeError, TypeError):
        return []
    return [name for name, gradient in zip(given, found, strict=True) if gradient is None]


def with_unapplied(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> AttentionText:
    """Return the text with the biases that are there and never applied: they are not absent.

    What else is never applied is a word of its own.
    """
    dead = unapplied(place, text, config)
    biases = {name: [f"{role}.bias" for role in roles_of(name) if role] for name in dead if _is_bias(name)}
    there = {bias for named in biases.values() for bias in named}
    others = [f"the parameter `{n}` is never applied" for n in dead if not set(biases.get(n, ())) & set(text.lacking)]
    lacking = tuple(bias for bias in text.lacking if bias not in there)
    return text.but(lacking=lacking, unapplied=tuple(others))


def _is_bias(name: str) -> bool:
    last = name.rpartition(".")[2].lower()
    return "bias" in last or last.startswith("b_")
