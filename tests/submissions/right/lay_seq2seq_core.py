import torch
from torch import nn


class Seq2SeqCore(nn.Module):
    """Continuous sequence to sequence (e.g. spectrogram -> spectrogram): no embedding, no head.

    Thin wrapper around nn.Transformer which takes masks the way the data loader gives them:
    1.0 where there is a frame, 0.0 where there is padding.
    """

    def __init__(self, feat_dim, attn_heads, enc_layers, dec_layers, inner_dim, drop_rate=0.0):
        super().__init__()
        self.model = nn.Transformer(
            d_model=feat_dim,
            nhead=attn_heads,
            num_encoder_layers=enc_layers,
            num_decoder_layers=dec_layers,
            dim_feedforward=inner_dim,
            dropout=drop_rate,
            activation="gelu",
            batch_first=True,
        )

    def forward(self, source, target, source_frames=None, target_frames=None):
        t = target.size(1)
        future = torch.ones(t, t, device=target.device).triu(1).bool()
        src_pad = source_frames.eq(0) if source_frames is not None else None
        tgt_pad = target_frames.eq(0) if target_frames is not None else None
        return self.model(
            source, target,
            tgt_mask=future,
            src_key_padding_mask=src_pad,
            tgt_key_padding_mask=tgt_pad,
            memory_key_padding_mask=src_pad,
        )
