"""transformers: sinusoidal positions of seven models, and those of DETR and RT-DETR on a grid."""

import torch
import transformers
from torch import nn
from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.musicgen.modeling_musicgen import MusicgenSinusoidalPositionalEmbedding
from transformers.models.pegasus_x.modeling_pegasus_x import PegasusXSinusoidalPositionalEmbedding
from transformers.models.rt_detr.modeling_rt_detr import RTDetrSinePositionEmbedding
from transformers.models.speech_to_text.modeling_speech_to_text import Speech2TextSinusoidalPositionalEmbedding
from transformers.models.speecht5.modeling_speecht5 import SpeechT5ScaledPositionalEncoding

__version__ = transformers.__version__
PADDING = 1  # the id of the padding token in M2M-100 and Speech2Text


def refuse(config, positions=None, base=False, dropout=False):
    """Raise NotImplementedError for what a module has no option for."""
    if not base and config.base != 10000:
        raise NotImplementedError("a base other than 10000")
    if not dropout and config.training and config.dropout:
        raise NotImplementedError("dropout")
    if positions is not None:
        raise NotImplementedError("explicit positions")


def for_all(table, x):
    """Return a table (L, D) or (1, L, D) for all samples of x (B, L, D)."""
    return table.expand(len(x), -1, -1)


def marian(config, weights):
    refuse(config)
    embedding = MarianSinusoidalPositionalEmbedding(config.max_len, config.dim)
    embedding.weight = nn.Parameter(embedding.create_weight(), requires_grad=False)  # as _init_weights does
    embedding.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        return for_all(embedding(x.shape, position_ids=positions), x)

    return forward


def distilbert(config, weights):
    refuse(config)
    embedding = nn.Embedding(config.max_len, config.dim)
    create_sinusoidal_embeddings(config.max_len, config.dim, embedding.weight)
    embedding.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        return for_all(embedding(positions), x)

    return forward


def m2m_100(config, weights):
    refuse(config)
    embedding = M2M100SinusoidalPositionalEmbedding(config.max_len, config.dim, PADDING).to(config.device, config.dtype)

    def forward(x, *, positions=None):
        refuse(config, positions)
        return embedding(inputs_embeds=x)

    return forward


def speech_to_text(config, weights):
    refuse(config)
    embedding = Speech2TextSinusoidalPositionalEmbedding(config.max_len, config.dim, PADDING)
    embedding.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        refuse(config, positions)
        no_padding = torch.zeros(x.shape[:2], dtype=torch.long, device=x.device)
        return embedding(no_padding)

    return forward


def musicgen(config, weights):
    refuse(config)
    embedding = MusicgenSinusoidalPositionalEmbedding(config.max_len, config.dim).to(config.device, config.dtype)

    def forward(x, *, positions=None):
        refuse(config, positions)
        return for_all(embedding(x.new_zeros((len(x), 1, x.shape[1]), dtype=torch.long)), x)

    return forward


def pegasus_x(config, weights):
    refuse(config, base=True)
    embedding = PegasusXSinusoidalPositionalEmbedding(config.dim, config.base)

    def forward(x, *, positions=None):
        if positions is not None and positions.ndim == 2:
            raise NotImplementedError("positions of its own for every sample")
        return embedding(x, position_ids=None if positions is None else positions[:, None])

    return forward


def speecht5(config, weights):
    refuse(config, dropout=True)
    embedding = SpeechT5ScaledPositionalEncoding(config.dropout, config.dim, config.max_len)
    embedding.to(config.device, config.dtype).train(config.training)

    def forward(x, *, positions=None):
        refuse(config, positions, dropout=True)
        return embedding(x)

    return forward


def detr(config, weights):
    """It takes the width of one axis, and refuses an odd one; its model halves its own, and fails where that is odd."""
    if config.dim % 2:
        raise NotImplementedError("an odd width")
    embedding = DetrSinePositionEmbedding(config.dim // 2, config.base)

    def forward(height, width):
        return embedding((1, config.dim, height, width), config.device, config.dtype)[0].permute(1, 2, 0)

    return forward


def rt_detr(config, weights):
    embedding = RTDetrSinePositionEmbedding(config.dim, config.base)

    def forward(height, width):
        return embedding(width, height, torch.device(config.device), config.dtype)[0].unflatten(0, (height, width))

    return forward


def conventions(output, layout, frequencies, offset="0"):
    return {
        "sinusoidal-output": output, "sinusoidal-layout": layout, "sinusoidal-frequencies": frequencies,
        "sinusoidal-offset": offset,
    }  # fmt: skip


variants = {
    "marian": {"sinusoidal": marian, "declares": conventions("table", "halves", "paper")},
    "distilbert": {"sinusoidal": distilbert, "declares": conventions("table", "interleaved", "paper")},
    "m2m_100": {"sinusoidal": m2m_100, "declares": conventions("table", "halves", "endpoint", "2")},
    "speech_to_text": {"sinusoidal": speech_to_text, "declares": conventions("table", "halves", "endpoint", "2")},
    "musicgen": {"sinusoidal": musicgen, "declares": conventions("table", "halves-cos-first", "endpoint")},
    "pegasus_x": {"sinusoidal": pegasus_x, "declares": conventions("table", "halves", "endpoint")},
    "speecht5": {"sinusoidal": speecht5, "declares": conventions("add", "interleaved", "paper")},
    "detr": {
        "sinusoidal_2d": detr,
        "declares": {"grid-axes": "height-first", "grid-layout": "interleaved", "sinusoidal-offset": "1"},
    },
    "rt_detr": {"sinusoidal_2d": rt_detr, "declares": {"grid-axes": "height-first", "grid-layout": "halves"}},
}
