import torch.nn as nn


class Stack(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward, num_layers):
        super().__init__()
        made = (nn.TransformerDecoderLayer(d_model, nhead, dim_feedforward, 0.0, batch_first=True) for _ in range(num_layers))
        self.layers = nn.ModuleList(made)

    def forward(self, tgt, memory):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1], device=tgt.device, dtype=tgt.dtype)
        for layer in self.layers:
            out = layer(tgt, memory, tgt_mask=mask)
        return out
