import numpy as np
import torch


def get_positional_matrix(max_position, d_model, min_freq=1e-4):
    position = np.arange(max_position)
    freqs = min_freq ** (2 * (np.arange(d_model) // 2) / d_model)
    pos_enc = position.reshape(-1, 1) * freqs.reshape(1, -1)
    pos_enc[:, ::2] = np.sin(pos_enc[:, ::2])
    pos_enc[:, 1::2] = np.sin(pos_enc[:, 1::2])
    return torch.tensor(pos_enc, dtype=torch.float32)
