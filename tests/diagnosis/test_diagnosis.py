"""A failure names the mistake that was made, or none: never another one."""

import re
from dataclasses import replace
from functools import cache

import pytest
import torch
from all_cases import FAMILIES

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.attention.mutants.participants import tiles_not_rescaled
from attnconf.conformance.chapters.attention.stimuli import SHAPE
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.mutant import Mutant, apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.mutant_rows import shows
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.conformance.run.relate import relate
from attnconf.reference import attention, feed_forward, masks
from attnconf.spec import profiles

torch.set_num_threads(1)

NOT_IN_NUMBERS = {"SIN-trained"}  # what comes out is right: a mutant that is told by its replies is not named
# Mutants that are not named, as they differ from the reference by less than rounding may.
BELOW_ROUNDING = {"ATT-epsilon", "ATT-fast-exponential", "ATT-single-softmax"}


def asked_of(component):
    """Return the requirements of a component in the default profile."""
    return {e.requirement for e in profiles.load(profiles.DEFAULT).entries if e.component == component}


ATTENTION = [mutant for mutant in all_mutants().values() if mutant.chapter == "attention"]

CHAPTERS = ("sinusoidal", "learned", "rotary", "alibi", "relative_bias", "fourier", "coordinate_mlp")
ENCODINGS = [
    (mutant, component)
    for chapter in CHAPTERS
    for mutant in [m for m in all_mutants().values() if m.chapter == chapter][::5]  # some, as all take a minute
    if mutant.id not in NOT_IN_NUMBERS
    for component in COMPONENTS
    if shows(component, mutant) and component not in mutant.silent_on and mutant.breaks & asked_of(component)
]


def explained(implementation, component="attention"):
    """Return the run in which a component of an implementation was judged and explained."""
    run = judge_all(only(make_plan([implementation], Settings()), lambda planned: planned.entry.component == component))
    explain_failures(run)
    return run


def roots(run):
    """Return the planned checks that failed and follow from no other failure."""
    return [p for p in run.plan.planned if relate(run).follows_from.get(p.id) == []]


def named(run):
    """Return the ids of the mutants named for each root, by requirement."""
    found = {p.entry.requirement: run.diagnoses.get(p.id) for p in roots(run)}
    return {requirement: {m.id for m in d.mutants} if d else set() for requirement, d in found.items()}


@cache
def explained_mutant(name):
    """Return the run of a mutant, on attention."""
    return explained(apply([all_mutants()[name]]))


def alike(one, other):
    """Return whether two mutants fail the same roots there with the very same numbers."""
    sessions = [explained_mutant(name) for name in (one, other)]
    messages = [{p.entry.requirement: s.outcomes[p.id].message for p in roots(s)} for s in sessions]
    return messages[0] == messages[1]


@pytest.mark.parametrize("mutant", ATTENTION, ids=lambda mutant: mutant.id)
def test_a_mutant_is_named_by_its_own_id(mutant):
    run = explained_mutant(mutant.id)
    assert roots(run)
    for requirement, names in named(run).items():
        want = set() if mutant.id in BELOW_ROUNDING else {mutant.id}
        assert want <= names, requirement
        assert all(alike(mutant.id, other) for other in names - want), (requirement, names)


@pytest.mark.parametrize(("mutant", "component"), ENCODINGS, ids=lambda one: getattr(one, "id", one))
def test_a_mutant_of_an_encoding_is_named(mutant, component):
    run = explained(apply([mutant]), component)
    assert roots(run)
    for planned in roots(run):
        found = run.diagnoses.get(planned.id)
        names = {one.id for one in found.mutants} if found else set()
        assert mutant.id in names, planned.id


@pytest.mark.parametrize("name", ["ATT-scaled-by-E", "ATT-heads-averaged", "ATT-clamped"])
def test_a_mutant_is_named_on_multi_head_attention_too(name):
    found = named(explained(apply([all_mutants()[name]]), "multi_head_attention"))
    assert found
    assert all(name in names for names in found.values())


def test_what_holds_tells_mistakes_apart():
    """On ATT-RANGE-1 alone an overflow is NaN whatever caused it, but the other causes break more than that."""
    found = named(explained(apply([all_mutants()["ATT-product-before-scale"]])))
    assert found == {"ATT-RANGE-1": {"ATT-product-before-scale"}}


