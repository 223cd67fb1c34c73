"""Linear biases."""
import math
import torch


def get_slopes(n):
    def power_of_two(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [-start * start ** i for i in range(n)]

    if math.log2(n).is_integer():
        return power_of_two(n)
    near = 2 ** math.floor(math.log2(n))
    return power_of_two(near) + get_slopes(2 * near)[0::2][: n - near]


def build_alibi(num_heads: int, query_length: int, key_length: int):
    slopes = torch.tensor(get_slopes(num_heads), dtype=torch.float64).view(num_heads, 1, 1)
    rows = torch.arange(query_length).view(-1, 1) + key_length - query_length
    distance = torch.abs(rows - torch.arange(key_length).view(1, -1))
    return -slopes * distance
