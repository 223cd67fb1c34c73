import torch
import torch.nn as nn


class MultiHead(nn.Module):
    """(x, context) -> (y, attention map averaged over the heads), for the heat map in the paper"""

    def __init__(self, dim, num_heads):
        super().__init__()
        assert dim % num_heads == 0
        self.nh = num_heads
        self.p_q, self.p_k, self.p_v, self.p_out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, context, keep=None):
        split = lambda t: torch.stack(t.chunk(self.nh, dim=-1), dim=1)
        q, k, v = split(self.p_q(x)), split(self.p_k(context)), split(self.p_v(context))
        logits = q @ k.mT / q.size(-1) ** 0.5
        if keep is not None:
            logits = logits.masked_fill(keep.logical_not(), float('-inf'))
        a = logits.softmax(-1)
        y = torch.cat((a @ v).unbind(1), dim=-1)
        return self.p_out(y), a.mean(dim=1)
