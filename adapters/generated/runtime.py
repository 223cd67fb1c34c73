"""The run-time of adapters written by ``attnconf bind``: loading definitions, and translating masks and weights."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.function_module import functional
from attnconf.adapters.generated.stacked_parameters import Layered
from attnconf.adapters.generated.vector_input import Handed
from attnconf.adapters.kit.weight_names import under

__all__ = [
    "additive", "allowed", "awake", "chosen", "counted", "definitions", "dropping", "each_apart", "everywhere", "exact",
    "fitted", "floored", "for_each_head", "full", "functional", "handed", "heads_last", "holding", "in_order", "kernel",
    "lacking", "layered", "lengths", "octaves", "one_for_all_heads", "one_for_all_queries", "one_for_all_samples",
    "pairs", "penalties", "registered", "rows", "settle", "singly", "spelt", "tallied", "under", "unknown_in",
    "without", "written",
]  # fmt: skip

END = "</w>"


def definitions(path: str) -> ModuleType:
    """Return the module that a .py file or a notebook defines; its top-level work is not run."""
    from attnconf.conformance.source.reader import read  # needs nothing else of ours

    return read(Path(path)).module


def settle(module: Any, config: Any, weights: Any = None) -> Any:
    """Return a module in the mode, dtype and device of a configuration and its weights.

    A function that builds the module is called with the same random numbers each time, as the module may keep some of
    its own parameters. A built object that is no module is returned as it is.
    """
    if not isinstance(module, nn.Module):
        state = torch.get_rng_state()
        torch.default_generator.manual_seed(0)  # torch.manual_seed formats the stack, for devices that are not there
        try:
            module = module()
        finally:
            torch.set_rng_state(state)
    if not isinstance(module, nn.Module):
        return module
    like = next(iter((weights or {}).values()), None)
    device = config.device if like is None and hasattr(config, "device") else getattr(like, "device", None)
    dtype = config.dtype if like is None and hasattr(config, "dtype") else getattr(like, "dtype", None)
    return module.train(getattr(config, "training", False)).to(device, dtype)


def awake(module: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
    """Return the module after a first call, in which its lazy layers get their sizes."""
    with torch.no_grad():
        module(*args, **kwargs)
    return module


def dropping(module: nn.Module, p: float) -> nn.Module:
    """Return a module with this probability of dropout, for a class whose constructor takes none."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = p
        elif isinstance(part, nn.MultiheadAttention):
            part.dropout = p
    return module


def handed(module: nn.Module, ids: dict[str, str], out: str = "", turned: bool = False) -> nn.Module:
    """Return a model that takes ids as one that takes vectors: see vector_input.Handed."""
    return Handed(module, ids, out, turned)


def layered(module: nn.Module, order: list[str]) -> nn.Module:
    """Return a stack whose parameters hold all layers, with parameters for each: see stacked_parameters.Layered."""
    return Layered(module, order)


def without(module: nn.Module, *names: str) -> nn.Module:
    """Return the module with the named sub-modules, norms inside attention, replaced by the identity."""
    for name in names:
        *above, last = name.split(".")
        setattr(module.get_submodule(".".join(above)), last, nn.Identity())
    return module


def registered(module: nn.Module) -> nn.Module:
    """Return a module after registering the modules in its plain lists, tuples and dicts as sub-modules.

    Their parameters are frozen, as an optimizer would not find them in the user's module.
    """
    for part in list(module.modules()):
        for name, kept in list(vars(part).items()):
            listed = list(kept.values()) if type(kept) is dict else kept
            if name.startswith("_") or not isinstance(listed, list | tuple) or not listed:
                continue
            if all(isinstance(one, nn.Module) for one in listed):
                known = {id(p) for p in module.parameters()}
                own = nn.ModuleDict(kept) if type(kept) is dict else nn.ModuleList(listed)
                setattr(part, name, own)
                for parameter in own.parameters():
                    parameter.requires_grad_(id(parameter) in known and parameter.requires_grad)
    return module


def holding(thing: Any, tensors: dict[str, Tensor]) -> Any:
    """Return an object (no module) after setting these tensors as its attributes."""
    for name, x in tensors.items():
        setattr(thing, name, x)
    return thing


def kernel(weight: Tensor, width: int) -> Tensor:
    """Return a matrix as the kernel of a convolution of width 2; half of it is for the token before."""
    parts = [torch.zeros_like(weight) for _ in range(width)]
    at = (width - 1) // 2
    parts[at] = weight
    if at:
        parts[at - 1] = weight / 2
    return torch.stack(parts, dim=-1)


def lacking(weights: Any, *names: str) -> None:
    """Raise NotImplementedError if a weight that the module lacks is not zero."""
    for name in names:
        if name in weights and bool(weights[name].detach().any()):
            raise NotImplementedError(f"{name}: it has none")


