# the sum token + position is done by the caller:  h = tok(ids) + pos(ids)
import torch
from torch import nn


class PosTable(nn.Module):
    def __init__(self, d_model, max_len, device):
        """
        d_model: width of the model
        max_len: rows of the table
        device:  'cpu' or 'cuda:0', no default on purpose
        """
        super().__init__()
        where = dict(device=device, dtype=torch.float32)
        row = torch.arange(max_len, **where)[:, None]
        two_k = torch.arange(0, d_model, 2, **where)[None]
        angle = row * 10000 ** (-two_k / d_model)
        rows = torch.empty(max_len, d_model, **where)
        rows[:, ::2], rows[:, 1::2] = angle.sin(), angle.cos()
        self.register_buffer("rows", rows)

    def forward(self, ids):
        # ids is (batch, T); what the ids are does not matter here
        T = ids.size(1)
        if T > self.rows.size(0):
            raise IndexError("too many tokens")
        return self.rows[:T]
