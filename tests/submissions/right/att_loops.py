# I wanted to see every single number, so: loops.
import torch


def dot(a, b):
    return (a * b).sum()


def attention_for_one_query(q, K, V, visible):
    scores = []
    for j in range(K.shape[0]):
        s = dot(q, K[j]) / (K.shape[1] ** 0.5)
        scores.append(s)
    seen = [j for j in range(K.shape[0]) if visible is None or visible[j]]
    if not seen:
        return torch.zeros_like(V[0])
    top = max(scores[j].detach() for j in seen)
    exps = {j: torch.exp(scores[j] - top) for j in seen}
    total = sum(exps.values())
    out = torch.zeros_like(V[0])
    for j in seen:
        out = out + (exps[j] / total) * V[j]
    return out


def attention(Q, K, V, visible=None):
    """Q (B, n, d), K (B, m, d), V (B, m, e), visible (n, m) of 0/1 or None"""
    if Q.shape[0] != K.shape[0] or K.shape[:2] != V.shape[:2] or Q.shape[2] != K.shape[2]:
        raise ValueError(f"shapes: {tuple(Q.shape)} {tuple(K.shape)} {tuple(V.shape)}")
    batches = []
    for b in range(Q.shape[0]):
        rows = []
        for i in range(Q.shape[1]):
            vis = None if visible is None else visible[i]
            rows.append(attention_for_one_query(Q[b, i], K[b], V[b], vis))
        batches.append(torch.stack(rows))
    return torch.stack(batches)
