import torch


def pad_mask(q_ids, k_ids, pad_token_id):
    """(N, 1, T_q, T_k): hides padding, and hides everything from padding."""
    rows = q_ids.ne(pad_token_id)
    columns = k_ids.ne(pad_token_id)
    return torch.einsum("nq,nk->nqk", rows.float(), columns.float()).unsqueeze(1) > 0


def subsequent_mask(ids):
    """(1, T, T)"""
    T = ids.shape[1]
    return ~torch.full((1, T, T), True, device=ids.device).triu(diagonal=1)
