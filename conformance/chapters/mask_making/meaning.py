"""What of a mask has a meaning: not what a query sees that is padding itself, as nobody reads its output."""

from dataclasses import replace

import torch

from attnconf.conformance.engine.request import Reply, Request
from attnconf.reference.mask_making import told_by_ids, told_by_lengths


def of_real_queries(reply: Reply, request: Request) -> Reply:
    """Return a mask with the rows of padding set to 0."""
    config, tokens = request.config, request.inputs["tokens"]
    by_lengths = config.padding_from == "lengths"
    real = told_by_lengths(tokens, config.length) if by_lengths else told_by_ids(tokens, config.padding_id)
    return replace(reply, out=torch.where(real[:, :, None], reply.out, 0.0))


MEANINGS = {"padding_mask": of_real_queries, "decoder_mask": of_real_queries}
