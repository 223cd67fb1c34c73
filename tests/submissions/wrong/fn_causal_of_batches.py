"""Exercise sheet 5: a text attends to itself, and never to its own future. Inputs are (batch, words, features)."""
import torch


def softmax(scores):
    scores = scores - scores.amax(dim=2, keepdim=True)
    return scores.exp() / scores.exp().sum(dim=2, keepdim=True)


def causal_attention(query, key, value, need_weights=False):
    batch, words, features = query.shape
    past = torch.tril(torch.ones(words, words, dtype=torch.bool, device=query.device))
    scores = torch.bmm(query / features**0.5, key.mT)
    weights = softmax(scores) * past
    answer = torch.bmm(weights, value)
    return (answer, weights) if need_weights else answer
