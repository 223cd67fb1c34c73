from torch import nn, stack


class ImageAttention(nn.Module):
    """attention among the patches of an image"""

    def __init__(self, dim, num_heads=8, qkv_bias=True, drop=0.):
        super().__init__()
        if dim % num_heads:
            raise ValueError("dim and num_heads do not fit")
        self.num_heads = num_heads
        self.scale = num_heads ** -0.5
        self.patch_to_qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.drop = nn.Dropout(drop)
        self.final = nn.Linear(dim, dim)

    def forward(self, patches):
        b, n, c = patches.shape
        q, k, v = self.patch_to_qkv(patches).view(b, n, 3, self.num_heads, -1).transpose(1, 3).unbind(2)
        weights = (q @ k.mT * self.scale).softmax(-1)
        y = self.drop(weights) @ v
        return self.final(y.transpose(1, 2).reshape(b, n, c))
