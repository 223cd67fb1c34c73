from torch import nn


class MLPBlock(nn.Module):
    '''Linear - ReLU - Linear'''

    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.fc1 = nn.Linear(n_in, n_hidden)
        self.fc2 = nn.Linear(n_hidden, n_in)

    def forward(self, x):
        h = self.fc1(x).relu()
        h = h / h.sum(dim=-1, keepdim=True).clamp_min(1e-6)
        return self.fc2(h)
