"""Messages between two processes: what is sent comes back as it was, and what is none is refused."""

import json
import math
from dataclasses import dataclass, replace

import pytest
import torch

from attnconf.adapters.contract import AttentionConfig, RotaryConfig, TokenizerConfig
from attnconf.conformance.engine.answers import made_of, size_of, survey_of
from attnconf.conformance.worker import wire
from attnconf.conformance.worker.order import Order
from attnconf.conformance.worker.refused import Refused


def read_from(raw):
    """Return a function that reads bytes one after the other."""
    left = bytearray(raw)

    def read(count):
        if count > len(left):
            raise EOFError
        got, left[:count] = left[:count], b""
        return got

    return read


def through(header, tensors, most=2**20):
    return wire.received(read_from(wire.message(header, tensors)), most)


@pytest.mark.parametrize("dtype", wire.DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (5,)], ids=str)
def test_tensors_come_back_as_they_were(dtype, shape):
    x = (torch.arange(math.prod(shape)) % 2).reshape(shape).to(dtype)
    _, (got, other) = through({}, [x, x])
    assert got.dtype == dtype
    assert torch.equal(got, x)
    assert torch.equal(other, x)


def test_any_memory_layout_comes_back_contiguous():
    x = torch.arange(12.0).reshape(3, 4)
    for one in (x.T, x[:, ::2], x[:1].expand(5, 4), x[1:]):
        _, (got,) = through({}, [one])
        assert torch.equal(got, one)
        assert got.is_contiguous()


@dataclass(frozen=True)
class Foreign:
    pass


VALUES = [
    None, True, 3, -0.1, math.inf, "é\ud800\x00", (1, (2.5, None)), ["a", ("b", "c")], {"x": 1, "y": (2,)},
    torch.float16, AttentionConfig(scale=0.3),
    RotaryConfig(8, 4, scaling=(("kind", "yarn"), ("factor", 4.0)), dtype=torch.float64),
    TokenizerConfig("byte-pair", ("a", "b</w>"), (("a", "b</w>"),)),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_values_come_back_as_they_were(value):
    packed = wire.packed(value, [])
    assert wire.unpacked(json.loads(json.dumps(packed, allow_nan=False)), []) == value


@pytest.mark.parametrize("value", [object(), Foreign(), {1, 2}, print], ids=lambda x: type(x).__name__)
def test_what_is_no_plain_value_is_not_sent(value):
    with pytest.raises(TypeError, match="cannot be sent"):
        wire.packed(value, [])


def raw(head, body=b"", lengths=None):
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    return wire.LENGTHS.pack(*(lengths or (len(head), len(body)))) + head + body


@pytest.mark.parametrize(
    "message",
    [
        raw({}, lengths=(2**31, 0)),
        raw({}, lengths=(2, 2**50)),
        raw(b"no JSON"),
        raw(b'{"tensors": [], "x": NaN}'),
        raw(b"[" * 100_000),
        raw(b'{"tensors": [], "x": ' + b"9" * 100_000 + b"}"),
        raw([]),
        raw({"no": "tensors"}),
        raw({"tensors": [["float64", [-1], "cpu"]]}),
        raw({"tensors": [["float64", [True], "cpu"]]}, bytes(64)),
        raw({"tensors": [["float64", [2**30, 2**30, 2**30], "cpu"]]}),
        raw({"tensors": [["float64", [0, 2**39, 2**39], "cpu"], ["object", [], "cpu"]]}),
        raw({"tensors": [["float64", [9], "cpu"]]}, bytes(64)),
        raw({"tensors": [["float64", [1], "cpu"]]}, bytes(128)),
        raw({"tensors": ["float64"]}),
    ],
    ids=lambda message: str(message[:48]),
)
def test_what_is_no_message_is_refused(message):
    with pytest.raises(wire.Malformed):
        wire.received(read_from(message), 2**20)


# -- answers

X = torch.ones(2, 3)
ORDER = Order("layer_norm", AttentionConfig(), {"weight": X[0]}, {"x": X}, (2, 3), None, None, "plain", X, ("x",),
              "contiguous", (), None, False, False)  # fmt: skip
TEXT = replace(ORDER, component="detokenizer", inputs={"ids": [1]}, out_shape=(), cotangent=None, wrt=())
MADE = {"weights": False, "grads": ["x"], "changed": [], "counts": None, "trained": 0, "seen": {}}
REFUSED = {"reason": "raised", "message": "no", "argument": "", "at": "", "meant": False, "seen": {}}


def test_an_answer_is_what_it_says():
    made = made_of({"made": MADE}, [X, 2 * X], ORDER)
    assert torch.equal(made.out, X)
    assert torch.equal(made.grads["x"], 2 * X)
    with pytest.raises(Refused, match="no") as found:
        made_of({"refused": REFUSED | {"message": "no\x1b[31m"}}, [], ORDER)
    assert (found.value.reason, found.value.message) == ("raised", "no\ufffd[31m")


@pytest.mark.parametrize(
    ("answer", "tensors"),
    [
        ({}, [X, X]),
        ({"made": MADE}, [X]),
        ({"made": MADE}, [X, X, X]),
        ({"made": MADE}, [X[:1], X]),
        ({"made": MADE}, [X.int(), X]),
        ({"made": MADE}, [X, X[:1]]),
        ({"made": MADE | {"grads": []}}, [X]),
        ({"made": MADE | {"weights": True}}, [X, X, X]),
        ({"made": MADE | {"changed": ["y"]}}, [X, X]),
        ({"made": MADE | {"counts": {}}}, [X, X]),
        ({"made": MADE | {"trained": -1}}, [X, X]),
        ({"made": MADE | {"trained": True}}, [X, X]),
        ({"made": MADE | {"seen": {"scores": 1}}}, [X, X, X]),
        ({"made": MADE | {"verdict": "conformant"}}, [X, X]),
        ({"refused": REFUSED | {"reason": "pass"}}, []),
        ({"refused": REFUSED | {"message": 3}}, []),
    ],
    ids=str,
)
def test_what_was_not_asked_for_is_no_answer(answer, tensors):
    with pytest.raises(wire.Malformed):
        made_of(answer, tensors, ORDER)


@pytest.mark.parametrize("numbers", [[math.nan], [0.5], [2.0**60], [-3], [0x110000]])
def test_numbers_that_are_no_text_are_no_answer(numbers):
    with pytest.raises(wire.Malformed):
        made_of({"made": MADE | {"grads": []}}, [torch.tensor(numbers, dtype=torch.float64)], TEXT)


def test_the_size_of_an_answer_is_known():
    assert size_of(ORDER) >= len(wire.message({}, [X.double(), X.double()])) - 200
    assert size_of(ORDER) < 1000


def test_a_declaration_that_is_none_makes_an_offer_a_problem():
    own = {"components": ["attention"], "problem": None, "declares": {"mask": "sideways"}, "profile": None,
           "version": None, "inferred": False, "established": True}  # fmt: skip
    told = {"path": "x.py", "adapter": True, "callables": [], "own": own, "variants": None}
    assert "want one of" in survey_of({"survey": told}).own.problem
    with pytest.raises(wire.Malformed):
        survey_of({"survey": told | {"own": own | {"components": ["exit"]}}})
