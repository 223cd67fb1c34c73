"""GPT from a flat checkpoint; each block gets its own tensors, of as many as there are."""
import torch
import torch.nn.functional as F


def part(params, start):
    return {k.replace(start, "", 1): params[k] for k in params.keys() if k.startswith(start)}


def block(p, x, n_head):
    h = F.layer_norm(x, x.shape[-1:], p["ln_1.weight"], p["ln_1.bias"])
    q, k, v = F.linear(h, p["attn.c_attn.weight"], p["attn.c_attn.bias"]).unflatten(-1, (3, n_head, -1)).unbind(2)
    y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
    x = x + F.linear(y.transpose(1, 2).flatten(2), p["attn.c_proj.weight"], p["attn.c_proj.bias"])
    h = F.layer_norm(x, x.shape[-1:], p["ln_2.weight"], p["ln_2.bias"])
    h = F.gelu(F.linear(h, p["mlp.c_fc.weight"], p["mlp.c_fc.bias"]))
    return x + F.linear(h, p["mlp.c_proj.weight"], p["mlp.c_proj.bias"])


def gpt(params, ids, n_head):
    T = ids.shape[1]
    x = F.embedding(ids, params["wte.weight"]) + params["wpe.weight"][:T]
    n_layer = 1 + max(int(k.split(".")[1]) for k in params if k.startswith("h."))
    for i in range(n_layer):
        x = block(part(params, f"h.{i}."), x, n_head)
    x = F.layer_norm(x, x.shape[-1:], params["ln_f.weight"], params["ln_f.bias"])
    return x @ params["wte.weight"].T
