"""What adapters written by ``attnconf bind`` are made of: the user's definitions, and masks in their forms."""

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
    """Return a module in the mode, in the dtype and on the device that a configuration and its weights say.

    Given what builds it, it is built with the same random numbers each time: some of its parameters may be its own.
    What is built and is no module is returned as it is.
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
    """Return the module after a first call, from which its lazy layers take their sizes."""
    with torch.no_grad():
        module(*args, **kwargs)
    return module


def dropping(module: nn.Module, p: float) -> nn.Module:
    """Return a module with the probability of dropout that is asked for, where its constructor takes none."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = p
        elif isinstance(part, nn.MultiheadAttention):
            part.dropout = p
    return module


def handed(module: nn.Module, ids: dict[str, str], out: str = "", turned: bool = False) -> nn.Module:
    """Return a model that takes ids as one that takes vectors: see handing.Handed."""
    return Handed(module, ids, out, turned)


def layered(module: nn.Module, order: list[str]) -> nn.Module:
    """Return a stack whose parameters hold all layers with parameters of each layer: see layered.Layered."""
    return Layered(module, order)


def without(module: nn.Module, *names: str) -> nn.Module:
    """Return the module with the named sub-modules, norms inside attention, replaced by the identity."""
    for name in names:
        *above, last = name.split(".")
        setattr(module.get_submodule(".".join(above)), last, nn.Identity())
    return module


def registered(module: nn.Module) -> nn.Module:
    """Return a module with the modules that it keeps in plain lists, tuples or dicts as modules of its own.

    An optimizer does not find their parameters, so these are not to learn.
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
    """Return an object that is no module with these tensors as its attributes."""
    for name, x in tensors.items():
        setattr(thing, name, x)
    return thing


def kernel(weight: Tensor, width: int) -> Tensor:
    """Return a matrix as the kernel of a convolution that is wider than one token; half of it is for the one before."""
    parts = [torch.zeros_like(weight) for _ in range(width)]
    at = (width - 1) // 2
    parts[at] = weight
    if at:
        parts[at - 1] = weight / 2
    return torch.stack(parts, dim=-1)


def lacking(weights: Any, *names: str) -> None:
    """Raise NotImplementedError where a weight that the module does not have is not zero."""
    for name in names:
        if name in weights and bool(weights[name].detach().any()):
            raise NotImplementedError(f"{name}: it has none")


def allowed(query: Tensor, key: Tensor, key_mask: Tensor | None, attn_mask: Tensor | None, causal: bool) -> Any:
    """Return where attention is allowed, (B, 1 or H, L, S), True = may attend; None where it is everywhere."""
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
    """Return the mask that allows all, (B, 1, L, S), for a module that insists on one."""
    return torch.ones(query.shape[0], 1, _tokens(query), _tokens(key), dtype=torch.bool, device=query.device)


def _tokens(x: Tensor) -> int:
    """Return how many tokens there are: of ids (B, L), or of vectors (…, L, E)."""
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
    """Return how many keys of each sample may be seen, (B,), where these are the first ones."""
    count = keys.sum(dim=1)
    if not torch.equal(keys, torch.arange(keys.shape[1], device=keys.device) < count[:, None]):
        raise NotImplementedError("masks that are no lengths")
    return count


def additive(seen: Tensor, bias: Tensor | None, like: Tensor) -> Tensor:
    """Return a mask to be added to the scores: 0 or the bias where attention is allowed, -inf elsewhere."""
    zeros = torch.zeros((), dtype=like.dtype, device=like.device) if bias is None else bias
    return torch.where(seen, zeros, float("-inf"))


def floored(weights: Any, config: Any) -> Any:
    """Return the weights without the rows that are left over where the heads do not divide the width."""
    width = config.num_heads * config.head_dim
    if config.embed_dim % config.num_heads == 0 or weights["q.weight"].shape[0] == width:
        return weights
    inner = {name: w[:width] for name, w in weights.items() if not name.startswith("out.")}
    return {**weights, **inner, "out.weight": weights["out.weight"][:, :width]}


def full(weights: Any) -> dict[str, Tensor]:
    """Return the weights of multi-head attention with biases of zero where there are none."""
    zeros = {f"{n}.bias": weights[f"{n}.weight"].new_zeros(len(weights[f"{n}.weight"])) for n in ("q", "k", "v", "out")}
    return {**zeros, **weights}


def fitted(module: nn.Module, state: dict[str, Any]) -> dict[str, Tensor]:
    """Return what each parameter of a module is: what is given, in the parameter's shape, else what it is already."""
    given: dict[str, Tensor] = {}
    state = {name: x for name, x in state.items() if x is not None}
    like = next(iter(state.values()), torch.empty(0))
    for name, parameter in module.named_parameters():
        x = state.get(name, parameter.detach().to(like))
        x = x if parameter.requires_grad else x.detach()
        given[name] = x.reshape(parameter.shape) if x.numel() == parameter.numel() else x
    return given


