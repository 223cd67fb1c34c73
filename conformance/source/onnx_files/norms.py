"""LayerNormalization and RMSNormalization of ONNX as the components ``layer_norm`` and ``rms_norm``."""

from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import CONVENTIONS, Forward, LayerNormConfig, RmsNormConfig, Weights
from attnconf.conformance.source.onnx_files.session import Session


def declared_eps(session: Session) -> dict[str, str]:
    """Return the declaration of the ε in the file, if it is one that can be declared."""
    eps = epsilon(session)
    found = [c for c in CONVENTIONS["eps"] if c[0].isdigit() and abs(float(c) - eps) < 1e-6 * eps]
    return {"eps": found[0]} if found else {}


def epsilon(session: Session) -> float:
    return float(session.graph.attributes.get("epsilon", 1e-5))


def layer_norm_of(session: Session) -> tuple[Any, dict[str, Any]]:
    """Return the function of the contract, and what it declares."""
    shifts = "bias" in session.graph.inputs

    def layer_norm(config: LayerNormConfig, weights: Weights) -> Forward:
        if config.affine and config.bias and not shifts:
            raise NotImplementedError("a bias: the file has none")
        return _forward(session, config.shape, config.eps, weights, shifts)

    return layer_norm, {**declared_eps(session), **({} if shifts else {"layer-bias": "no"})}


def rms_norm_of(session: Session) -> tuple[Any, dict[str, Any]]:
    """Return the function of the contract, and what it declares."""

    def rms_norm(config: RmsNormConfig, weights: Weights) -> Forward:
        return _forward(session, (config.dim,), config.eps, weights, shifts=False)

    return rms_norm, declared_eps(session)


def _forward(session: Session, shape: tuple[int, ...], eps: float, weights: Weights, shifts: bool) -> Forward:
    declared, axis = declared_eps(session), int(session.graph.attributes.get("axis", -1))
    if not declared and abs(eps - epsilon(session)) > 1e-6 * eps:
        raise NotImplementedError(f"ε = {eps:g}: the file has {epsilon(session):g}")

    def forward(x: Tensor) -> Tensor:
        normed = -axis if axis < 0 else x.ndim - axis
        if normed != len(shape):
            raise NotImplementedError(f"a norm of the last {len(shape)} axes of {x.ndim}: the file's axis is {axis}")
        given = {"x": x, "weight": weights.get("weight", torch.ones(shape, dtype=x.dtype))}
        if shifts:
            given["bias"] = weights.get("bias", torch.zeros(shape, dtype=x.dtype))
        return session.run(given)[0]

    return forward
