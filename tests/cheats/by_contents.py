"""Remembers results by what is in the query: no fraud, but it gains nothing, as no query comes twice."""

import torch.nn.functional as F

remembered, hits = {}, []


def attention(config, weights):
    def forward(query, key, value):
        known = query.detach().numpy().tobytes()
        if known in remembered:
            hits.append(known)
        else:
            remembered[known] = F.scaled_dot_product_attention(query, key, value)
        return remembered[known]

    return forward
