"""Gelu of ONNX between two linear layers, as ``feed_forward``: an activation is no component by itself."""

from typing import Any

from torch import Tensor
from torch.nn.functional import linear

from attnconf.adapters.contract import FeedForwardConfig, Forward, Weights
from attnconf.conformance.source.onnx_files.session import Session


def feed_forward_of(session: Session) -> tuple[Any, dict[str, Any]]:
    """Return the function of the contract, and what it declares. The linear layers are PyTorch's."""
    said = session.graph.attributes.get("approximate", b"none")
    activation = "gelu-tanh" if said == b"tanh" else "gelu"

    def feed_forward(config: FeedForwardConfig, weights: Weights) -> Forward:
        if config.gated or config.activation != activation:
            raise NotImplementedError(f"anything but an ungated network with {activation}, which the file has")
        if config.dropout and config.training:
            raise NotImplementedError("dropout: the operator has none")

        def forward(x: Tensor) -> Tensor:
            hidden = linear(x, weights["up.weight"], weights.get("up.bias"))
            (activated,) = session.run({"x": hidden})
            return linear(activated, weights["down.weight"], weights.get("down.bias"))

        return forward

    return feed_forward, {"activation": activation, "gated": "no"}
