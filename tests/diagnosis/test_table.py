"""Replies of known mistakes are remembered by what a call hands over, and forgotten when they are too many."""

from dataclasses import fields, replace

import torch
from made_up import request

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.diagnosis.table import Table, content, size
from attnconf.conformance.engine.request import Reply, Request


def changed(asked):
    """Return calls that differ from this one in one entry each, by the entry."""
    other = {name: x + 1 for name, x in asked.inputs.items()}
    return {
        "component": replace(asked, component="multi_head_attention"),
        "config": replace(asked, config=AttentionConfig(causal=True)),
        "weights": replace(asked, weights={"q.weight": torch.ones(1)}),
        "inputs": replace(asked, inputs={**asked.inputs, "key": other["key"]}),
        "out_shape": replace(asked, out_shape=(2, 3, 5, 7)),
        "weights_shape": replace(asked, weights_shape=(2, 3, 5, 4)),
        "averaged_shape": replace(asked, averaged_shape=(2, 5, 4)),
        "mode": replace(asked, mode="no_grad"),
        "cotangent": replace(asked, cotangent=torch.ones(2, 3, 5, 6)),
        "wrt": replace(asked, wrt=("query",)),
        "layout": replace(asked, layout="offset"),
        "before": replace(asked, before=(asked.inputs,)),
        "seed": replace(asked, seed=0),
        "counted": replace(asked, counted=True),
        "watched": replace(asked, watched=True),
    }


def test_a_call_is_known_by_all_that_it_hands_over():
    asked = request()
    copy = replace(asked, inputs={name: x.clone() for name, x in asked.inputs.items()})
    others = changed(asked)
    assert set(others) == {one.name for one in fields(Request) if not one.kw_only}  # a request has no functions
    assert content(asked) == content(copy)
    assert len({content(one) for one in (asked, *others.values())}) == 1 + len(others)


def test_dtype_shape_and_names_are_told_apart():
    x = torch.zeros(2, 3, dtype=torch.float32)
    inputs = [{"x": x}, {"x": x.mT}, {"x": x.double()}, {"x": x.int()}, {"y": x}, {"x": [0]}, {"x": (0,)}, {"x": "0"}]
    inputs += [{"x": x.bfloat16()}, {"x": x.half()}, {"x": x.bool()}, {"x": torch.zeros(())}, {"x": 0}, {"x": 0.0}]
    assert len({content(request(inputs=one)) for one in inputs}) == len(inputs)


def test_one_number_that_lies_at_stride_nought_is_known():
    one = torch.ones(1).expand(1)
    strided = torch.as_strided(torch.ones(1), (1,), (0,))
    assert content(request(inputs={"x": strided})) == content(request(inputs={"x": one.clone()}))


def test_what_is_left_to_chance_is_not_known():
    assert content(request(config=AttentionConfig(dropout=0.5, training=True))) is None
    assert content(request(config=AttentionConfig(dropout=0.5, training=True), seed=1)) is not None


def test_a_reply_is_computed_once_and_the_oldest_is_forgotten():
    computed = []

    def reply(name):
        return table.reply((name,), lambda: computed.append(name) or Reply(torch.ones(100), None, {}, ()))

    table = Table(limit=2 * size(Reply(torch.ones(100), None, {}, ())))
    assert reply("a") is reply("a")
    reply("b")
    reply("a")
    reply("c")  # b was not asked for longest
    reply("a")
    reply("b")
    assert computed == ["a", "b", "c", "b"]
