"""Masks are right however it is told what is padding and wherever the diagonal starts, and mistakes are named."""

from dataclasses import replace

import pytest
import torch

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results

torch.set_num_threads(1)


def judged(component, declares, mutants=(), build=None):
    base = apply([all_mutants()[m] for m in mutants])
    only = {component: build or base.components[component]}
    record = results.record(judge([replace(base, name="made", components=only, declares=declares)]))
    roots = {r["requirement"] for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]}
    named = {m for r in record["results"] for d in r["diagnosis"] for m in d["mutants"]}
    return record["verdicts"][0]["verdict"], roots, named


@pytest.mark.parametrize("component", ["padding_mask", "decoder_mask"])
@pytest.mark.parametrize("told", ["ids", "lengths", "any"])
def test_padding_is_told_in_any_way(component, told):
    assert judged(component, {"padding-from": told})[:2] == ("conformant", set())


def from_a_corner(corner):
    def causal_mask(config, weights):
        def forward(query_length, key_length):
            offset = key_length - query_length if corner == "bottom-right" else 0
            return torch.ones(query_length, key_length, dtype=config.dtype, device=config.device).tril(offset)

        return forward

    return causal_mask


@pytest.mark.parametrize("corner", ["top-left", "bottom-right"])
def test_either_corner_will_do(corner):
    declares = {"causal-alignment": corner}
    assert judged("causal_mask", declares, build=from_a_corner(corner))[:2] == ("conformant", set())


def test_it_must_be_the_declared_corner():
    declares = {"causal-alignment": "top-left"}
    assert judged("causal_mask", declares, build=from_a_corner("bottom-right"))[:2] == (
        "nonconformant",
        {"MAKE-ALIGN-1"},
    )


def test_what_padding_sees_is_nobody_s_affair():
    def padding_mask(config, weights):
        def forward(tokens):
            real = (tokens != config.padding_id).to(config.dtype)
            return real[:, :, None] * real[:, None, :]

        return forward

    assert judged("padding_mask", {"padding-from": "ids"}, build=padding_mask)[:2] == ("conformant", set())


@pytest.mark.parametrize(
    ("component", "told", "mutant"),
    [
        ("causal_mask", "ids", "MAKE-diagonal-hidden"),
        ("padding_mask", "lengths", "MAKE-one-too-short"),
        ("decoder_mask", "ids", "MAKE-joined-by-or"),
        ("decoder_mask", "lengths", "MAKE-padding-reversed"),
    ],
)
def test_a_mistake_is_named(component, told, mutant):
    verdict, _, named = judged(component, {"padding-from": told}, [mutant])
    assert verdict == "nonconformant"
    assert mutant in named