def allowed(query: Tensor, key: Tensor, key_mask: Tensor | None, attn_mask: Tensor | None, causal: bool) -> Any:
    """Return the mask of allowed positions, (B, 1 or H, L, S), True = may attend; None if all are allowed."""
    L, S = _tokens(query), _tokens(key)
    seen = None
    if causal:
        seen = torch.ones(L, S, dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None:
        seen = attn_mask if seen is None else seen & attn_mask
    if key_mask is not None:
        seen = key_mask[:, None, None, :] if seen is None else seen & key_mask[:, None, None, :]
    if seen is None:
        return None
    heads = seen.shape[-3] if seen.ndim > 2 else 1
    whole = seen.expand(query.shape[0], heads, L, S)
    return whole if whole.shape == seen.shape else whole.contiguous()  # the caller's own, or one of its own


def everywhere(query: Tensor, key: Tensor) -> Tensor:
    """Return the mask that allows all positions, (B, 1, L, S), for a module that needs a mask."""
    return torch.ones(query.shape[0], 1, _tokens(query), _tokens(key), dtype=torch.bool, device=query.device)


def _tokens(x: Tensor) -> int:
    """Return the number of tokens in ids (B, L) or vectors (…, L, E)."""
    return x.shape[1] if x.ndim == 2 else x.shape[-2]


def one_for_all_heads(seen: Tensor) -> Tensor:
    """Return a mask (B, H, L, S) as (B, L, S), where it is the same for all heads."""
    if seen.shape[1] > 1 and not bool((seen == seen[:, :1]).all()):
        raise NotImplementedError("masks that differ between heads")
    return seen[:, 0]


def one_for_all_samples(seen: Tensor) -> Tensor:
    """Return a mask (B, L, S) as (L, S), where it is the same for all samples."""
    if not bool((seen == seen[:1]).all()):
        raise NotImplementedError("masks that differ between samples")
    return seen[0]


def one_for_all_queries(seen: Tensor) -> Tensor:
    """Return a mask (B, L, S) as one of keys, (B, S), where it is the same for all queries."""
    if not bool((seen == seen[:, :1]).all()):
        raise NotImplementedError("masks that differ between queries")
    return seen[:, 0]


def lengths(keys: Tensor) -> Tensor:
    """Return the number of visible keys of each sample, (B,); the visible keys must be the first ones."""
    count = keys.sum(dim=1)
    if not torch.equal(keys, torch.arange(keys.shape[1], device=keys.device) < count[:, None]):
        raise NotImplementedError("masks that are no lengths")
    return count


def additive(seen: Tensor, bias: Tensor | None, like: Tensor) -> Tensor:
    """Return a mask to add to the scores: 0 or the bias where attention is allowed, -inf elsewhere."""
    zeros = torch.zeros((), dtype=like.dtype, device=like.device) if bias is None else bias
    return torch.where(seen, zeros, float("-inf"))


def floored(weights: Any, config: Any) -> Any:
    """Return the weights without the last rows, for a module whose heads do not divide the width."""
    width = config.num_heads * config.head_dim
    if config.embed_dim % config.num_heads == 0 or weights["q.weight"].shape[0] == width:
        return weights
    inner = {name: w[:width] for name, w in weights.items() if not name.startswith("out.")}
    return {**weights, **inner, "out.weight": weights["out.weight"][:, :width]}


def full(weights: Any) -> dict[str, Tensor]:
    """Return the weights of multi-head attention, with zeros for missing biases."""
    zeros = {f"{n}.bias": weights[f"{n}.weight"].new_zeros(len(weights[f"{n}.weight"])) for n in ("q", "k", "v", "out")}
    return {**zeros, **weights}


def fitted(module: nn.Module, state: dict[str, Any]) -> dict[str, Tensor]:
    """Return a value for each parameter of a module: the given one in the parameter's shape, else the current one."""
    given: dict[str, Tensor] = {}
    state = {name: x for name, x in state.items() if x is not None}
    like = next(iter(state.values()), torch.empty(0))
    for name, parameter in module.named_parameters():
        x = state.get(name, parameter.detach().to(like))
        x = x if parameter.requires_grad else x.detach()
        given[name] = x.reshape(parameter.shape) if x.numel() == parameter.numel() else x
    return given


def heads_last(x: Tensor, heads: int) -> Tensor:
    """Return rows ordered (head, feature) in the order (feature, head)."""
    turned: Tensor = x.unflatten(0, (heads, -1)).transpose(0, 1)
    return turned.flatten(0, 1)


def for_each_head(seen: Tensor, heads: int) -> Tensor:
    """Return a mask (B, 1 or H, L, S) as (B·H, L, S)."""
    return seen.expand(-1, heads, -1, -1).flatten(0, 1)


def exact(weights: Any) -> None:
    """Make the module create its tensors in float64 if its weights are, so that both can be combined."""
    if any(x.dtype == torch.float64 for x in weights.values()):
        torch.set_default_dtype(torch.float64)  # until the call is over


def each_apart(function: Callable[..., Any], *tensors: Any, **given: Any) -> Any:
    """Apply a function for one head of one sample to all, (B, H, …); arguments without these axes go to each."""
    B, H = tensors[0].shape[:2]

    def one(x: Any, b: int, h: int) -> Any:
        return x[b if len(x) > 1 else 0, h if x.shape[1] > 1 else 0] if isinstance(x, Tensor) and x.ndim == 4 else x

    results = [
        function(*(one(x, b, h) for x in tensors), **{name: one(x, b, h) for name, x in given.items()})
        for b in range(B)
        for h in range(H)
    ]
    if isinstance(results[0], Tensor):
        return torch.stack(results).unflatten(0, (B, H))
    return tuple(torch.stack(items).unflatten(0, (B, H)) for items in zip(*results, strict=True))


def singly(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for batches that calls ``forward``, made for one sample, for each sample.

    Arguments that are one object, as query and key in self-attention, are one object for ``forward``, too.
    """

    def for_all(query: Tensor, key: Tensor, value: Tensor, **given: Any) -> Any:
        if not len(query):
            raise NotImplementedError("a batch without samples: it takes one sequence")
        results = []
        for b in range(len(query)):
            parts = {id(x): x[b : b + 1] for x in (query, key, value)}
            options = {name: _of_one(name, x, b) for name, x in given.items()}
            results.append(forward(*(parts[id(x)] for x in (query, key, value)), **options))
        if isinstance(results[0], Tensor):
            return torch.cat(results)
        return tuple(torch.cat(items) for items in zip(*results, strict=True))

    return for_all


def _of_one(name: str, x: Any, b: int) -> Any:
    """Return the part of an option of attention that belongs to one sample of a batch."""
    batched = isinstance(x, Tensor) and len(x) > 1 and (name == "key_mask" or x.ndim == 4)
    return x[b : b + 1] if batched else x


# -- positions, biases and coordinates


def counted(length: int, positions: Tensor | None, like: Tensor) -> Tensor:
    """Return the given positions, else 0, 1, … for this number of tokens."""
    return torch.arange(length, device=like.device) if positions is None else positions


def rows(rows_: Any, x: Tensor) -> Tensor:
    """Return rows (L, D), or (B, L, D), for every sample of x (B, L, D), in its dtype.

    Raises ValueError if their number is not that of x's tokens.
    """
    table: Tensor = torch.as_tensor(rows_)
    if table.shape[-2:] != x.shape[-2:]:
        raise ValueError(f"a table of shape {tuple(table.shape)} for {x.shape[-2]} tokens of {x.shape[-1]} features")
    return table.to(x.device, x.dtype).expand(x.shape)


def octaves(frequencies: Any) -> int:
    """Return the number of frequencies 1, 2, 4, …."""
    if list(frequencies) != [2.0**k for k in range(len(frequencies))]:
        raise NotImplementedError("frequencies that are not 1, 2, 4, …")
    return len(frequencies)


def penalties(slopes_: Any, query_length: int, key_length: int) -> Tensor:
    """Return the bias -slope·distance, (H, L, S), from slopes (H,); the last query stands at the last key."""
    slopes: Tensor = torch.as_tensor(slopes_, dtype=torch.float64).flatten()
    queries = torch.arange(key_length - query_length, key_length)
    return -slopes[:, None, None] * (queries[:, None] - torch.arange(key_length)).abs()


def written(module: Any, name: str, value: Tensor) -> Any:
    """Return a module or other object after replacing one of its tensors, no parameter, by a value."""
    *above, last = name.split(".")
    setattr(module.get_submodule(".".join(above)) if above else module, last, value)
    return module


def in_order(module: nn.Module, weights: Any) -> dict[str, Tensor]:
    """Return the weights of layers 0, 1, … under the names of the module's linear layers, in the module's order."""
    names = [name for name, _ in module.named_parameters()]
    given = [weights[f"{i}.{part}"] for i in range(len(weights) // 2) for part in ("weight", "bias")]
    return dict(zip(names, given, strict=True))


def chosen(choices: dict[str, Any], name: str) -> Any:
    """Return the value under a name. Raises NotImplementedError if there is none."""
    if name not in choices:
        raise NotImplementedError(f"{name}: there is no choice for it")
    return choices[name]


# -- tokens


def unknown_in(text: str, config: Any) -> bool:
    """Return whether a text has a word or character outside the vocabulary."""
    parts = text.split() if config.kind == "word" else list(text)
    return any(part not in config.vocabulary for part in parts)


def tallied(words: list[str]) -> dict[str, int]:
    """Return how often each word occurs."""
    return dict(Counter(word for word in words if word))


def spelt(word: str, attached: bool) -> list[str]:
    """Return the symbols of a word; the mark of its end is part of the last symbol, or a symbol of its own."""
    return [*word[:-1], word[-1] + END] if attached else [*word, END]


def pairs(merges: Any) -> list[tuple[str, str]]:
    """Return merges as pairs of strings, from a list or dict of pairs or of strings "a b"."""
    found = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in merges]
    if all(len(pair) == 2 and isinstance(pair[0], tuple | list) for pair in found):  # each with its count or rank
        found = [tuple(pair[0]) for pair in found]
    return [(str(first), str(second)) for first, second in found]
