"""Models that take ids, as functions of vectors: where their vectors are, and whom a place that is not there blames."""

import pytest
import torch
from torch import nn

from attnconf.adapters.generated import handed

torch.set_num_threads(1)
IDS = {"ids": "output of table"}


class Model(nn.Module):
    def __init__(self, depth, turned=False):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(depth))
        self.head, self.turned = nn.Linear(4, 9), turned

    def forward(self, ids):
        x = self.table(ids)
        for layer in self.layers:
            x = layer(x)
        return x.transpose(0, 1) if self.turned else self.head(x)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_last_of_several_parts_is_found_however_many_there_are(depth):
    model, x = Model(depth), torch.rand(2, 3, 4)
    wanted = nn.Sequential(*model.layers)(x)
    torch.testing.assert_close(handed(model, IDS, out="output of layers.-1.-1")(x), wanted)


def test_what_comes_back_with_the_sequence_first_is_turned():
    model, x = Model(2, turned=True), torch.rand(2, 3, 4)
    torch.testing.assert_close(handed(model, IDS, back=True)(x), nn.Sequential(*model.layers)(x))


class Bare(nn.Module):
    """Sums up ids, positions and layers itself."""

    def __init__(self):
        super().__init__()
        self.table, self.rows = nn.Embedding(9, 4), nn.Parameter(torch.rand(3, 4))
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, ids):
        x = self.table(ids) + self.rows
        for layer in self.layers:
            x = x + layer(x)
        return x


@pytest.mark.parametrize("taken", [0, (3,)])
def test_vectors_are_put_in_place_of_what_a_function_gives(taken):
    model, x = Bare(), torch.rand(2, 3, 4)
    if taken:
        model.table = nn.Sequential(nn.Unflatten(-1, (3, 1)), nn.Linear(1, 4))
    middle = x + model.layers[0](x)
    wanted = middle + model.layers[1](middle)
    torch.testing.assert_close(handed(model, {"ids": "call 0 of add"}, raw=taken)(x), wanted)


def test_what_is_taken_may_be_as_wide_as_the_model():
    model = Bare()
    model.table, x = nn.Linear(4, 4), torch.rand(2, 5, 4)
    assert handed(model, {"ids": "call 0 of add"}, raw=(3, -1))(x).shape == x.shape


def test_a_model_without_the_place_is_not_supported_and_not_wrong():
    with pytest.raises(NotImplementedError, match=r"a model without layers\.1, where its vectors were found"):
        handed(Model(1), IDS, out="output of layers.1")
