from torch import nn


class SeatAttention(nn.Module):
    """Seats (B, n, d_seat) attend to guests (B, m, d_guest); absent (B, m) is True where nobody sits."""

    def __init__(self, d_seat, d_guest, d_att=32, n_heads=4):
        super().__init__()
        self.heads = n_heads
        self.ask = nn.Linear(d_seat, d_att)
        self.key, self.value = nn.Linear(d_guest, d_att), nn.Linear(d_guest, d_att)
        self.back = nn.Linear(d_att, d_seat)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, seats, guests, absent=None):
        q, k, v = self.split(self.ask(seats)), self.split(self.key(guests)), self.split(self.value(guests))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if absent is not None:
            scores = scores.masked_fill(absent[:, None, None], float("-inf"))
        return self.back((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
