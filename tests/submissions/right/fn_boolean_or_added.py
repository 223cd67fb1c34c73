import torch


def attend(query, key, value, mask=None):
    """Mixes values, (..., keys, width), for each query.

    mask: (..., queries, keys). A boolean mask is True for the keys that are seen; any other is added
    to the scores.
    """
    logits = torch.einsum("...qe,...ke->...qk", query, key) / query.shape[-1] ** 0.5
    if mask is not None and mask.dtype == torch.bool:
        logits = logits.masked_fill(mask.logical_not(), float("-inf"))
    elif mask is not None:
        logits = logits + mask
    return torch.einsum("...qk,...kv->...qv", logits.softmax(dim=-1), value)
