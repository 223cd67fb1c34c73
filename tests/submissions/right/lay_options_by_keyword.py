import torch
import torch.nn as nn
import torch.nn.functional as F

FACTORY = {"n_embd": 64, "n_head": 4, "n_inner": 128, "drop": 0.2, "ln_eps": 1e-6}


class TransformerBlock(nn.Module):
    """One encoder block, norms first. Whatever is not asked for by keyword is as in FACTORY."""

    def __init__(self, **asked):
        super().__init__()
        assert asked.keys() <= FACTORY.keys(), sorted(asked.keys() - FACTORY.keys())
        self.settings = FACTORY | asked
        width, inner = self.settings["n_embd"], self.settings["n_inner"]
        self.before_attention = nn.LayerNorm(width, eps=self.settings["ln_eps"])
        self.before_network = nn.LayerNorm(width, eps=self.settings["ln_eps"])
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def dropped(self, x):
        return F.dropout(x, self.settings["drop"], self.training)

    def attention(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.settings["n_head"], -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        p = self.settings["drop"] if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p)
        return self.o(y.transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.dropped(self.attention(self.before_attention(x)))
        h = self.dropped(torch.relu(self.up(self.before_network(x))))
        return x + self.dropped(self.down(h))
