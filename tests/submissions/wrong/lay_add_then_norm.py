import torch, math
from torch import nn

class AddAndNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layernorm = nn.LayerNorm(n)

    def forward(self, old, new):
        return old + self.layernorm(new)

class EncoderLayer(nn.Module):
    def __init__(self, n_features, n_heads, n_hidden):
        super().__init__()
        self.n_heads = n_heads
        self.Wq = nn.Linear(n_features, n_features)
        self.Wk = nn.Linear(n_features, n_features)
        self.Wv = nn.Linear(n_features, n_features)
        self.Wo = nn.Linear(n_features, n_features)
        self.addnorm_1 = AddAndNorm(n_features)
        self.addnorm_2 = AddAndNorm(n_features)
        self.lin_1 = nn.Linear(n_features, n_hidden)
        self.lin_2 = nn.Linear(n_hidden, n_features)

    def attend(self, X):
        b, t, n = X.shape
        d = n // self.n_heads
        q = self.Wq(X).view(b, t, self.n_heads, d).transpose(1, 2)
        k = self.Wk(X).view(b, t, self.n_heads, d).transpose(1, 2)
        v = self.Wv(X).view(b, t, self.n_heads, d).transpose(1, 2)
        A = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(d), dim=-1)
        return self.Wo((A @ v).transpose(1, 2).reshape(b, t, n))

    def forward(self, X):
        X = self.addnorm_1(X, self.attend(X))
        X = self.addnorm_2(X, self.lin_2(torch.relu(self.lin_1(X))))
        return X
