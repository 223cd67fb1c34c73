"""transformers: learned positions of BART, OPT and Whisper, a variant for each model."""

import torch
import transformers
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding
from transformers.models.whisper.modeling_whisper import WhisperPositionalEmbedding

from attnconf.adapters import bind

__version__ = transformers.__version__


def refuse_dropout(config):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")


def hold(module, weights):
    return bind(module.to(weights["table.weight"].dtype), {"weight": weights["table.weight"]})


def bart(config, weights):
    refuse_dropout(config)
    call = hold(BartLearnedPositionalEmbedding(config.max_len, config.dim), weights)

    def forward(x, *, positions=None):
        if positions is not None and positions.ndim == 2:
            raise NotImplementedError("positions of its own for every sample")
        return call(x, position_ids=positions).expand(len(x), -1, -1)

    return forward


def opt(config, weights):
    refuse_dropout(config)
    call = hold(OPTLearnedPositionalEmbedding(config.max_len, config.dim), weights)

    def forward(x, *, positions=None):
        everything = torch.ones(x.shape[:2], dtype=torch.long, device=x.device)
        return call(everything, position_ids=positions).expand(len(x), -1, -1)

    return forward


def whisper(config, weights):
    refuse_dropout(config)
    call = hold(WhisperPositionalEmbedding(config.max_len, config.dim), weights)

    def forward(x, *, positions=None):
        return call(x, position_ids=positions).expand(len(x), -1, -1)

    return forward


variants = {
    "bart": {"learned": bart, "declares": {"learned-output": "table", "learned-offset": "2"}},
    "opt": {"learned": opt, "declares": {"learned-output": "table", "learned-offset": "2"}},
    "whisper": {"learned": whisper, "declares": {"learned-output": "table", "learned-offset": "0"}},
}
