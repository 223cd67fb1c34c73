"""A run as data: the plan, fixed before anything is judged, and the outcomes so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.coverage import Recording
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.lens import LENSES
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.loading import deviations
from attnconf.conformance.loading.deviations import Deviation
from attnconf.spec import profiles, registry

if TYPE_CHECKING:  # imported where throughput is asked for, and where there is something to draw or to explain
    from attnconf.conformance.diagnosis.mistakes import Diagnosis
    from attnconf.conformance.pictures.illustrate import Pictures
    from attnconf.conformance.timing.run import Entrant, Races

OF_ANY_BINDING = ("value", "dtype", "nonfinite", "property")  # reasons of failures that a misread size does not explain


@dataclass
class Settings:
    """The settings of a run, as given on the command line."""

    profile: str | None = None
    seed: int = 0
    device: str = "cpu"
    strict: bool = False
    thorough: bool = False
    blind_spots: bool = False  # look for lines that no check executes, also without a full profile
    throughput: str | None = None  # also judge costs, and time the cases of "smoke" or "grid"
    prescribed: Mapping[str, str] = field(default_factory=dict)  # prescribed choices by convention


@dataclass(frozen=True)
class Planned:
    """One check that must come to exactly one outcome."""

    implementation: Implementation
    entry: profiles.Entry
    checked: Checked
    kept: frozenset[str] | None = None  # the names of the cases that a selection keeps; None: all
    gradients: bool = True  # whether the profile asks for any

    @property
    def id(self) -> str:
        return f"{self.implementation.name}-{self.entry.component}-{self.entry.lens}-{self.entry.requirement}"

    @property
    def settled(self) -> bool:
        """Whether an outcome says something of the code: the parameters' meaning is known, or does not matter."""
        binding = self.implementation.binding
        lens = LENSES.get((self.entry.component, self.entry.lens))
        mixed = self.checked.moves_keys and lens is not None and lens.mixes
        return binding is None or binding.established or (self.checked.any_weights and not mixed)

    @property
    def subject(self) -> Subject:
        """A new subject, without calls yet: the component as the check sees it."""
        return Subject(self.implementation, self.entry.component, self.entry.lens, self.gradients)


@dataclass(frozen=True)
class Plan:
    """The checks to judge, in order, and the implementations with their profiles."""

    implementations: tuple[Implementation | Unjudgeable, ...]
    settings: Settings
    planned: tuple[Planned, ...]
    profiles: Mapping[str, profiles.Profile]  # by the implementation's name
    known: Mapping[str, Sequence[Deviation]]  # likewise
    whole: tuple[Planned, ...] = ()  # the checks before a selection; empty without one
    selected: bool = False  # a selection left something out: a verdict is then at most "incomplete"

    def counts(self, planned: Planned) -> bool:
        """Return whether a failure of a check counts for the verdict."""
        asked = planned.checked.requirement
        counted = self.profiles[planned.implementation.name].counts
        return planned.settled and (self.settings.strict or asked.strength == "MUST" or asked.quality in counted)

    @property
    def judgeable(self) -> list[Implementation]:
        return [i for i in self.implementations if isinstance(i, Implementation)]


@dataclass
class Run:
    """A plan with its outcomes so far, by the ids of planned checks."""

    plan: Plan
    outcomes: dict[str, Judged] = field(default_factory=dict)
    diagnoses: "dict[str, Diagnosis]" = field(default_factory=dict)
    explained: bool = False  # diagnoses and pictures have been made
    pictures: "dict[str, Pictures]" = field(default_factory=dict)
    recording: Recording | None = None  # the executed lines of the implementations' files
    races: "Races | None" = None  # what is timed
    remarks: list[str] = field(default_factory=list)  # sentences on options that cannot be followed

    @property
    def settings(self) -> Settings:
        return self.plan.settings

    def settled(self, planned: Planned) -> bool:
        """Return whether an outcome says something of the code, and not of a binding that is not established.

        Where a call of such a binding raises, or gives another shape, sizes may have been misread.
        """
        judged, binding = self.outcomes.get(planned.id), planned.implementation.binding
        guessed = binding is not None and not binding.established
        misread = judged is not None and judged.outcome == "fail" and judged.reason not in OF_ANY_BINDING
        return planned.settled and not (guessed and misread)

    def counts(self, planned: Planned) -> bool:
        """Return whether a failure of a check counts for the verdict."""
        return self.plan.counts(planned) and self.settled(planned)

    @property
    def entrants(self) -> "list[Entrant]":
        """The pairs of case and contender to time."""
        return self.races.plan if self.races else []

    @property
    def broken(self) -> bool:
        """Whether an argument does not do what its name promises, which no check is about."""
        return any(i.binding is not None and i.binding.broken for i in self.plan.judgeable)

    @property
    def complete(self) -> bool:
        timed = self.races.cases if self.races else {}
        judged = all(p.id in self.outcomes for p in self.plan.planned)
        return judged and all(e.case.name in timed for e in self.entrants)