def heads_last(x: Tensor, heads: int) -> Tensor:
    """Return rows that lie head by head as rows in which the heads are the faster axis."""
    turned: Tensor = x.unflatten(0, (heads, -1)).transpose(0, 1)
    return turned.flatten(0, 1)


def for_each_head(seen: Tensor, heads: int) -> Tensor:
    """Return a mask (B, 1 or H, L, S) as (B·H, L, S)."""
    return seen.expand(-1, heads, -1, -1).flatten(0, 1)


def exact(weights: Any) -> None:
    """Let tensors that a module makes be in float64 where its weights are, so that they can meet."""
    if any(x.dtype == torch.float64 for x in weights.values()):
        torch.set_default_dtype(torch.float64)  # until the call is over


def each_apart(function: Callable[..., Any], *tensors: Any, **given: Any) -> Any:
    """Return what a function for one head of one sample gives for all, (B, H, …); what has no such axes goes to all."""
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
    """Return what gives for a batch what ``forward``, for batches of one sample, gives for each of its samples.

    What is one object to the caller, as query, key and value are in self-attention, is one to ``forward``.
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
    """Return what an option of attention is for one sample of a batch."""
    batched = isinstance(x, Tensor) and len(x) > 1 and (name == "key_mask" or x.ndim == 4)
    return x[b : b + 1] if batched else x


# -- positions, biases and coordinates


def counted(length: int, positions: Tensor | None, like: Tensor) -> Tensor:
    """Return the positions that are given, else 0, 1, … for so many tokens."""
    return torch.arange(length, device=like.device) if positions is None else positions


def rows(rows_: Any, x: Tensor) -> Tensor:
    """Return rows (L, D), or (B, L, D), for every sample of x (B, L, D), in its dtype.

    Raises ValueError where they are not as many as x has tokens.
    """
    table: Tensor = torch.as_tensor(rows_)
    if table.shape[-2:] != x.shape[-2:]:
        raise ValueError(f"a table of shape {tuple(table.shape)} for {x.shape[-2]} tokens of {x.shape[-1]} features")
    return table.to(x.device, x.dtype).expand(x.shape)


def octaves(frequencies: Any) -> int:
    """Return how many powers of two, from 1 on, the frequencies are."""
    if list(frequencies) != [2.0**k for k in range(len(frequencies))]:
        raise NotImplementedError("frequencies that are not 1, 2, 4, …")
    return len(frequencies)


def penalties(slopes_: Any, query_length: int, key_length: int) -> Tensor:
    """Return the bias -slope·distance, (H, L, S), of slopes (H,) alone; the last query stands at the last key."""
    slopes: Tensor = torch.as_tensor(slopes_, dtype=torch.float64).flatten()
    queries = torch.arange(key_length - query_length, key_length)
    return -slopes[:, None, None] * (queries[:, None] - torch.arange(key_length)).abs()


def written(module: Any, name: str, value: Tensor) -> Any:
    """Return a module, or another object, with a tensor of its own that is no parameter replaced by a value."""
    *above, last = name.split(".")
    setattr(module.get_submodule(".".join(above)) if above else module, last, value)
    return module


def in_order(module: nn.Module, weights: Any) -> dict[str, Tensor]:
    """Return the weights of the layers 0, 1, … for the linear layers of a module in the order in which it has them."""
    names = [name for name, _ in module.named_parameters()]
    given = [weights[f"{i}.{part}"] for i in range(len(weights) // 2) for part in ("weight", "bias")]
    return dict(zip(names, given, strict=True))


def chosen(choices: dict[str, Any], name: str) -> Any:
    """Return what stands for a name, where something does."""
    if name not in choices:
        raise NotImplementedError(f"{name}: there is no choice for it")
    return choices[name]


# -- tokens


def unknown_in(text: str, config: Any) -> bool:
    """Return whether a text has something that is not in the vocabulary of words or characters."""
    parts = text.split() if config.kind == "word" else list(text)
    return any(part not in config.vocabulary for part in parts)


def tallied(words: list[str]) -> dict[str, int]:
    """Return how often each word occurs."""
    return dict(Counter(word for word in words if word))


def spelt(word: str, attached: bool) -> list[str]:
    """Return the symbols of a word; the mark of its end is part of the last one, or stands alone."""
    return [*word[:-1], word[-1] + END] if attached else [*word, END]


def pairs(merges: Any) -> list[tuple[str, str]]:
    """Return merges as pairs of strings, however they are kept: in a list or dict, as pairs or with a space between."""
    found = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in merges]
    if all(len(pair) == 2 and isinstance(pair[0], tuple | list) for pair in found):  # each with its count or rank
        found = [tuple(pair[0]) for pair in found]
    return [(str(first), str(second)) for first, second in found]
