"""Heads on an axis of their own, as components have them, and as files take and give them."""

from torch import Tensor

from attnconf.conformance.source.onnx_files.session import Session


def side_by_side(x: Tensor) -> Tensor:
    """Return (B, H, L, E) as the operator takes three axes, (B, L, H·E)."""
    return x.transpose(1, 2).flatten(2)


def apart(session: Session, out: Tensor, heads: int) -> Tensor:
    """Return an output of the file with its heads on an axis of their own: (B, H, L, F)."""
    order, flat = session.graph.output.order, out.ndim == 3
    if flat:
        out = out.unflatten(2, (heads, -1))
        return out.permute([order.index(axis) for axis in range(4)]) if len(order) == 4 else out.transpose(1, 2)
    return out.permute([order.index(axis) for axis in range(out.ndim)]) if order else out
