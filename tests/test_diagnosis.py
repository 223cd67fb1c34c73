"""A failure names the mistake that was made, or none: never another one."""

from functools import cache

import pytest
import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.cases import FAMILIES, family
from attnconf.conformance.door import Implementation
from attnconf.conformance.mutation import Mutant, all_mutants, apply, reaches
from attnconf.conformance.session import Session, Settings
from attnconf.reference import attention
from attnconf.spec import profiles

torch.set_num_threads(1)

# Mutants that are not named, as they differ from the reference by less than rounding may.
BELOW_ROUNDING = {"ATT-epsilon", "ATT-single-softmax"}


def asked_of(component):
    """Return the requirements of a component in the default profile."""
    return {e.requirement for e in profiles.load(profiles.DEFAULT).entries if e.component == component}


ATTENTION = [mutant for mutant in all_mutants().values() if mutant.chapter == "attention"]

CHAPTERS = ("sinusoidal", "learned", "rotary", "alibi", "relative_bias", "fourier", "coordinate_mlp")
ENCODINGS = [
    (mutant, component)
    for chapter in CHAPTERS
    for mutant in [m for m in all_mutants().values() if m.chapter == chapter][::5]  # some, as all take a minute
    for component in COMPONENTS
    if reaches(component, mutant) and component not in mutant.silent_on and mutant.breaks & asked_of(component)
]


def explained(implementation, component="attention"):
    """Return the session in which a component of an implementation was judged and explained."""
    session = Session([implementation], Settings())
    session.make_plan()
    session.plan = [planned for planned in session.plan if planned.entry.component == component]
    for planned in session.plan:
        session.run(planned)
    session.explain()
    return session


def roots(session):
    """Return the planned checks that failed and follow from no other failure."""
    return [p for p in session.plan if session.outcomes[p.id].outcome == "fail" and not session.follows_from(p)]


def named(session):
    """Return the ids of the mutants named for each root, by requirement."""
    found = {p.entry.requirement: session.diagnoses.get(p.id) for p in roots(session)}
    return {requirement: {m.id for m in d.mutants} if d else set() for requirement, d in found.items()}


@cache
def explained_mutant(name):
    """Return the session of a mutant, on attention."""
    return explained(apply([all_mutants()[name]]))


def alike(one, other):
    """Return whether two mutants fail the same roots there with the very same numbers."""
    sessions = [explained_mutant(name) for name in (one, other)]
    messages = [{p.entry.requirement: s.outcomes[p.id].message for p in roots(s)} for s in sessions]
    return messages[0] == messages[1]


@pytest.mark.parametrize("mutant", ATTENTION, ids=lambda mutant: mutant.id)
def test_a_mutant_is_named_by_its_own_id(mutant):
    session = explained_mutant(mutant.id)
    assert roots(session)
    for requirement, names in named(session).items():
        want = set() if mutant.id in BELOW_ROUNDING else {mutant.id}
        assert want <= names, requirement
        assert all(alike(mutant.id, other) for other in names - want), (requirement, names)


@pytest.mark.parametrize(("mutant", "component"), ENCODINGS, ids=lambda one: getattr(one, "id", one))
def test_a_mutant_of_an_encoding_is_named(mutant, component):
    session = explained(apply([mutant]), component)
    assert roots(session)
    for planned in roots(session):
        found = session.diagnoses.get(planned.id)
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
    session = explained(disturbed(1e-8))
    assert {p.entry.requirement for p in roots(session)} <= {"ATT-SINGLE-1", "ATT-PREC-2", "MASK-ZERO-1"}
    assert not session.diagnoses


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
    session = explained(implementation)
    assert roots(session)
    assert not session.diagnoses


def test_consequences_are_not_explained():
    session = explained(apply([all_mutants()["ATT-sigmoid"]]))
    failed = {p.id for p in session.plan if session.outcomes[p.id].outcome == "fail"}
    assert set(session.diagnoses) == {p.id for p in roots(session)} < failed


def test_a_diagnosis_counts_the_cases():
    session = explained(apply([all_mutants()["ATT-unscaled"]]))
    (planned,) = roots(session)
    assert session.diagnoses[planned.id].cases == len(session.outcomes[planned.id].cases) > 1


def test_judging_leaves_the_cases_as_they_were():
    """Cases are drawn once and used for all: a mutant that overwrites its query must not get at them."""
    explained(apply([all_mutants()["ATT-query-overwritten"]]))
    for name in FAMILIES:
        for case in family(name, 0, "cpu", True):
            assert torch.equal(case.q, case.but().q), case.name
