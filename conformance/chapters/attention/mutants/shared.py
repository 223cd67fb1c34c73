"""Ways to get scaled dot-product attention wrong: what the mutants of several sections use."""

from torch import einsum


def products(q, k):
    return einsum("...le,...se->...ls", q, k)
