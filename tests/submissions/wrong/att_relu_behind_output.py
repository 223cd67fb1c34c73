import torch, math
import torch.nn as nn
import torch.nn.functional as F

class MHSA(nn.Module):
    def __init__(self, emb_dim, n_heads):
        super().__init__()
        self.nh = n_heads
        self.hd = emb_dim // n_heads
        self.to_qkv = nn.Linear(emb_dim, 3*emb_dim)
        self.fc = nn.Linear(emb_dim, emb_dim)

    def forward(self, x):
        b, n, e = x.shape
        qkv = self.to_qkv(x).reshape(b, n, 3, self.nh, self.hd).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        att = F.softmax(torch.einsum('bhid,bhjd->bhij', q, k) / math.sqrt(self.hd), dim=3)
        out = torch.einsum('bhij,bhjd->bihd', att, v).reshape(b, n, e)
        return F.relu(self.fc(out))
