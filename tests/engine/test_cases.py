"""The scored cases: sizes that cannot be mistaken for each other, strong stimuli, and the same numbers for ever."""

import math
from itertools import combinations

import pytest
import torch
from all_cases import FAMILIES

from attnconf.conformance.chapters.attention.stimuli import SHAPE
from attnconf.conformance.chapters.contents import all_checks, calls
from attnconf.conformance.engine.case import REGIMES, draw
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.subject import Subject

SOME = SHAPE.case("some", B=2, H=3, L=5, S=11, E=7, F=13)
DISTINCT = FAMILIES["attention", "DISTINCT"]
LENGTHS = ("L", "S", "rows", "columns", "points", "words")
CASES = {(*name, case.name): case for name, cases in FAMILIES.items() for case in cases}
LIKE_ATTENTION = [key for key, case in CASES.items() if case.shape is SHAPE]
TILES = (16, 32, 64, 128)

# Sizes that are equal on purpose, told by the case: what it says, the sizes, and why.
EQUAL = [
    (lambda c: "square" in c.name or c.name.startswith("self"), ("L", "S"), "where queries and keys can be mixed up"),
    (lambda c: "batch-is-L" in c.name, ("B", "L"), "where samples and queries can be mixed up"),
    (lambda c: "batch-is-S" in c.name, ("B", "S"), "where samples and keys can be mixed up"),
    (lambda c: "batch-is-H" in c.name, ("B", "H"), "where samples and heads can be mixed up"),
    (lambda c: "square" in c.name, ("rows", "columns"), "where the axes of a grid can be mixed up"),
    (lambda c: True, ("alphabet", "letters"), "as many letters in a word, at most, as there are"),
    (lambda c: "fused" in c.name, ("E", "F"), "fused kernels want values as wide as keys"),
    (
        lambda c: c.name.startswith(("wide-", "real-")),
        ("E", "F"),
        "models have heads of one width, for values as for keys",
    ),
]

# Numbers that draw() gave when the case set was made. They may never change: verdicts would.
GOLDEN = {
    ("0/moderate-2/q", (3,)): ["-0x1.2571e5816061dp-2", "-0x1.f221cae974ea6p-1", "-0x1.6bbc2a374e80cp+0"],
    ("0/uniform-1/v", (2, 2)): [
        "-0x1.818ac7394b67cp-1", "-0x1.9c1d4a931b5acp+0", "0x1.17048e04d09d3p-2", "-0x1.e4d6849ac7df7p-1",
    ],
    ("", (2,)): ["-0x1.770130a26d488p-1", "0x1.f0e99de29495ap-1"],
    ("äß/√", (2,)): ["0x1.4b91ae464337dp+0", "0x1.6e615349629d2p-4"],
}  # fmt: skip

each_case = pytest.mark.parametrize("key", CASES, ids="/".join)
each_of_attention = pytest.mark.parametrize("key", LIKE_ATTENTION, ids="/".join)


# -- sizes


@each_case
def test_sizes_are_distinct_but_for_those_meant_to_be_equal(key):
    case = CASES[key]
    equal = {frozenset(pair) for pair in combinations(case.sizes, 2) if case.sizes[pair[0]] == case.sizes[pair[1]]}
    assert equal == {frozenset(pair) for says, pair, _ in EQUAL if says(case) and {*pair} <= {*case.sizes}}


@pytest.mark.parametrize("key", [key for key in CASES if key[0] == "multi_head_attention"], ids="/".join)
def test_layers_have_widths_that_fit_nothing_else(key):
    case = CASES[key]
    widths = {case.embed, case.key_dim, case.value_dim}
    assert not widths & ({case.sizes[size] for size in case.shape.names} - ({case.E} if case.H == 1 else set()))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda c: c.L == 1 < c.S,
        lambda c: c.S == 1 < c.L,
        lambda c: c.B == 1,
        lambda c: c.H == 1,
        lambda c: c.E == 1,
        lambda c: c.B == c.L > 1,
        lambda c: c.B == c.S > 1,
        lambda c: c.L == c.S > 1,
        lambda c: c.L < c.S,
        lambda c: c.L > c.S,
        lambda c: c.B > 3,
        lambda c: c.L > 64,
        lambda c: c.S > 128,
    ],
)
def test_some_case_at_every_edge(wanted):
    assert any(wanted(CASES[key]) for key in LIKE_ATTENTION)


@each_case
def test_lengths_are_off_every_tile(key):
    case = CASES[key]
    assert all(case.sizes[name] % tile for name in LENGTHS if name in case.sizes for tile in TILES)


def of_laws():
    """Return the families of cases by which a component is judged, by (component, law)."""
    return [((c, law), trials.families) for c, laws in calls().items() for law, trials in laws.items()]


def test_names_tell_cases_of_a_check_apart():
    by_check = {
        name: checked.families for name, checked in all_checks().items() if checked.requirement.chapter != "calls"
    }
    for name, families in [*by_check.items(), *of_laws()]:
        names = [case.name for family in families for case in family]
        assert names
        assert len(names) == len(set(names)), name


def test_every_family_is_used():
    by_check = [checked.families for checked in all_checks().values()]
    used = {id(family) for families in (*by_check, *dict(of_laws()).values()) for family in families}
    assert {name for name, family in FAMILIES.items() if id(family) not in used} == set()


def test_without_a_width_of_their_own_values_are_as_wide_as_keys():
    subject = Subject(apply([]), "multi_head_attention", "heads")
    cases = all_checks()["ATT-QUERY-1"].cases(subject, 0, "cpu")
    assert cases
    assert all(case.F == case.E for case in cases)


