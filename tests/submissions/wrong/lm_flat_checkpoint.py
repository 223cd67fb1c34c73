"""A GPT run from a checkpoint, without any class: sd maps names to tensors, as torch.save left them."""

import torch
from torch.nn.functional import embedding, gelu, layer_norm, linear


def dense(sd, name, x):
    return linear(x, sd[name + ".weight"], sd[name + ".bias"])


def norm(sd, name, x):
    return layer_norm(x, x.shape[-1:], sd[name + ".weight"], sd[name + ".bias"], 1e-5)


def attend(sd, name, x, heads):
    def split(part):
        return dense(sd, f"{name}.{part}", x).unflatten(-1, (heads, -1)).transpose(1, 2)

    q, k, v = split("q_proj"), split("k_proj"), split("v_proj")
    seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, float("-inf"))
    return dense(sd, f"{name}.out_proj", (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def logits(sd, ids, heads):
    """ids (batch, time) -> (batch, time, vocabulary); the table is the head, too"""
    x = embedding(ids, sd["tok_emb.weight"])
    x = x + sd["pos_emb.weight"][: ids.shape[1]]
    i = 0
    while f"blocks.{i}.ln1.weight" in sd:
        x = x + attend(sd, f"blocks.{i}.attn", norm(sd, f"blocks.{i}.ln1", x), heads)
        h = gelu(dense(sd, f"blocks.{i}.mlp.fc1", norm(sd, f"blocks.{i}.ln1", x)))
        x = x + dense(sd, f"blocks.{i}.mlp.fc2", h)
        i += 1
    return norm(sd, "ln_f", x) @ sd["tok_emb.weight"].T
