import torch
from torch import nn


class Decoder(nn.Module):
    """Stack of nn.TransformerDecoderLayer.

    dim, depth, heads, mlp_dim - the usual
    trg_pad, mem_pad - (batch, length), True = padding
    """

    def __init__(self, dim, depth, heads, mlp_dim, dropout=0.1):
        super().__init__()
        layer = nn.TransformerDecoderLayer(dim, heads, mlp_dim, dropout, batch_first=True, norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, depth, norm=nn.LayerNorm(dim))

    def forward(self, trg, memory, trg_pad=None, mem_pad=None):
        size = trg.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(size)
        return self.decoder(
            trg,
            memory,
            tgt_key_padding_mask=trg_pad,
            memory_key_padding_mask=mem_pad,
        )
