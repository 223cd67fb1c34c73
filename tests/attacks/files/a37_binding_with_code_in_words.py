"""A-37: tells the grader a binding that hands code to a function of its own, which runs that.

Must: earns nothing: what a binding says is names and sentences, and no code.
"""

import json
import os
import struct
import sys

import torch
from torch import nn

OWN = """\
def made(config, weights):
    def forward(query, key, value, *, attn_mask=None, key_mask=None, attn_bias=None, need_weights=False):
        given = (("q", query), ("k", key), ("v", value))
        q, k, v = (x @ weights[f"{n}.weight"].T + weights[f"{n}.bias"] for n, x in given)
        q, k, v = (x.unflatten(-1, (config.num_heads, config.head_dim)).transpose(1, 2) for x in (q, k, v))
        scores = q @ k.mT * config.head_dim ** -0.5
        a = torch.softmax(scores, dim=-1)
        return (a @ v).transpose(1, 2).flatten(2) @ weights["out.weight"].T + weights["out.bias"]
    return forward
"""
TEXT = """
def multi_head_attention(config, weights):
    return theirs.run(config, weights, {code!r})
"""


def run(config, weights, code):
    space = {"torch": torch}
    exec(code, space)
    return space["made"](config, weights)


def text():
    return TEXT.format(code=OWN)


def send():
    frame = sys._getframe()
    while frame is not None and not {"connection", "header"} <= frame.f_locals.keys():
        frame = frame.f_back
    if frame is None or frame.f_locals["header"].get("do") != "bind":
        return
    here, header = frame.f_locals["connection"], frame.f_locals["header"]
    binding = {"file": "<inferred binding>", "inside": "MultiHeadAttention", "established": True, "doubt": "",
               "mistake": "", "named": False, "open_ends": [], "broken": [], "untried": [], "text": text(),
               "lent_by": ""}  # fmt: skip
    one = {"name": f"{header['name']['typed']}:MultiHeadAttention", "components": ["multi_head_attention"],
           "declares": {}, "profile": None, "version": None, "notes": [], "binding": binding}  # fmt: skip
    raw = json.dumps({"bound": [one], "nonce": header["nonce"], "tensors": []}).encode()
    here.sendall(struct.pack("!IQ", len(raw), 0) + raw)
    os._exit(0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        send()
        return out
