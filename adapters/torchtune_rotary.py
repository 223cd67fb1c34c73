"""torchtune: RotaryPositionalEmbeddings, and Llama3ScaledRoPE where the frequencies are scaled."""

import torchtune
from torchtune.models.llama3_1 import Llama3ScaledRoPE
from torchtune.modules import RotaryPositionalEmbeddings

__version__ = torchtune.__version__
declares = {"rope-pairing": "interleaved"}

THEIR_NAMES = {"factor": "scale_factor", "original_max_position": "old_context_len"}


def make(config):
    if config.scaling is None:
        return RotaryPositionalEmbeddings(config.head_dim, config.max_len, config.base)
    named = {THEIR_NAMES.get(name, name): value for name, value in config.scaling}
    kind = named.pop("kind")
    if kind != "llama3":
        raise NotImplementedError(f"the scaling {kind}")
    return Llama3ScaledRoPE(config.head_dim, config.max_len, config.base, **named)


def rotary(config, weights):
    if config.rotary_dim != config.head_dim:
        raise NotImplementedError("features that do not turn")
    embedding = make(config).to(config.device, config.dtype)

    def forward(x, *, positions=None):
        return embedding(x.transpose(1, 2), input_pos=positions).transpose(1, 2)

    return forward