def make_plan(implementations: Sequence[Implementation | Unjudgeable], settings: Settings) -> Plan:
    """Return the plan of a run. Raises SpecError or DeviationError if a page, profile or deviations file is wrong."""
    judgeable = [i for i in implementations if isinstance(i, Implementation)]
    known = {i.name: deviations.load(i, settings.device) for i in judgeable}
    by = {i.name: _profile(i, settings) for i in judgeable}
    planned = tuple(p for i in judgeable for p in _planned(i, by[i.name], settings))
    return Plan(tuple(implementations), settings, planned, by, known)


def _profile(implementation: Implementation, settings: Settings) -> profiles.Profile:
    """Return the profile that an implementation is judged by: the run's, its own, or one through the other."""
    if not implementation.profile:
        return profiles.load(settings.profile or profiles.DEFAULT)
    try:
        own = profiles.load(implementation.profile)
    except registry.SpecError as error:
        raise registry.SpecError(f"{implementation.name} claims an {error}") from None
    return profiles.narrowed(profiles.load(settings.profile), own) if settings.profile else own


def _planned(implementation: Implementation, profile: profiles.Profile, settings: Settings) -> list[Planned]:
    entries = [e for e in profile.entries if e.component in implementation.components]
    if not entries:
        has = ", ".join(implementation.components)
        raise registry.SpecError(f"the profile {profile.name} judges nothing that {implementation.name} has: {has}")
    entries += _costs(implementation, entries) if settings.throughput else []
    checks = ((e, check_of(e.requirement, e.component)) for e in entries)
    return [Planned(implementation, e, checked, gradients=profile.gradients) for e, checked in checks]


def _costs(implementation: Implementation, entries: Sequence[profiles.Entry]) -> list[profiles.Entry]:
    """Return the checks of costs for --throughput, each component through the lens of its own profile."""
    direct = {e.component: e.lens for e in entries if e.lens.startswith("direct")}
    return [
        replace(e, lens=direct.get(e.component, e.lens))
        for e in profiles.load(profiles.THROUGHPUT).entries
        if e.component in implementation.components and e not in entries
    ]


def case_names(planned: Planned, settings: Settings) -> list[str]:
    """Return the names of all cases of a planned check."""
    return [case.name for case in planned.checked.cases(planned.subject, settings.seed, settings.device)]


def select(plan: Plan, keep: Callable[[Planned, str], bool]) -> Plan:
    """Return the plan of the checks and cases for which ``keep(planned, case name)`` is true."""
    names = {p.id: case_names(p, plan.settings) for p in plan.planned}
    chosen = [replace(p, kept=frozenset(name for name in names[p.id] if keep(p, name))) for p in plan.planned]
    left_out = any(len(p.kept or ()) < len(names[p.id]) for p in chosen)
    return replace(plan, planned=tuple(p for p in chosen if p.kept), whole=plan.planned, selected=left_out)


def doubted(plan: Plan, name: str, doubt: str) -> Plan:
    """Return the plan with the binding of one implementation put in doubt."""
    old = next(i for i in plan.judgeable if i.name == name)
    assert old.binding is not None, f"{name} has an adapter"
    notes = tuple(f"{n}, but {doubt}" if n.startswith("binding ") else n for n in old.notes)
    new = replace(old, notes=notes, binding=replace(old.binding, established=False, doubt=doubt, broken=()))

    def renewed(planned: tuple[Planned, ...]) -> tuple[Planned, ...]:
        return tuple(replace(p, implementation=new) if p.implementation is old else p for p in planned)

    implementations = tuple(new if i is old else i for i in plan.implementations)
    return replace(plan, implementations=implementations, planned=renewed(plan.planned), whole=renewed(plan.whole))


def only(plan: Plan, wanted: Callable[[Planned], bool]) -> Plan:
    """Return the plan with some of its checks alone, as if there were no others."""
    return replace(plan, planned=tuple(p for p in plan.planned if wanted(p)))
