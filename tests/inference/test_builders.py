"""Functions that build: their objects' class, for what is given sizes and gives a module or a pair."""

import types

import pytest
import torch
from torch import nn

from attnconf.conformance.inference.building.building import Construction, as_module
from attnconf.conformance.inference.finding.builders import as_built
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.probing import Failed


def in_a_module(function):
    module = types.ModuleType("theirs")
    setattr(module, function.__name__, function)
    return function.__name__, function, module


def make_network(width, inner):
    return nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))


def make_pair(width):
    return {"w": torch.zeros(width, width)}, lambda params, x, keep=None: x @ params["w"]


def test_a_module_has_the_function_for_its_constructor():
    kind = as_built(*in_a_module(make_network))
    assert issubclass(kind, nn.Sequential)
    assert kind.__init__.__wrapped__ is make_network


def test_a_pair_is_called_without_its_weights():
    assert [p.name for p in parameters(as_built(*in_a_module(make_pair)))] == ["x", "keep"]


def make_turn(dim):
    def turn(x, at=None):
        return x[..., :dim]

    return turn


def test_a_function_that_is_made_is_called_as_it_is_and_made_as_the_outer_one():
    kind = as_built(*in_a_module(make_turn))
    assert isinstance(kind, type)
    assert [p.name for p in parameters(kind)] == ["x", "at"]
    assert kind.__init__.__wrapped__ is make_turn


def test_what_trains_is_not_called_to_see_what_it_builds():
    called = []

    def train_transformer(d_model=8, heads=2):
        called.append((d_model, heads))

    assert as_built(*in_a_module(train_transformer)) is train_transformer
    assert not called


def test_a_pair_whose_weights_are_not_to_be_had_ends_an_attempt_and_no_more():
    pair = (lambda sizes: {"w": torch.zeros(sizes)}, lambda params, x: x)
    with pytest.raises(Failed, match="sizes"):
        as_module(Construction("pair"), pair)
