"""RotaryEmbedding of ONNX as the component ``rotary``: x (B, H, L, E), turned by cosines and sines that it is given."""

import math
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Forward, RotaryConfig, Weights
from attnconf.conformance.source.not_loaded import NotLoaded
from attnconf.conformance.source.onnx_files.heads import apart, side_by_side
from attnconf.conformance.source.onnx_files.session import Session


def rotary_of(session: Session) -> tuple[Any, dict[str, Any]]:
    """Return the function of the contract, and what it declares. Raises NotLoaded."""
    graph, said = session.graph, session.graph.attributes
    kept = [slot for slot in ("cos", "sin") if graph.inputs[slot].kept is not None]
    if len(kept) == 1:
        raise NotLoaded(
            f"its {kept[0]} is an initializer, and the other table an input: both are wanted as one of these"
        )
    base = _base_of(session) if kept else None

    def rotary(config: RotaryConfig, weights: Weights) -> Forward:
        _demand(config, said.get("rotary_embedding_dim") or config.head_dim)
        if kept:
            _demand_tables(session, base, config)

        def forward(x: Tensor, *, positions: Tensor | None = None) -> Tensor:
            if said.get("num_heads") not in (None, 0, x.shape[1]):
                raise NotImplementedError(f"{x.shape[1]} heads: the file has num_heads = {said['num_heads']}")
            places = torch.arange(x.shape[2]) if positions is None else positions.cpu()
            places = places.expand(len(x), -1)
            given = {"x": side_by_side(x) if said.get("num_heads") else x}
            if "positions" in graph.inputs:
                given["positions"] = places
            if not kept:
                given |= _tables(config, places, whole="positions" in graph.inputs)
            elif places.numel() and int(places.max()) >= len(graph.inputs["cos"].kept):
                raise NotImplementedError(f"position {int(places.max())}: the file's tables end before it")
            (out,) = session.run(given)
            return apart(session, out, x.shape[1])

        return forward

    return rotary, {"rope-pairing": "interleaved" if said.get("interleaved") else "half"}


def _demand(config: RotaryConfig, turned: int) -> None:
    """Raise NotImplementedError for what the operator does not do, or the file does otherwise."""
    if config.scaling is not None:
        raise NotImplementedError("a scaling: the operator is given cosines and sines")
    if config.rotary_dim != turned:
        raise NotImplementedError(f"{config.rotary_dim} features of {config.head_dim} turned: the file turns {turned}")


def _tables(config: RotaryConfig, places: Tensor, whole: bool) -> dict[str, Tensor]:
    """Return cosines and sines of the angles: of all positions up to the last one, or of each token."""
    last = int(places.max()) if places.numel() else 0
    rows = torch.arange(max(config.max_len, places.shape[-1], last + 1)) if whole else places
    exponents = torch.arange(0, config.rotary_dim, 2, dtype=torch.float64) / config.rotary_dim
    angles = rows[..., None].double() * config.base**-exponents
    return {"cos": angles.cos().to(config.dtype), "sin": angles.sin().to(config.dtype)}


def _base_of(session: Session) -> float | None:
    """Return the base of the file's tables; None where the angles of position 1 begin with another than 1."""
    cos, sin = (torch.from_numpy(session.graph.inputs[slot].kept.copy()).double() for slot in ("cos", "sin"))
    if cos.ndim != 2 or cos.shape != sin.shape or len(cos) < 2 or "positions" not in session.graph.inputs:
        raise NotLoaded("tables in the file are wanted as (positions, features / 2), beside an input for positions")
    angles = torch.atan2(sin[1], cos[1])
    if not math.isclose(float(angles[0]), 1, rel_tol=1e-4) or (len(angles) > 1 and not 0 < float(angles[1]) < 1):
        return None
    return float(angles[1]) ** -len(angles) if len(angles) > 1 else 10000.0


def _demand_tables(session: Session, base: float | None, config: RotaryConfig) -> None:
    """Raise NotImplementedError for other tables than the file's. What is no table of a base is judged as it is."""
    half = session.graph.inputs["cos"].kept.shape[1]
    if 2 * half != config.rotary_dim:
        raise NotImplementedError(f"{config.rotary_dim} features turned: the file's tables are for {2 * half}")
    if base is not None and not math.isclose(base, config.base, rel_tol=1e-2):
        raise NotImplementedError(f"base {config.base:g}: the file's tables have {base:.6g}")
