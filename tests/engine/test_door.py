"""The one door: what goes in is a copy, laid out as asked, and what comes out is a copy too."""

import pytest
import torch
from made_up import CASE, NAMES, request, right, through

from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.request import Implementation


def recorded(**changes):
    """Return the tensors that an implementation is given, by name, and the grad mode it finds."""
    seen = {}

    def forward(query, key, value, **options):
        seen.update(query=query, key=key, value=value, grad=torch.is_grad_enabled(), **options)
        seen["inference"] = torch.is_inference_mode_enabled()
        return right(query, key, value)

    through(forward, **changes)
    return seen


# -- copies


def test_inputs_are_copies():
    seen = recorded()
    for name, original in request().inputs.items():
        assert torch.equal(seen[name], original)
        assert seen[name].untyped_storage().data_ptr() != original.untyped_storage().data_ptr()


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "offset", "expanded"])
@pytest.mark.parametrize("sizes", [{}, {"L": 1}, {"E": 1, "F": 1}], ids=str)
def test_no_layout_hands_over_the_original(layout, sizes):
    case = CASE.but(**sizes)
    inputs = dict(zip(NAMES, (case.q, case.k, case.v), strict=True))
    seen = recorded(inputs=inputs, layout=layout, out_shape=(*case.q.shape[:-1], case.F))
    for name, original in inputs.items():
        assert seen[name].untyped_storage().data_ptr() != original.untyped_storage().data_ptr()


def test_weights_are_copies():
    weights = {"w": torch.ones(3)}

    def build(config, given):
        given["w"].zero_()
        return right

    reply = call(Implementation("made-up", {"attention": build}), request(weights=weights))
    assert weights["w"].tolist() == [1, 1, 1]
    assert reply.changed == ("w",)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_input_is_noticed(name):
    def forward(query, key, value):
        out = right(query, key, value)
        {"query": query, "key": key, "value": value}[name].add_(1)
        return out

    before = {n: x.clone() for n, x in request().inputs.items()}
    assert through(forward).changed == (name,)
    assert all(torch.equal(x, before[n]) for n, x in request().inputs.items())


def test_nan_in_an_input_is_not_a_change():
    value = CASE.v.clone()
    value[0, 0, 0, 0] = torch.nan
    assert through(right, inputs={**request().inputs, "value": value}).changed == ()


def test_replacing_nan_by_zero_is_a_change():
    value = CASE.v.clone()
    value[0, 0, 0, 0] = torch.nan

    def forward(query, key, value):
        value.nan_to_num_()
        return right(query, key, value)

    assert through(forward, inputs={**request().inputs, "value": value}).changed == ("value",)


def test_a_reply_outlives_the_buffer_it_came_in():
    buffer = torch.zeros(2, 3, 5, 6, dtype=torch.float64)

    def forward(query, key, value):
        buffer.copy_(right(query, key, value))
        return buffer

    first = through(forward).out
    want = first.clone()
    through(forward, inputs={**request().inputs, "value": 2 * CASE.v})
    assert torch.equal(first, want)


# -- modes, layouts, earlier calls


@pytest.mark.parametrize(
    ("mode", "grad", "inference", "requires"),
    [
        ("plain", True, False, False),
        ("tracked", True, False, True),
        ("no_grad", False, False, False),
        ("inference_mode", False, True, False),
    ],
)
def test_modes(mode, grad, inference, requires):
    seen = recorded(mode=mode)
    assert (seen["grad"], seen["inference"], seen["query"].requires_grad) == (grad, inference, requires)


@pytest.mark.parametrize("layout", ["transposed", "offset", "expanded"])
def test_layouts_are_what_they_say(layout):
    inputs = {name: x[:1].expand_as(x) for name, x in request().inputs.items()}
    seen = recorded(layout=layout, inputs=inputs)
    for name in NAMES:
        assert not seen[name].is_contiguous()
        assert torch.equal(seen[name], inputs[name])
    strides = {"transposed": (-2, 1), "offset": (-1, 2), "expanded": (0, 0)}
    axis, stride = strides[layout]
    assert seen["query"].stride(axis) == stride
    assert (seen["query"].storage_offset() > 0) == (layout == "offset")


def test_an_unknown_layout_is_the_suites_own_fault():
    with pytest.raises(ValueError, match="no layout 'diagonal'"):
        through(right, layout="diagonal")


def test_earlier_calls_come_first_and_go_to_the_same_callable():
    calls = []

    def build(config, weights):
        mine = []

        def forward(query, key, value):
            mine.append(query.shape[2])
            calls.append(list(mine))
            return right(query, key, value)

        return forward

    longer = CASE.but(L=9)
    earlier = dict(zip(NAMES, (longer.q, longer.k, longer.v), strict=True))
    call(Implementation("made-up", {"attention": build}), request(before=(earlier, earlier)))
    assert calls == [[9], [9, 9], [9, 9, 5]]


def test_earlier_calls_get_copies():
    def forward(query, key, value):
        query.zero_()
        return right(query, key, value)

    inputs = request().inputs
    before = {n: x.clone() for n, x in inputs.items()}
    through(forward, before=(inputs,))
    assert all(torch.equal(inputs[n], before[n]) for n in NAMES)


def test_one_object_three_times():
    x = {"query": CASE.k}
    seen = recorded(inputs=x, out_shape=tuple(CASE.k.shape))
    assert seen["query"] is seen["key"] is seen["value"]


def test_only_what_is_asked_for_is_passed():
    assert set(recorded()) == {*NAMES, "grad", "inference"}
    mask = torch.ones(2, 4, dtype=torch.bool)
    seen = recorded(inputs={**request().inputs, "key_mask": mask})
    assert torch.equal(seen["key_mask"], mask)


def test_gradients_come_back():
    cotangent = CASE.draw("cotangent", 2, 3, 5, 6)
    reply = through(right, cotangent=cotangent, wrt=("query", "value"))
    assert set(reply.grads) == {"query", "value"}
    v = CASE.v.clone().requires_grad_()
    (want,) = torch.autograd.grad((right(CASE.q, CASE.k, v) * cotangent).sum(), v)
    assert torch.allclose(reply.grads["value"], want)


# -- global switches


def test_what_an_implementation_switches_is_switched_back():
    def forward(query, key, value):
        torch.set_default_dtype(torch.float64)
        torch.set_float32_matmul_precision("medium")
        return right(query, key, value)

    before = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    through(forward)
    assert (torch.get_default_dtype(), torch.get_float32_matmul_precision()) == before
