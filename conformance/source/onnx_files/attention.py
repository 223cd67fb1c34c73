"""Attention of ONNX as the component ``attention``: query (B, H, L, E), key (B, H, S, E), value (B, H, S, F)."""

import functools
import math
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import AttentionConfig, Forward, Weights
from attnconf.conformance.source.not_loaded import NotLoaded
from attnconf.conformance.source.onnx_files.heads import apart, side_by_side
from attnconf.conformance.source.onnx_files.session import DTYPES, Session

AFTER_SOFTMAX = 3  # qk_matmul_output_mode


def attention_of(session: Session) -> tuple[Any, dict[str, Any]]:
    """Return the function of the contract, and what it declares. Raises NotLoaded."""
    graph, said = session.graph, session.graph.attributes
    for slot in ("past_key", "past_value", "lengths"):
        if slot in graph.inputs:
            raise NotLoaded(f"Attention with a cache or lengths (its input {graph.inputs[slot].name!r}) is not judged")
    causal, gives_weights = bool(said.get("is_causal")), _weights(session) is not None

    def attention(config: AttentionConfig, weights: Weights) -> Forward:
        if config.dropout and config.training:
            raise NotImplementedError("dropout: the operator has none")
        if config.causal != causal and (causal or "mask" not in graph.inputs):
            raise NotImplementedError(f"causal = {config.causal}: the file has is_causal = {int(causal)}")
        if said.get("softcap"):
            raise NotImplementedError(f"scores without a cap: the file has softcap = {said['softcap']:g}")

        def forward(query: Tensor, key: Tensor, value: Tensor, *, key_mask: Tensor | None = None,
                    attn_mask: Tensor | None = None, attn_bias: Tensor | None = None,
                    need_weights: bool = False) -> Any:  # fmt: skip
            _demand_scale(said.get("scale"), config.scale, query.shape[-1])
            hidden = config.causal and not causal
            mask = _joined(key_mask, attn_mask, earlier(query, key) if hidden else None)
            if need_weights and not gives_weights:
                raise NotImplementedError("returned weights")
            given = {**_heads(session, query, key, value), **_mask(session, mask, attn_bias, query, key)}
            out, *more = session.run(given, (str(_weights(session)),) if need_weights else ())
            out = apart(session, out, query.shape[1])
            return (out, more[0]) if need_weights else out

        return forward

    declares = {"causality": "always"} if causal else {}
    if "mask" not in graph.inputs:
        declares["masks"] = "none"
    if not gives_weights:
        declares["returned-weights"] = "none"
    return attention, declares


def _weights(session: Session) -> str | None:
    """Return the name of the output with the attention weights, if the file has it."""
    return (
        session.graph.spare.get("3") if session.graph.attributes.get("qk_matmul_output_mode") == AFTER_SOFTMAX else None
    )


def _demand_scale(fixed: float | None, asked: float | None, width: int) -> None:
    """Raise NotImplementedError for another scale than the one that the file fixes."""
    wanted = 1 / math.sqrt(width) if asked is None else asked
    if fixed is None and asked is not None and not math.isclose(asked, 1 / math.sqrt(width), rel_tol=1e-6):
        raise NotImplementedError(f"the scale {asked:g}: the file has none of its own, so 1/√E")
    if fixed is not None and not math.isclose(fixed, wanted, rel_tol=1e-6):
        raise NotImplementedError(f"the scale {wanted:g}: the file has {fixed:g}")


def _heads(session: Session, query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Return query, key and value as the operator takes them: with heads on an axis, or side by side."""
    given, said = {"query": query, "key": key, "value": value}, session.graph.attributes
    if "q_num_heads" not in said:
        return given
    for name, slot in (("q_num_heads", "query"), ("kv_num_heads", "key")):
        if given[slot].shape[1] != said.get(name):
            raise NotImplementedError(f"{given[slot].shape[1]} heads of {slot}: the file has {name} = {said.get(name)}")
    return {slot: side_by_side(x) for slot, x in given.items()}


def _joined(key_mask: Tensor | None, attn_mask: Tensor | None, causal: Tensor | None) -> Tensor | None:
    of_keys = None if key_mask is None else key_mask[:, None, None, :]
    masks = [mask for mask in (attn_mask, of_keys, causal) if mask is not None]
    return functools.reduce(torch.logical_and, masks) if masks else None


def earlier(query: Tensor, key: Tensor) -> Tensor:
    """Return the causal mask (L, S), True = may attend, which a file that has none of its own is given as a mask."""
    return torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()


def _mask(session: Session, mask: Tensor | None, bias: Tensor | None, query: Tensor, key: Tensor) -> dict[str, Tensor]:
    """Return the mask as the file takes it: booleans, or numbers that are added; one that hides nothing if none is."""
    if "mask" not in session.graph.inputs:
        if mask is not None or bias is not None:
            raise NotImplementedError("masks and biases: the file has no input for them")
        return {}
    known = session.graph.inputs["mask"]
    if mask is None and bias is None:
        mask = torch.ones(1, 1, query.shape[2], key.shape[2], dtype=torch.bool)
    if DTYPES[known.dtype] is torch.bool:
        if bias is not None:
            raise NotImplementedError("a bias: the file's mask is boolean")
        given = mask
    else:
        added = torch.zeros((), dtype=query.dtype) if bias is None else bias
        given = added if mask is None else torch.where(mask, added, -math.inf)
    assert given is not None
    given = given.reshape((1,) * (4 - given.ndim) + tuple(given.shape))
    given = given.expand(*given.shape[:2], query.shape[2], key.shape[2])
    return {"mask": _of_rank(given, known.sizes)}


def _of_rank(given: Tensor, sizes: tuple[int | None, ...] | None) -> Tensor:
    """Return a mask of four axes with as many as the file takes, if the first ones are not needed."""
    while sizes is not None and given.ndim > len(sizes):
        if len(given) != 1:
            raise NotImplementedError(f"a mask that differs between samples or heads: the file's has {len(sizes)} axes")
        given = given[0]
    return given
