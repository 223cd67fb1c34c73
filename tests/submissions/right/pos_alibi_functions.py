import math
import torch


def get_slopes(n_heads):
    def of_power(n):
        ratio = 2 ** (-8 / n)
        return [ratio ** (h + 1) for h in range(n)]

    if math.log2(n_heads).is_integer():
        return of_power(n_heads)
    m = 2 ** int(math.floor(math.log2(n_heads)))
    more = of_power(2 * m)
    return of_power(m) + more[::2][: n_heads - m]


def build_alibi(n_heads, seq_len):
    """(heads, seq, seq), to be added to the attention scores before the softmax"""
    i = torch.arange(seq_len).view(seq_len, 1)
    j = torch.arange(seq_len).view(1, seq_len)
    distance = (i - j).abs()
    slopes = torch.tensor(get_slopes(n_heads))
    return -slopes.view(n_heads, 1, 1) * distance
