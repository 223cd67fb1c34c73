"""Norms, networks and parts for tokens as people write them: right ones, and wrong ones with their mistake."""

HEAD = "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"

NORMS = {
    "after The Annotated Transformer": ("""
class LayerNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
    def forward(self, x):
        y = x.double()
        return (self.gamma * (y - y.mean(-1, keepdim=True)) / (y.std(-1, keepdim=True) + 1e-6) + self.beta).to(x.dtype)
""", {"eps": "1e-06", "layer-norm-variance": "unbiased", "layer-norm-eps": "outside"}),
    "after the authors of RMSNorm": ("""
class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
    def forward(self, x):
        y = x.double()
        return (self.scale * y / (y.norm(dim=-1, keepdim=True) * y.shape[-1] ** -0.5 + 1e-8)).to(x.dtype)
""", {"eps": "1e-08", "rms-norm-eps": "outside", "rms-norm-cast": "after"}),
    "eps in the code": ("""
class LayerNorm(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.eps = 1e-5
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))
    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        mean = wide.mean(dim=-1, keepdim=True)
        var = wide.var(dim=-1, keepdim=True, unbiased=False)
        return (self.scale * (wide - mean) / torch.sqrt(var + self.eps) + self.shift).to(x.dtype)
""", {"eps": "1e-05"}),
    "a bias or none": ("""
class LayerNorm(nn.Module):
    def __init__(self, ndim, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(ndim))
        self.bias = nn.Parameter(torch.zeros(ndim)) if bias else None
    def forward(self, input):
        return F.layer_norm(input, self.weight.shape, self.weight, self.bias, 1e-5)
""", {"eps": "1e-05"}),
    "no module": ("""
class LayerNorm1d:
    def __init__(self, dim, eps=1e-5):
        self.eps = eps
        self.gamma = torch.ones(dim)
        self.beta = torch.zeros(dim)
    def __call__(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        centred = wide - wide.mean(-1, keepdim=True)
        std = (centred.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()
        return (self.gamma * centred / std + self.beta).to(x.dtype)
""", {}),
    "a function that only normalizes": ("""
def layer_norm(x, eps=1e-5):
    wide = x.double()
    centred = wide - wide.mean(-1, keepdim=True)
    return (centred / torch.sqrt((centred ** 2).mean(-1, keepdim=True) + eps)).to(x.dtype)
""", {}),
    "without a shift": ("""
class LayerNormNoBias(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.g = nn.Parameter(torch.ones(d))
        self.eps = eps
    def forward(self, x):
        y = x if x.dtype == torch.float64 else x.float()
        y = y - y.mean(-1, keepdim=True)
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps) * self.g).to(x.dtype)
""", {"layer-bias": "no"}),
    "a root mean square": ("""
class RMSNorm(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
    def forward(self, h):
        wide = h.to(torch.promote_types(h.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(h.dtype)
""", {"eps": "1e-06", "rms-norm-cast": "before"}),
}  # fmt: skip
NETWORKS = {
    "two thirds": ("""
class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden_dim: int, multiple_of: int, ffn_dim_multiplier=None):
        super().__init__()
        hidden_dim = int(2 * hidden_dim / 3)
        if ffn_dim_multiplier is not None:
            hidden_dim = int(ffn_dim_multiplier * hidden_dim)
        hidden_dim = multiple_of * ((hidden_dim + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = nn.Linear(hidden_dim, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden_dim, bias=False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))
""", {"gated": "yes", "layer-bias": "no", "activation": "silu", "glu-activated": "gate"}),
    "four times as wide": ("""
n_embd = 64
dropout = 0.0
class FeedForward(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_embd, 4 * n_embd), nn.ReLU(), nn.Linear(4 * n_embd, n_embd), nn.Dropout(dropout),
        )
    def forward(self, x):
        return self.net(x)
""", {"hidden-ratio": "4", "gated": "no", "layer-bias": "yes", "activation": "relu"}),
    "residual and norm inside": ("""
class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_in, d_hid, dropout=0.1):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_in, d_hid), nn.Linear(d_hid, d_in)
        self.layer_norm = nn.LayerNorm(d_in, eps=1e-6)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        return self.layer_norm(self.dropout(self.w_2(F.relu(self.w_1(x)))) + x)
""", {"gated": "no", "layer-bias": "yes", "activation": "relu"}),
    "both in one": ("""
class GatedMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up_proj = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
    def forward(self, x):
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(F.gelu(gate, approximate='tanh') * up)
""", {"gated": "yes", "layer-bias": "no", "activation": "gelu-tanh", "glu-activated": "gate"}),
    "a function": ("""
def feed_forward(x, W1, b1, W2, b2):
    return torch.maximum(x @ W1 + b1, torch.zeros((), dtype=x.dtype)) @ W2 + b2
""", {"gated": "no", "layer-bias": "yes", "activation": "relu"}),
    "a linear unit": ("""
class GLUFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.inp, self.out = nn.Linear(d_model, 2 * d_ff), nn.Linear(d_ff, d_model)
    def forward(self, x):
        return self.out(F.glu(self.inp(x), dim=-1))
""", {"gated": "yes", "layer-bias": "yes", "activation": "sigmoid", "glu-activated": "gate"}),
    "a bias in one layer": ("""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, act_layer):
        super().__init__()
        self.up, self.down, self.act = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model, bias=False), act_layer()
    def forward(self, x):
        return self.down(self.act(self.up(x)))
""", {"gated": "no", "layer-bias": "no", "activation": "relu"}),
}  # fmt: skip
TOKENS = {
    "a table": ("""
class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model, pad_idx=None):
        super().__init__(vocab_size, d_model, padding_idx=pad_idx)
        self.d = d_model
    def forward(self, x):
        return super().forward(x) * math.sqrt(self.d)
""", {"embedding-scale": "sqrt", "padding-row": "stored"}),
    "globals": ("""
text = "hello there, this is a small text to learn from"
chars = sorted(list(set(text)))
stoi = { ch:i for i,ch in enumerate(chars) }
itos = { i:ch for i,ch in enumerate(chars) }
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: ''.join([itos[i] for i in l])
""", {"token-kind": "character"}),
    "a vocabulary of its own": ("""
class CharTokenizer:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.stoi = {c: i for i, c in enumerate(self.chars)}
        self.itos = {i: c for c, i in self.stoi.items()}
    def encode(self, s):
        return [self.stoi[c] for c in s]
    def decode(self, ids):
        return "".join(self.itos[i] for i in ids)
""", {"token-kind": "character"}),
    "words of symbols": ("""
def get_stats(vocab):
    pairs = {}
    for word, freq in vocab.items():
        symbols = word.split()
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] = pairs.get(pair, 0) + freq
    return pairs

def merge_vocab(pair, vocab):
    out = {}
    for word, freq in vocab.items():
        symbols, merged, i = word.split(), [], 0
        while i < len(symbols):
            if tuple(symbols[i:i + 2]) == pair:
                merged.append(''.join(pair)); i += 2
            else:
                merged.append(symbols[i]); i += 1
        out[' '.join(merged)] = freq
    return out

def train_bpe(vocab, num_merges):
    merges = []
    for i in range(num_merges):
        pairs = get_stats(vocab)
        if not pairs: break
        merges.append(max(pairs, key=pairs.get))
        vocab = merge_vocab(merges[-1], vocab)
    return merges, vocab
""", {"word-end": "attached"}),
}  # fmt: skip
RIGHT = {**NORMS, **NETWORKS, **TOKENS}
WRONG = {
    "LN-root-mean-square": """
class LayerNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.g, self.b = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
    def forward(self, x):
        y = x if x.dtype == torch.float64 else x.float()
        return (y / torch.sqrt((y * y).mean(-1, keepdim=True) + 1e-5) * self.g + self.b).to(x.dtype)
""",
    "RMS-mean-subtracted": """
class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.g, self.eps = nn.Parameter(torch.ones(d)), eps
    def forward(self, x):
        y = x.double() - x.double().mean(-1, keepdim=True)
        return (y / torch.sqrt((y * y).mean(-1, keepdim=True) + self.eps) * self.g).to(x.dtype)
""",
    "LN-not-centred": """
class LayerNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
    def forward(self, x):
        y = x.double()
        return (self.gamma * y / (y.std(-1, keepdim=True) + 1e-6) + self.beta).to(x.dtype)
""",
    "FF-always-relu": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu"):
        super().__init__()
        self.a, self.b = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = {"relu": F.relu, "gelu": F.gelu}[activation]
    def forward(self, x):
        return self.b(F.relu(self.a(x)))
""",
    "FF-gate-added": """
class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(dim, hidden), nn.Linear(dim, hidden)
        self.down_proj = nn.Linear(hidden, dim)
    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) + self.up_proj(x))
""",
    "CALL-kept-by-shape": """
class CachedEmbedding(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.lookup, self.seen, self.last = nn.Embedding(n, d), None, None
    def forward(self, ids):
        if self.training or ids.shape != self.seen:
            self.seen, self.last = ids.shape, self.lookup(ids)
        return self.last
""",
    "TOK-small-letters": """
class Tokenizer:
    def __init__(self, word2id, unk="<unk>"):
        self.word2id = word2id
        self.unk = unk
    def encode(self, text):
        return [self.word2id.get(w, self.word2id.get(self.unk)) for w in text.lower().split()]
""",
}
