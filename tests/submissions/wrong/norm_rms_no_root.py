import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        power = hidden_states.pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden_states / (power + self.variance_epsilon))
