"""A run as data: the plan, fixed before anything is judged, and what has come of it so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.coverage import Watch
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.loading import deviations
from attnconf.conformance.loading.deviations import Deviation
from attnconf.spec import profiles, registry

if TYPE_CHECKING:  # imported where throughput is asked for, and where there is something to draw or to explain
    from attnconf.conformance.diagnosis.search import Diagnosis
    from attnconf.conformance.pictures.illustrate import Pictures
    from attnconf.conformance.timing.run import Entrant, Races


@dataclass
class Settings:
    """What the command line says of a run."""

    profile: str | None = None
    seed: int = 0
    device: str = "cpu"
    strict: bool = False
    thorough: bool = False
    blind_spots: bool = False  # look for lines that no check executes; a full profile does so in any case
    throughput: str | None = None  # also judge what a call costs, and time it: "smoke" or "grid"
    prescribed: Mapping[str, str] = field(default_factory=dict)  # conventions that all are held to


@dataclass(frozen=True)
class Planned:
    """One check that must come to exactly one outcome."""

    implementation: Implementation
    entry: profiles.Entry
    checked: Checked
    kept: frozenset[str] | None = None  # the names of the cases that a selection keeps; None: all

    @property
    def id(self) -> str:
        return f"{self.implementation.name}-{self.entry.component}-{self.entry.lens}-{self.entry.requirement}"

    @property
    def subject(self) -> Subject:
        """A new subject: the component as the check sees it, with nothing asked yet."""
        return Subject(self.implementation, self.entry.component, self.entry.lens)


@dataclass(frozen=True)
class Plan:
    """What is judged, in this order."""

    implementations: tuple[Implementation | Unjudgeable, ...]
    settings: Settings
    planned: tuple[Planned, ...]
    profiles: Mapping[str, profiles.Profile]  # by the implementation's name
    known: Mapping[str, Sequence[Deviation]]  # likewise
    whole: tuple[Planned, ...] = ()  # what a selection chose from; empty where none was made
    selected: bool = False  # a selection left something out: a verdict is then at most "incomplete"

    @property
    def judgeable(self) -> list[Implementation]:
        return [i for i in self.implementations if isinstance(i, Implementation)]


@dataclass
class Run:
    """A plan, and what has come of it so far, by the ids of planned checks."""

    plan: Plan
    outcomes: dict[str, Judged] = field(default_factory=dict)
    diagnoses: "dict[str, Diagnosis]" = field(default_factory=dict)
    explained: bool = False  # the mistakes behind failures have been looked for
    pictures: "dict[str, Pictures]" = field(default_factory=dict)
    watch: Watch | None = None  # which lines of the implementations' files were executed
    races: "Races | None" = None  # what is timed
    remarks: list[str] = field(default_factory=list)  # what was asked for and is not done

    @property
    def settings(self) -> Settings:
        return self.plan.settings

    @property
    def entrants(self) -> "list[Entrant]":
        """Who is to be timed in which case."""
        return self.races.plan if self.races else []

    @property
    def complete(self) -> bool:
        timed = self.races.cases if self.races else {}
        judged = all(p.id in self.outcomes for p in self.plan.planned)
        return judged and all(e.case.name in timed for e in self.entrants)


def make_plan(implementations: Sequence[Implementation | Unjudgeable], settings: Settings) -> Plan:
    """Return the plan of a run. Raises SpecError or DeviationError where the suite itself is not in order."""
    judgeable = [i for i in implementations if isinstance(i, Implementation)]
    known = {i.name: deviations.load(i, settings.device) for i in judgeable}
    by = {i.name: _profile(i, settings) for i in judgeable}
    planned = tuple(p for i in judgeable for p in _planned(i, by[i.name], settings))
    return Plan(tuple(implementations), settings, planned, by, known)


def _profile(implementation: Implementation, settings: Settings) -> profiles.Profile:
    """Return the profile that an implementation is judged by: the run's, else its own claim, else the default."""
    if settings.profile or not implementation.profile:
        return profiles.load(settings.profile or profiles.DEFAULT)
    try:
        return profiles.load(implementation.profile)
    except registry.SpecError as error:
        raise registry.SpecError(f"{implementation.name} claims an {error}") from None


def _planned(implementation: Implementation, profile: profiles.Profile, settings: Settings) -> list[Planned]:
    entries = [e for e in profile.entries if e.component in implementation.components]
    if not entries:
        has = ", ".join(implementation.components)
        raise registry.SpecError(f"the profile {profile.name} judges nothing that {implementation.name} has: {has}")
    entries += _costs(implementation, entries) if settings.throughput else []
    return [Planned(implementation, e, check_of(e.requirement, e.component)) for e in entries]


def _costs(implementation: Implementation, entries: Sequence[profiles.Entry]) -> list[profiles.Entry]:
    """Return what is judged where throughput is asked for, each component through the lens of its own profile."""
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
    """Return the plan of those checks, and of each those cases, that ``keep(planned, case name)`` wants."""
    names = {p.id: case_names(p, plan.settings) for p in plan.planned}
    chosen = [replace(p, kept=frozenset(name for name in names[p.id] if keep(p, name))) for p in plan.planned]
    left_out = any(len(p.kept or ()) < len(names[p.id]) for p in chosen)
    return replace(plan, planned=tuple(p for p in chosen if p.kept), whole=plan.planned, selected=left_out)


def only(plan: Plan, wanted: Callable[[Planned], bool]) -> Plan:
    """Return the plan of some of its checks, as if there were no others."""
    return replace(plan, planned=tuple(p for p in plan.planned if wanted(p)))
