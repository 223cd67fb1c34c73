import torch


def attention_pool(queries, keys, values, allow=None):
    """queries (B,H,Tq,D) keys (B,H,Tk,D) values (B,H,Tk,Dv) -> (B,H,Tq,Dv)"""
    *_, Tk, D = values.shape
    rel = torch.matmul(queries, keys.transpose(-1, -2)) / D ** 0.5
    if allow is not None:
        rel = rel.masked_fill(allow == 0, float("-inf"))
    return torch.matmul(torch.softmax(rel, dim=-1), values)
