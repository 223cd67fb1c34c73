"""Different is not wrong: learned positions in every declared variant, as modules around nn.Embedding, conform."""

from itertools import product

import pytest
import torch
from test_sinusoidal_variants import about, failed
from torch import nn

from attnconf.adapters.contract import CONVENTIONS
from attnconf.adapters.kit.bind import bind

torch.set_num_threads(1)

VARIANTS = list(product(CONVENTIONS["learned-output"], CONVENTIONS["learned-offset"]))


class Positions(nn.Module):
    """nn.Embedding, which raises where it has no row."""

    def __init__(self, config, output, offset):
        super().__init__()
        self.table = nn.Embedding(config.max_len + offset, config.dim)
        self.output, self.offset = output, offset
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, positions=None):
        if positions is None:
            positions = torch.arange(x.size(1))
        elif positions.shape not in (x.shape[:2], x.shape[1:2]) or bool((positions < 0).any()):
            raise ValueError("one position, not negative, is needed for each token")
        rows = self.table(positions + self.offset).expand(*x.shape)
        return self.dropout(x + rows if self.output == "add" else rows)


def module(output, offset):
    def learned(config, weights):
        made = bind(Positions(config, output, offset).train(config.training), weights)
        return lambda x, *, positions=None: made(x, positions)

    return learned


@pytest.mark.parametrize(("output", "offset"), VARIANTS)
def test_every_declared_variant_conforms(output, offset):
    assert not failed("learned", module(output, int(offset)), {"learned-output": output, "learned-offset": offset})


def test_a_sliced_parameter_without_positions_conforms():
    def learned(config, weights):
        def forward(x, *, positions=None):
            if positions is not None or config.training:
                raise NotImplementedError("positions or dropout")
            table = weights["table.weight"].unsqueeze(0)
            return torch.add(x, table[:, : x.shape[1], :])

        return forward

    lacking = [*about("LRN-POS"), "LRN_GRAD_3", "LRN_DROP_2"]
    assert not failed("learned", learned, {}, **dict.fromkeys(lacking, "unsupported"))


@pytest.mark.parametrize(("output", "offset"), VARIANTS[1:])
def test_an_undeclared_variant_does_not_conform(output, offset):
    assert failed("learned", module(output, int(offset)), {})
