"""What the words of a layer promise: a squared activation, norms of each head by itself."""

from types import SimpleNamespace

import pytest

from attnconf.conformance.inference.layers import said_of_layers

RELU, WIDTH = {"activation": "relu"}, {"qk-norm": "rms", "qk-norm-over": "width"}


def contradicted(words, declares, monkeypatch):
    monkeypatch.setattr(said_of_layers, "said_of", lambda thing: words.splitlines())
    return said_of_layers.contradicted(SimpleNamespace(thing=None), SimpleNamespace(declares=declares))


@pytest.mark.parametrize(
    ("words", "squared"),
    [
        ("feed-forward network with squared ReLU (Primer)", True),
        ("W2 relu(W1 norm(h))^2", True),
        ("the network is relu2", True),
        ("a ReLU² network", True),
        ("the network is relu(W1 x)^2 W2, without a gate", True),
        ("relu(W1 x) W2", False),
        ("ReLU, not squared ReLU as in the paper", False),
        ("the squared error of a ReLU network", False),
    ],
)
def test_a_relu_that_is_said_to_be_squared(words, squared, monkeypatch):
    assert bool(contradicted(words, RELU, monkeypatch)) == squared
    assert not contradicted(words, {"activation": "gelu"}, monkeypatch)


@pytest.mark.parametrize(
    ("words", "by_head"),
    [
        ("Each head's query and key vector is RMS-normalised on its own.", True),
        ("queries and keys are normalised per head, over the head_dim features", True),
        ("q and k are normalised before heads are split. Each head has its own scale", False),
        ("q and k are normalised over the whole width, not per head", False),
        ("each head is normalised", False),
    ],
)
def test_norms_that_are_said_to_be_of_each_head(words, by_head, monkeypatch):
    assert bool(contradicted(words, WIDTH, monkeypatch)) == by_head
    assert not contradicted(words, {"qk-norm-over": "head"}, monkeypatch)


def test_without_words_nothing_is_said(monkeypatch):
    place = SimpleNamespace(thing=None)  # whose source is not to be had
    assert said_of_layers.contradicted(place, SimpleNamespace(declares=RELU | WIDTH)) == ()
