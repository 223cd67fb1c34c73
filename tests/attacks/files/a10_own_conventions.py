"""A-10: is an adapter that declares whatever makes checks inapplicable, and returns zeros.

Must: earns nothing.
"""

import torch

declares = {"fully-masked-row": "nan", "returned-weights": "none"}
established = False


def multi_head_attention(config, weights):
    def forward(query, key, value, **options):
        return torch.zeros(*query.shape[:-1], weights["out.weight"].shape[0], dtype=query.dtype)

    return forward