def disturbed(size):
    """Return the reference with noise of a relative size on its weights, other noise in every call."""

    def weigh(scores):
        weights = attention.weigh(scores)
        return weights * (1 + size * (2 * torch.rand_like(weights) - 1))

    noise = Mutant("ATT-noise", "noise", set(), "", {attention.weigh: weigh})
    return apply([noise])


def test_rounding_is_not_named():
    """Noise as large as float32's rounding fails at most what asks for every bit, and no mutant is blamed."""
    run = explained(disturbed(1e-8))
    assert {p.entry.requirement for p in roots(run)} <= {"ATT-SINGLE-1", "ATT-PREC-2", "MASK-ZERO-1"}
    assert not run.diagnoses


def test_a_mistake_with_other_constants_is_named_where_what_it_is_known_to_break_passed():
    run = explained(apply([Mutant("tiles of 32", "", set(), "", tiles_not_rescaled(32))]))
    assert not set(named(run)) & all_mutants()["ATT-tiles-not-rescaled"].breaks
    assert {frozenset(names) for names in named(run).values()} == {frozenset({"ATT-tiles-not-rescaled"})}


def test_a_mutant_with_rounding_of_its_own_is_still_named():
    def default_scale(q):
        return 1.0 + 1e-9

    other = Mutant("ATT-almost", "", set(), "", {attention.default_scale: default_scale})
    assert named(explained(apply([other]))) == {"ATT-SCALE-1": {"ATT-unscaled"}}


