"""Right implementations in every declared variant, written otherwise than the reference, are judged conformant."""

import math
from itertools import product

import pytest
import torch

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.chapters.contents import all_checks, check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import profiles

FACTORS = {"1": 1.0, "pi": math.pi, "2pi": 2 * math.pi}
VARIANTS = list(product(*(CONVENTIONS[f"fourier-{name}"] for name in ("factor", "input", "order"))))


def encoder(config, factor, keep, order):
    """Return a function of x (..., d), loops over coordinates and frequencies, tables in float32."""
    table = FACTORS[factor] * torch.tensor(config.frequencies, dtype=torch.float32)
    d, K = config.in_dim, len(table)

    def place(c, k, f):  # of coordinate c, frequency k, function f: 0 sine, 1 cosine
        return {
            "coordinate": (c * 2 + f) * K + k,
            "frequency": (k * 2 + f) * d + c,
            "function": (f * d + c) * K + k,
            "coordinate-frequency": (c * K + k) * 2 + f,
            "function-frequency": (f * K + k) * d + c,
        }[order]

    def encode(x):
        columns = [None] * (2 * d * K)
        for c, k in product(range(d), range(K)):
            angle = x[..., c].float() * table[k]
            columns[place(c, k, 0)], columns[place(c, k, 1)] = torch.sin(angle), torch.cos(angle)
        features = torch.stack(columns, dim=-1).to(x.dtype)
        return torch.cat({"kept": [x, features], "kept-last": [features, x]}.get(keep, [features]), dim=-1)

    return encode


def implementation(factor, keep, order, bank="octaves"):
    def fourier(config, weights):
        return encoder(config, factor, keep, order)

    def coordinate_mlp(config, weights):
        encode = encoder(config, factor, keep, order)

        def forward(x):
            h = encode(x)
            for i in range(len(config.hidden) + 1):
                h = torch.nn.functional.linear(h if i == 0 else h.relu(), weights[f"{i}.weight"], weights[f"{i}.bias"])
            return h

        return forward

    declares = {"fourier-factor": factor, "fourier-input": keep, "fourier-order": order, "fourier-bank": bank}
    return Implementation("variant", {"fourier": fourier, "coordinate_mlp": coordinate_mlp}, declares)


def failures(made, component, leave_out=(), seed=0):
    """Return what does not pass, by requirement."""
    entries = [e.requirement for e in profiles.load("full").entries if e.component == component]
    judged = {
        r: judge_requirement(Subject(made, component, "direct"), check_of(r, component), seed)
        for r in entries
        if r not in leave_out
    }
    assert judged
    return {name: (j.outcome, j.message) for name, j in judged.items() if j.outcome != "pass"}


@pytest.mark.parametrize("variant", VARIANTS, ids="-".join)
def test_every_declared_encoder_is_conformant(variant):
    assert failures(implementation(*variant), "fourier", leave_out={"FOUR-LEARN-1"}) == {}


@pytest.mark.parametrize("variant", VARIANTS, ids="-".join)
def test_every_declared_network_is_conformant(variant):
    assert failures(implementation(*variant), "coordinate_mlp") == {}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_other_numbers_change_no_verdict(seed):
    for component in ("fourier", "coordinate_mlp"):
        made = implementation("2pi", "kept", "frequency")
        assert failures(made, component, leave_out={"FOUR-LEARN-1"}, seed=seed) == {}


@pytest.mark.parametrize("keep", CONVENTIONS["fourier-input"])
def test_evenly_spaced_frequencies_are_asked_for_where_they_are_declared(keep):
    made = implementation("pi", keep, "function", "even")
    for component in ("fourier", "coordinate_mlp"):
        assert failures(made, component, leave_out={"FOUR-LEARN-1"}) == {}
    octaves = implementation("pi", keep, "function")
    seen = []
    octaves.components["fourier"] = lambda config, weights: (
        seen.append(config.frequencies) or encoder(config, "pi", keep, "function")
    )
    failures(octaves, "fourier", leave_out={"FOUR-LEARN-1"})
    assert (1.0, 2.0, 4.0, 8.0, 16.0) in seen
    assert (1.0, 6.75, 12.5, 18.25, 24.0) not in seen


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_features_of_another_convention_are_learned_from_as_well(seed):
    check = all_checks()["FOUR-LEARN-1"]
    subject = Subject(implementation("2pi", "kept", "frequency"), "fourier", "direct")
    assert judge_requirement(subject, check, seed).outcome == "pass"


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != ("1", "dropped", "coordinate")], ids="-".join)
def test_an_undeclared_variant_is_not(variant):
    made = implementation(*variant)
    silent = Implementation("silent", made.components)
    assert failures(silent, "fourier", leave_out={"FOUR-LEARN-1"})


def test_a_fixed_bank_that_says_so_lacks_only_that():
    def fourier(config, weights):
        if config.frequencies != tuple(2.0**k for k in range(len(config.frequencies))):
            raise NotImplementedError("other frequencies than powers of two")
        return encoder(config, "pi", "dropped", "function")

    made = Implementation("fixed", {"fourier": fourier}, {"fourier-factor": "pi", "fourier-order": "function"})
    words = "other frequencies than powers of two"
    assert failures(made, "fourier") == {"FOUR-BANK-1": ("unsupported", words)}


@pytest.mark.parametrize("order", CONVENTIONS["random-fourier-order"])
def test_both_orders_of_random_features_are_conformant(order):
    def random_fourier(config, weights):
        def forward(x):
            angle = x.float() @ (2 * math.pi * weights["projection"].float()).T
            halves = [torch.cos(angle), torch.sin(angle)]
            return torch.cat(halves if order == "cos-first" else halves[::-1], dim=-1).to(x.dtype)

        return forward

    for seed in (0, 1, 2):
        made = Implementation("random", {"random_fourier": random_fourier}, {"random-fourier-order": order})
        assert failures(made, "random_fourier", seed=seed) == {}
        other = Implementation("other", {"random_fourier": random_fourier})
        assert bool(failures(other, "random_fourier", seed=seed)) == (order == "sin-first")
