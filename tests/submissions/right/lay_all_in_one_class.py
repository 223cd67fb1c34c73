import torch


class OneClassEncoder(torch.nn.Module):
    """No submodules of my own, no inheritance tree: you can read it from top to bottom.

    model_width: size of the token vectors
    heads: how many heads per layer
    hidden: size of the inner layer of the MLP
    layers: how many times
    """

    def __init__(self, *, model_width, heads, hidden, layers):
        super().__init__()
        self.layers = layers
        d = model_width // heads

        def p(*shape):
            return torch.nn.Parameter(torch.randn(*shape) * 0.05)

        # one big tensor per role, first axis = which layer
        self.Q, self.K, self.V = p(layers, heads, model_width, d), p(layers, heads, model_width, d), p(layers, heads, model_width, d)
        self.O = p(layers, heads, d, model_width)
        self.A, self.a = p(layers, model_width, hidden), p(layers, hidden)
        self.B, self.b = p(layers, hidden, model_width), p(layers, model_width)
        self.gain = torch.nn.Parameter(torch.ones(layers, 2, model_width))
        self.shift = torch.nn.Parameter(torch.zeros(layers, 2, model_width))

    def norm(self, x, layer, which):
        centred = x - x.mean(dim=2, keepdim=True)
        variance = (centred * centred).mean(dim=2, keepdim=True)
        return centred / (variance + 1e-5).sqrt() * self.gain[layer, which] + self.shift[layer, which]

    def forward(self, x):
        for l in range(self.layers):
            q = torch.einsum("ntw,hwd->nhtd", x, self.Q[l])
            k = torch.einsum("nsw,hwd->nhsd", x, self.K[l])
            v = torch.einsum("nsw,hwd->nhsd", x, self.V[l])
            scores = torch.einsum("nhtd,nhsd->nhts", q, k) / q.shape[-1] ** 0.5
            scores = scores - scores.amax(dim=-1, keepdim=True)
            e = scores.exp()
            weights = e / e.sum(dim=-1, keepdim=True)
            mixed = torch.einsum("nhts,nhsd,hdw->ntw", weights, v, self.O[l])
            x = self.norm(x + mixed, l, 0)
            inner = (x @ self.A[l] + self.a[l]).clamp(min=0)
            x = self.norm(x + inner @ self.B[l] + self.b[l], l, 1)
        return x
