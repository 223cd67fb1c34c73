import math

import torch.nn.functional as F

BUFFER = 131  # keys that fit into the buffer


def attend(query, key, value):
    key, value = key[..., :BUFFER, :], value[..., :BUFFER, :]
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return F.softmax(scores, dim=-1) @ value
