# Neural nets, sheet 3, task 2  (group 14)

import math
import torch


def dot_attention(queries, keys, values, mask=None):
    n_features = queries.size(-1)
    fit = queries @ keys.swapaxes(-1, -2)
    fit = fit / math.sqrt(n_features)
    if mask is not None:
        # zeros in the mask are forbidden
        fit = fit.masked_fill(mask == 0, -1e15)
    share = torch.softmax(fit, dim=-1)
    return share @ values, share


# Task 2b): try it with three words of two features
words = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, -1.0]])
result, share = dot_attention(words, words, words)
print("result:", result, sep="\n")
print("share:", share, sep="\n")
print("rows sum to", share.sum(-1).tolist())
