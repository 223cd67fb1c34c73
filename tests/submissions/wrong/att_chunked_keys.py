import math
import torch

CHUNK = 16


def attend_in_chunks(q, k, v):
    # first pass: scores, chunk by chunk to save memory; second pass: values
    n_chunks = max(1, k.shape[-2] // CHUNK)
    scores = []
    for c in range(n_chunks):
        kc = k[..., c * CHUNK:(c + 1) * CHUNK, :]
        scores.append(q @ kc.transpose(-1, -2) / math.sqrt(q.shape[-1]))
    p = torch.softmax(torch.cat(scores, -1), -1)
    out = 0
    for c, pc in enumerate(p.split(CHUNK, -1)):
        out = out + pc @ v[..., c * CHUNK:(c + 1) * CHUNK, :]
    return out
