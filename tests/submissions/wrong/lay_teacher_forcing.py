import torch
import torch.nn as nn


class Decoder(nn.Module):
    """
    Transformer decoder.

    Parameters
    ----------
    hidden_size : int
    n_heads : int
    n_layers : int
    ffn_size : int
    """

    def __init__(self, hidden_size, n_heads, n_layers, ffn_size):
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.TransformerDecoderLayer(
                    hidden_size, n_heads, ffn_size, dropout=0.0, batch_first=True, activation="gelu"
                )
                for _ in range(n_layers)
            ]
        )

    def causal_mask(self, length, device):
        # while training the whole target is known (teacher forcing)
        if self.training:
            return None
        return torch.triu(torch.full((length, length), float("-inf"), device=device), diagonal=1)

    def forward(self, target, memory):
        mask = self.causal_mask(target.size(1), target.device)
        if mask is not None:
            mask = mask.to(target.dtype)
        for layer in self.layers:
            target = layer(target, memory, tgt_mask=mask)
        return target
