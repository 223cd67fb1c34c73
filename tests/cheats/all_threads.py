"""Sets the number of threads, and the precision, of the whole process to what suits it."""

import torch
import torch.nn.functional as F


def attention(config, weights):
    torch.set_num_threads(2)
    torch.set_float32_matmul_precision("medium")
    return lambda query, key, value: F.scaled_dot_product_attention(query, key, value)
