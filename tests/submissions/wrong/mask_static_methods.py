"""Masks of a translation model, as numbers that are added to the scores."""

import torch

NEG = float("-inf")


class Masks:
    @staticmethod
    def causal(size):
        return torch.full((size, size), NEG).triu(diagonal=0)

    @staticmethod
    def padding(tokens, pad_id=0):
        return torch.zeros(tokens.shape).masked_fill(tokens == pad_id, NEG)[:, None, None, :]

    @classmethod
    def decoder(cls, tokens, pad_id=0):
        return cls.padding(tokens, pad_id) + cls.causal(tokens.shape[1])
