import numpy as np
import torch


class NumpyRope:
    def __init__(self, d, base=10000):
        if d % 2:
            raise ValueError("d")
        self.inv = base ** (-np.arange(0, d, 2) / d)

    def __call__(self, x):
        # do the maths in numpy, it is easier to debug
        a = x.detach().double().cpu().numpy()
        ang = np.arange(a.shape[-2])[:, None] * self.inv[None]
        out = np.empty_like(a)
        out[..., 0::2] = a[..., 0::2] * np.cos(ang) - a[..., 1::2] * np.sin(ang)
        out[..., 1::2] = a[..., 0::2] * np.sin(ang) + a[..., 1::2] * np.cos(ang)
        return torch.from_numpy(out).to(x)
