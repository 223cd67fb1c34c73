import numpy as np

def dense_init(rng, n_in, n_out):
    return {"kernel": rng.normal(size=(n_in, n_out)) / np.sqrt(n_in), "bias": np.zeros(n_out)}

def norm_init(d):
    return {"scale": np.ones(d), "bias": np.zeros(d)}

def attn_init(rng, d):
    return {n: dense_init(rng, d, d) for n in ("query", "key", "value", "out")}

def init_transformer(seed, src_vocab, tgt_vocab, d_model, d_ff, n_layers):
    rng = np.random.default_rng(seed)
    return {
        "src_embed": rng.normal(size=(src_vocab, d_model)),
        "tgt_embed": rng.normal(size=(tgt_vocab, d_model)),
        "encoder": [
            {"self_attn": attn_init(rng, d_model), "norm1": norm_init(d_model),
             "ffn": {"up": dense_init(rng, d_model, d_ff), "down": dense_init(rng, d_ff, d_model)}, "norm2": norm_init(d_model)}
            for _ in range(n_layers)],
        "decoder": [
            {"self_attn": attn_init(rng, d_model), "norm1": norm_init(d_model),
             "cross_attn": attn_init(rng, d_model), "norm2": norm_init(d_model),
             "ffn": {"up": dense_init(rng, d_model, d_ff), "down": dense_init(rng, d_ff, d_model)}, "norm3": norm_init(d_model)}
            for _ in range(n_layers)],
        "generator": dense_init(rng, d_model, tgt_vocab),
    }

def dense(p, x):
    return x @ p["kernel"] + p["bias"]

def layer_norm(p, x, eps=1e-6):
    m, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - m) / np.sqrt(v + eps) * p["scale"] + p["bias"]

def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def attention(p, x, memory, mask, n_heads):
    def split(t):
        return t.reshape(*t.shape[:-1], n_heads, -1).swapaxes(-2, -3)
    q, k, v = split(dense(p["query"], x)), split(dense(p["key"], memory)), split(dense(p["value"], memory))
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -1e9)
    y = (softmax(s) @ v).swapaxes(-2, -3)
    return dense(p["out"], y.reshape(*y.shape[:-2], -1))

def ffn(p, x):
    return dense(p["down"], np.maximum(dense(p["up"], x), 0))

def positions(length, d):
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    out = np.zeros((length, d))
    out[:, 0::2], out[:, 1::2] = np.sin(angle), np.cos(angle)
    return out

def encode(params, src, src_mask, n_heads):
    d = params["src_embed"].shape[1]
    x = params["src_embed"][src] * np.sqrt(d) + positions(src.shape[1], d)
    m = src_mask[:, None, None, :]
    for p in params["encoder"]:
        x = layer_norm(p["norm1"], x + attention(p["self_attn"], x, x, m, n_heads))
        x = layer_norm(p["norm2"], x + ffn(p["ffn"], x))
    return x

def transformer(params, src, tgt, src_mask, n_heads):
    memory = encode(params, src, src_mask, n_heads)
    d = params["tgt_embed"].shape[1]
    y = params["tgt_embed"][tgt] * np.sqrt(d) + positions(tgt.shape[1], d)
    causal = np.tril(np.ones((tgt.shape[1],) * 2, bool))
    for p in params["decoder"]:
        y = layer_norm(p["norm1"], y + attention(p["self_attn"], y, y, causal, n_heads))
        y = layer_norm(p["norm2"], y + attention(p["cross_attn"], y, memory, src_mask[:, None, None, :], n_heads))
        y = layer_norm(p["norm3"], y + ffn(p["ffn"], y))
    return dense(params["generator"], y)
