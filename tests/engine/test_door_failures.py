"""The one door: whose fault it is when something goes wrong, and in which words."""

import pytest
import torch
from made_up import CASE, request, right, through

from attnconf.adapters.contract import SinusoidalConfig
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Binding, Implementation, Request


def refused(error, binding=None):
    """Return the failure that an exception becomes."""

    def forward(query, key, value):
        raise error

    with pytest.raises(Failure) as found:
        through(forward, binding)
    return found.value.reason, found.value.message


def test_an_exception_is_the_implementations_fault():
    assert refused(RuntimeError("first line\nsecond")) == ("raised", "raised RuntimeError: first line")
    assert refused(KeyError()) == ("raised", "raised KeyError")


def test_leaving_the_process_is_a_failure():
    assert refused(SystemExit(3)) == ("exited", "called exit(3)")


def test_not_implemented_is_an_adapters_word_and_anybody_elses_failure():
    with pytest.raises(Unsupported, match="cross-attention"):
        refused(NotImplementedError("cross-attention"))
    assert refused(NotImplementedError("todo"), Binding()) == ("raised", "raised NotImplementedError: todo")


@pytest.mark.parametrize(
    ("returned", "reason", "words"),
    [
        (None, "protocol", "returned None as out, want a torch.Tensor"),
        ((torch.zeros(2, 3, 5, 6), None), "protocol", "returned a tuple as out, want a torch.Tensor alone"),
        (torch.zeros(2, 3, 5, 7), "shape", r"out has shape \(2, 3, 5, 7\), want \(2, 3, 5, 6\)"),
        (torch.zeros(2, 3, 5, 6, device="meta"), "protocol", "out is on meta, want cpu"),
    ],
)
def test_what_is_no_output(returned, reason, words):
    with pytest.raises(Failure, match=words) as found:
        through(lambda query, key, value: returned)
    assert found.value.reason == reason


def test_weights_are_validated_where_they_were_asked_for():
    ask = {"weights_shape": (2, 3, 5, 4)}
    with pytest.raises(Failure, match="want a pair"):
        through(lambda q, k, v, need_weights: right(q, k, v), **ask)
    with pytest.raises(Failure, match="weights has shape"):
        through(lambda q, k, v, need_weights: (right(q, k, v), torch.zeros(2, 5, 4)), **ask)
    averaged = through(
        lambda q, k, v, need_weights: (right(q, k, v), torch.zeros(2, 5, 4)), **ask, averaged_shape=(2, 5, 4)
    )
    assert averaged.weights.shape == (2, 5, 4)


def test_a_builder_must_return_something_to_call():
    with pytest.raises(Failure, match=r"attention\(config, weights\) returned None, want a callable"):
        call(Implementation("made-up", {"attention": lambda config, weights: None}), request())


class BadBackward(torch.autograd.Function):
    error: BaseException

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        raise BadBackward.error


@pytest.mark.parametrize(
    ("error", "reason"), [(ValueError("no"), "raised"), (SystemExit(1), "exited")], ids=lambda x: str(x)
)
def test_an_exception_in_the_backward_pass_is_a_failure(error, reason):
    BadBackward.error = error
    with pytest.raises(Failure, match="backward") as found:
        through(lambda q, k, v: BadBackward.apply(right(q, k, v)), cotangent=CASE.draw("c", 2, 3, 5, 6), wrt=("query",))
    assert found.value.reason == reason


def test_a_cut_graph_is_a_failure():
    with pytest.raises(Failure, match="carries no gradient"):
        through(lambda q, k, v: right(q, k, v).detach(), cotangent=CASE.draw("c", 2, 3, 5, 6), wrt=("query",))


def test_a_refused_keyword_is_no_answer_to_what_it_says():
    def forward(x):
        return x

    given = {"x": torch.zeros(1, 2, 4), "positions": torch.arange(2)}
    asked = Request("sinusoidal", SinusoidalConfig(4), {}, given, (1, 2, 4))
    with pytest.raises(Failure, match=r"keyword argument 'positions'; want forward\(x, \*, positions=None\)") as found:
        call(Implementation("mine", {"sinusoidal": lambda config, weights: forward}), asked)
    assert found.value.reason == "protocol"