def test_a_size_has_one_name_and_another_is_refused():
    with pytest.raises(AttributeError, match="case some has no size 'words': there are B, H, L, S, E, F"):
        SOME.words  # noqa: B018  # reading it is what raises
    with pytest.raises(TypeError, match=r"sizes lacking: \['F'\]; not of its shape: \['words'\]"):
        SHAPE.case("some", B=2, H=3, L=5, S=11, E=7, words=1)
    with pytest.raises(TypeError, match="words"):
        SOME.but(words=1)


def test_a_size_that_is_not_given_follows_those_that_it_is_a_product_of():
    (layer,) = FAMILIES["multi_head_attention", "LAYER"]
    assert layer.embed == layer.H * layer.E
    assert layer.but(H=1).embed == layer.E
    assert layer.but(embed=5, H=1).embed == 5


# -- numbers


@each_of_attention
def test_stimuli_are_signed_and_strong(key):
    case = CASES[key]
    for x, size in ((case.q, REGIMES[case.regime]), (case.k, 1.0), (case.v, 1.0)):
        assert (x > 0).any()
        assert (x < 0).any()
        assert float(x.abs().max()) <= math.sqrt(3) * size
        assert float(x.std()) == pytest.approx(size, rel=0.35)


@each_of_attention
def test_scores_are_as_spread_as_the_regime_says(key):
    case = CASES[key]
    scores = case.q @ case.k.transpose(-1, -2) / math.sqrt(case.E)
    assert float(scores.std()) == pytest.approx(REGIMES[case.regime], rel=0.35)


def test_there_are_three_regimes_and_each_is_used():
    assert {case.regime for case in DISTINCT} == set(REGIMES) == {"uniform", "moderate", "peaked"}


def test_the_peaked_regime_is_peaked_and_the_uniform_one_is_not():
    largest = {}
    for case in DISTINCT:
        weights = torch.softmax(case.q @ case.k.transpose(-1, -2) / math.sqrt(case.E), dim=-1)
        largest[case.regime] = float(weights.amax(dim=-1).mean()) * case.S  # 1 where all weigh the same
    assert largest["uniform"] < 1.3 < 2 < largest["moderate"]
    assert largest["peaked"] > 7


@pytest.mark.parametrize(("key", "shape"), GOLDEN)
def test_the_generator_gives_the_same_numbers_for_ever(key, shape):
    got = draw(key, *shape)
    assert got.shape == shape
    assert got.dtype == torch.float64
    assert [x.hex() for x in got.flatten().tolist()] == GOLDEN[key, shape]


def test_the_generator_leaves_torchs_own_alone():
    torch.manual_seed(1)
    first = draw("key", 5)
    state = torch.get_rng_state()
    torch.manual_seed(2)
    assert torch.equal(draw("key", 5), first)
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)


def test_mean_and_variance():
    x = draw("a large sample", 100_000)
    assert abs(float(x.mean())) < 5 / math.sqrt(len(x))
    assert abs(float(x.var()) - 1) < 5 * math.sqrt(0.8 / len(x))  # the fourth moment is 9/5
    assert float(x.abs().max()) < math.sqrt(3)
    assert abs(float((x[1:] * x[:-1]).mean())) < 5 / math.sqrt(len(x))


def test_different_keys_give_different_numbers():
    drawn = torch.stack([draw(f"key {i}", 500) for i in range(40)])
    assert len({tuple(row) for row in drawn.tolist()}) == len(drawn)
    assert float((torch.corrcoef(drawn) - torch.eye(len(drawn))).abs().max()) < 5 / math.sqrt(500)


def test_tensors_of_a_case_differ_and_are_drawn_once():
    case = SOME
    assert case.draw("a", 4) is case.draw("a", 4)
    assert not torch.equal(case.draw("a", 4), case.draw("b", 4))
    assert torch.equal(case.but(dtype=torch.float32).k.double(), case.k.float().double())


def test_in_another_shape_the_same_numbers_are_drawn():
    (layer,) = FAMILIES["multi_head_attention", "LAYER"]
    seen = layer.seen_as(SHAPE, B=2, H=3, L=5, S=4, E=7, F=6)
    assert (seen.F, seen.dtype) == (6, layer.dtype)
    assert torch.equal(seen.draw("a", 4), layer.draw("a", 4))


def test_seeds_change_the_numbers_and_nothing_else():
    subject = Subject(apply([]), "attention", "direct")
    check = all_checks()["ATT-QUERY-1"]
    for one, other in zip(check.cases(subject, 0, "cpu"), check.cases(subject, 1, "cpu"), strict=True):
        assert one.but(seed=1) == other
        assert not torch.equal(one.k, other.k)


def test_implementations_are_given_the_same_numbers():
    """Whatever was judged before, and whether it failed."""
    check = all_checks()["ATT-QUERY-1"]
    seen = []
    for _ in range(2):
        subject = Subject(apply([]), "attention", "direct")
        seen.append([request.inputs for request, _ in judge_requirement(subject, check).log])
        judge_requirement(Subject(apply([]), "multi_head_attention", "heads"), check)
    for one, other in zip(*seen, strict=True):
        assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("size", range(1, 9))
def test_a_permutation_moves_everything(size):
    order = SOME.permutation("order", size)
    assert sorted(order.tolist()) == list(range(size))
    assert size == 1 or all(i != at for i, at in enumerate(order.tolist()))
