import torch
import torch.nn as nn


def normalise(x, gamma, beta, eps=1e-5):
    """mean 0, variance 1, then scale and shift"""
    mu = x.mean(1, keepdim=True)
    var = ((x - mu) ** 2).mean(1, keepdim=True)
    return gamma * (x - mu) / torch.sqrt(var + eps) + beta


class EncoderLayer(nn.Module):
    """Couples attention and network. x is a tensor (sentences, words, features)."""

    def __init__(self, features, attention_heads, network_width):
        super().__init__()
        self.attention = nn.MultiheadAttention(features, attention_heads, batch_first=True)
        self.layer1 = nn.Linear(features, network_width)
        self.layer2 = nn.Linear(network_width, features)
        self.gamma1 = nn.Parameter(torch.ones(features))
        self.gamma2 = nn.Parameter(torch.ones(features))
        self.beta1 = nn.Parameter(torch.zeros(features))
        self.beta2 = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        seen, _ = self.attention(x, x, x)
        x = normalise(x + seen, self.gamma1, self.beta1)
        network = self.layer2(torch.relu(self.layer1(x)))
        return normalise(x + network, self.gamma2, self.beta2)