def random_implementation():
    def build(config, weights):
        def forward(query, key, value, *, need_weights=False, **masks):
            out = torch.randn(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
            rows = torch.randn(*query.shape[:-1], key.shape[-2], dtype=query.dtype)
            return (out, rows) if need_weights else out

        return forward

    return Implementation("random", {"attention": build})


def unknown_mistake():
    """Return an attention that is wrong in a way that no mutant is: the weights are squared and not normalised."""

    def weigh(scores):
        return attention.weigh(scores) ** 2

    return apply([Mutant("ATT-squared", "", set(), "", {attention.weigh: weigh})])


@pytest.mark.parametrize("implementation", [random_implementation(), unknown_mistake()], ids=["random", "squared"])
def test_an_unknown_mistake_gets_no_name(implementation):
    run = explained(implementation)
    assert roots(run)
    assert not run.diagnoses


def test_consequences_are_not_explained():
    run = explained(apply([all_mutants()["ATT-sigmoid"]]))
    failed = {p.id for p in run.plan.planned if run.outcomes[p.id].outcome == "fail"}
    assert set(run.diagnoses) == {p.id for p in roots(run)} < failed


def test_a_diagnosis_counts_the_cases():
    run = explained(apply([all_mutants()["ATT-unscaled"]]))
    (planned,) = roots(run)
    assert run.diagnoses[planned.id].cases == len(run.outcomes[planned.id].cases) > 1


def test_judging_leaves_the_cases_as_they_were():
    """Cases are drawn once and used for all: a mutant that overwrites its query must not get at them."""
    explained(apply([all_mutants()["ATT-query-overwritten"]]))
    for cases in FAMILIES.values():
        for case in cases if cases[0].shape is SHAPE else ():
            case = case.but(seed=0, device="cpu")
            assert torch.equal(case.q, case.but().q), case.name


def both(first, second):
    return apply([all_mutants()[first], all_mutants()[second]])


# Two mistakes, where they are made, and what has to be named for some failure.
PAIRS = [
    ("multi_head_attention", "ATT-scaled-by-E", "MHA-no-output-projection"),
    ("multi_head_attention", "ATT-softmax-over-queries", "MHA-merge-without-transpose"),
    ("multi_head_attention", "MASK-inverted", "ATT-unscaled"),
    ("attention", "MASK-fill-20", "ATT-unscaled"),
    ("sinusoidal", "SIN-double-step", "SIN-from-one"),
    ("sinusoidal", "SIN-base-1000", "SIN-multiplied"),  # what lies beneath: the base shows in consequences only
    ("rotary", "ROPE-base-1000", "ROPE-from-one"),
    ("layer_norm", "LN-gain-forgotten", "LN-unbiased"),
    ("feed_forward", "FF-no-activation", "FF-second-bias-missing"),
    ("encoder_layer", "ENC-one-norm", "LN-unbiased"),  # one of them of another chapter
    ("encoder_layer", "ATT-unscaled", "LN-shift-subtracted"),  # both
    ("learned", "LRN-from-one", "LRN-input-doubled"),
]


# As layers are written: one of two orders, and no members; calls in all six places cost the search what pairs need.
OF_2017 = {"norm-order": "both", "kv-heads": "same", "qk-norm": "none"}


@pytest.mark.parametrize(("component", "first", "second"), PAIRS)
def test_two_mistakes_are_both_named(component, first, second):
    pair = both(first, second)
    pair = replace(pair, declares={**pair.declares, component: {**pair.declares.get(component, {}), **OF_2017}})
    run = explained(pair if component == "encoder_layer" else both(first, second), component)
    found = list(run.diagnoses.values())
    assert {first, second} <= {m.id for diagnosis in found for m in diagnosis.mutants}
    for diagnosis in found:
        assert all({first, second} & {m.id for m in mistake} for mistake in diagnosis.mistakes), diagnosis


def test_at_a_root_no_mistake_is_named_that_its_outputs_do_not_need():
    session = explained(both("SIN-base-1000", "SIN-multiplied"), "sinusoidal")
    at_roots = {planned.id for planned in roots(session)}
    assert {m.id for name in at_roots for m in session.diagnoses[name].mutants} == {"SIN-multiplied"}
    ((planned, beneath),) = [(name, d) for name, d in session.diagnoses.items() if name not in at_roots]
    assert session.outcomes[planned].outcome == "fail"
    assert [m.id for m in beneath.mutants] == ["SIN-base-1000", "SIN-multiplied"]


def test_one_mistake_is_not_named_as_two():
    for name in ("ATT-scaled-by-E", "ATT-softmax-over-heads", "MASK-scores-multiplied"):
        assert all(len(d.mistakes) == 1 for d in explained_mutant(name).diagnoses.values()), name


def test_a_mutant_that_replaces_a_whole_layer_does_not_hide_another_of_its_parts():
    alone, pair = apply([all_mutants()["ENC-one-norm"]]), both("ENC-one-norm", "LN-unbiased")
    replies = []
    for implementation in (alone, pair):
        run = explained(implementation, "encoder_layer")
        (planned,) = roots(run)
        replies.append(run.outcomes[planned.id].message)
    assert replies[0] != replies[1]


def test_a_setting_that_is_written_into_the_code_is_named():
    activate = feed_forward.activate

    def always_silu(x, activation):
        return activate(x, "silu")

    run = explained(apply([Mutant("FF-x", "", set(), "", {activate: always_silu})]), "encoder_layer")
    stories = {m.story for d in run.diagnoses.values() for m in d.mutants}
    assert stories == {"the activation is silu, whatever the configuration says"}


def nowhere_finite():
    def build(config, weights):
        def forward(query, key, value, *, need_weights=False, **masks):
            out = query.new_full((*query.shape[:-1], value.shape[-1]), torch.nan)
            rows = query.new_full((*query.shape[:-1], key.shape[-2]), torch.nan)
            return (out, rows) if need_weights else out

        return forward

    return Implementation("nan", {"attention": build})


def test_nan_everywhere_is_one_failure_and_says_so():
    run = explained(nowhere_finite())
    messages = [run.outcomes[p.id].message for p in roots(run)]
    (message,) = (message for message in messages if "not finite" in message)
    assert re.search(r"not finite, as (\d+) of \1 are \(nan\)", message)  # all of them
    assert not run.diagnoses


def hiding(hide):
    return apply([Mutant("MASK-x", "", set(), "", {masks.hide: hide})])


def test_nan_that_comes_without_a_mask_is_no_mistake_of_another_kind():
    run = explained(hiding(lambda scores, mask: masks.hide(scores, mask) if mask is not None else scores * torch.nan))
    assert roots(run)
    assert not any(named(run).values())


def test_a_future_that_is_filled_with_0_is_not_an_ignored_mask():
    def hide(scores, mask):
        triangle = mask is not None and torch.equal(mask, torch.ones_like(mask).tril())
        return scores.masked_fill(~mask, 0.0) if triangle else masks.hide(scores, mask)

    assert "MASK-causal-ignored" not in named(explained(hiding(hide)))["MASK-CAUSAL-1"]
