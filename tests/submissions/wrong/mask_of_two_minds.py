import torch


def pad_mask(tokens, pad_token):
    return tokens.eq(pad_token).unsqueeze(-2)


def decoder_mask(tokens, pad_token):
    n = tokens.size(-1)
    visible = torch.tril(torch.ones(n, n, device=tokens.device)).bool()
    return pad_mask(tokens, pad_token) & visible
