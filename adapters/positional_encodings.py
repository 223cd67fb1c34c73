"""positional-encodings: sinusoidal positions, added by its Summer, and on a grid."""

from importlib.metadata import version

import torch
from positional_encodings.torch_encodings import PositionalEncoding1D, PositionalEncoding2D, Summer

__version__ = version("positional-encodings")
declares = {
    "sinusoidal-output": "add",
    "sinusoidal-layout": "interleaved",
    "sinusoidal-frequencies": "paper",
    "grid-axes": "height-first",
    "grid-layout": "interleaved",
}


def refuse_base(config):
    if config.base != 10000:
        raise NotImplementedError("a base other than 10000")


def sinusoidal(config, weights):
    refuse_base(config)
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    module = Summer(PositionalEncoding1D(config.dim)).to(config.device, config.dtype)

    def forward(x, *, positions=None):
        if positions is not None:
            raise NotImplementedError("explicit positions")
        return module(x)

    return forward


def sinusoidal_2d(config, weights):
    refuse_base(config)
    module = PositionalEncoding2D(config.dim).to(config.device, config.dtype)

    def forward(height, width):
        return module(torch.empty(1, height, width, config.dim, device=config.device, dtype=config.dtype))[0]

    return forward
