import torch.nn as nn


class SelfAttentionLayer(nn.Module):
    """thin wrapper so that the rest of the project does not depend on torch's argument names"""

    def __init__(self, hid_dim: int, nhead: int, p: float = 0.0):
        super().__init__()
        self.mha = nn.MultiheadAttention(hid_dim, nhead, dropout=p, batch_first=True)

    def forward(self, src, pad=None):
        # pad: B x T bool, True where the token is padding
        return self.mha(src, src, src, key_padding_mask=pad, need_weights=False)[0]
