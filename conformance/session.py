"""One run: the plan, fixed before anything is judged; the judging, one planned check at a time; the record.

The one generator of (implementation, component, lens, requirement) behind pytest, ``attnconf run`` and the kill matrix.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from attnconf.conformance import blind_spots, deviations
from attnconf.conformance.blind_spots import Watch
from attnconf.conformance.checks import Checked, all_checks
from attnconf.conformance.diagnosis import Diagnosis, explain
from attnconf.conformance.door import Implementation
from attnconf.conformance.illustration import Budget, Pictures, illustrate
from attnconf.conformance.judge import Judged, judge
from attnconf.conformance.loading import Unjudgeable
from attnconf.conformance.mutation import Mutant, all_mutants
from attnconf.conformance.subject import Subject
from attnconf.conformance.thorough import explore
from attnconf.spec import profiles, registry

if TYPE_CHECKING:  # imported where throughput is asked for
    from attnconf.conformance.timing.racing import Entrant, Races, Standing

# What is made of what: a component may be made of lower ones.
_HEIGHTS: Mapping[str, int] = {
    "multi_head_attention": 1,
    **dict.fromkeys(("encoder_layer", "decoder_layer", "token_attention"), 2),
    **dict.fromkeys(("encoder", "decoder"), 3),
    **dict.fromkeys(("encoder_decoder", "transformer"), 4),
}

Select = Callable[["Planned", str], bool]  # (planned check, case name) -> run it?


@dataclass(frozen=True)
class Planned:
    """One check that must come to exactly one outcome."""

    implementation: Implementation
    entry: profiles.Entry
    checked: Checked

    @property
    def id(self) -> str:
        return f"{self.implementation.name}-{self.entry.component}-{self.entry.lens}-{self.entry.requirement}"


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


@dataclass
class Session:
    """A run over several implementations."""

    implementations: list[Implementation | Unjudgeable]
    settings: Settings
    plan: list[Planned] = field(default_factory=list)
    selected: bool = False  # by -k: a verdict is then at most "incomplete"
    outcomes: dict[str, Judged] = field(default_factory=dict)
    explained: bool = False  # the mistakes behind failures have been looked for
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    pictures: dict[str, Pictures] = field(default_factory=dict)
    known: dict[str, list[deviations.Deviation]] = field(default_factory=dict)
    watch: Watch | None = None
    remarks: list[str] = field(default_factory=list)  # what was asked for and is not done
    whole: list[Planned] = field(default_factory=list)  # the plan before a selection
    races: "Races | None" = None  # what is timed
    _case: Callable[[str], Callable[[str], bool] | None] = field(default=lambda item: None)

    def profile_of(self, implementation: Implementation) -> profiles.Profile:
        """Return the profile that an implementation is judged by: the run's, else its own claim, else the default."""
        if self.settings.profile or not implementation.profile:
            return profiles.load(self.settings.profile or profiles.DEFAULT)
        try:
            return profiles.load(implementation.profile)
        except registry.SpecError as error:
            raise registry.SpecError(f"{implementation.name} claims an {error}") from None

    def make_plan(self) -> None:
        """Fix the plan. Raises SpecError or DeviationError where the suite itself is not in order."""
        checks = all_checks()
        for implementation in self.implementations:
            if isinstance(implementation, Unjudgeable):
                continue
            self.known[implementation.name] = deviations.load(implementation, self.settings.device)
            profile = self.profile_of(implementation)
            entries = [e for e in profile.entries if e.component in implementation.components]
            if not entries:
                has = ", ".join(implementation.components)
                raise registry.SpecError(
                    f"the profile {profile.name} judges nothing that {implementation.name} has: {has}"
                )
            for entry in [*entries, *self._costs(implementation, entries)]:
                if entry.requirement not in checks:
                    raise registry.SpecError(f"{entry.requirement} has no check")
                self.plan.append(Planned(implementation, entry, checks[entry.requirement]))
        self._make_watch()
        self._make_races()

    def _costs(self, implementation: Implementation, entries: list[profiles.Entry]) -> list[profiles.Entry]:
        """Return what is judged where throughput is asked for, each component through the lens of its own profile."""
        if not self.settings.throughput:
            return []
        direct = {e.component: e.lens for e in entries if e.lens.startswith("direct")}
        return [
            replace(e, lens=direct.get(e.component, e.lens))
            for e in profiles.load(profiles.THROUGHPUT).entries
            if e.component in implementation.components and e not in entries
        ]

    def _make_watch(self) -> None:
        """Watch the files of those whose blind spots are asked for, or that are judged by a full profile."""
        those = [i for i in self.implementations if isinstance(i, Implementation)]
        wanted = [i for i in those if self.settings.blind_spots or self.profile_of(i).name.startswith("full-")]
        if wanted and not blind_spots.available():
            self.remarks.append(blind_spots.MISSING)
        elif wanted:
            self.watch = watch = Watch([i.source for i in wanted])
            unseen = [i.name for i in wanted if watch.coverage(i.source) is None and self.settings.blind_spots]
            self.remarks += [f"no blind spots of {name}: it is no .py file of your own" for name in unseen]

    def _make_races(self) -> None:
        """Plan what is timed. Raises ValueError where the device has no cases."""
        if self.settings.throughput:
            from attnconf.conformance.timing.racing import Races

            those = [i for i in self.implementations if isinstance(i, Implementation)]
            self.races = Races(self.settings.throughput, self.settings.device, those, self.standing)
            self.races.make_plan()

    @property
    def entrants(self) -> "list[Entrant]":
        """Return who is to be timed in which case."""
        return self.races.plan if self.races else []

    def standing(self, implementation: Implementation, component: str) -> "Standing":
        """Return which MUSTs a component was found to violate until now, at the root."""
        from attnconf.conformance.timing.racing import Standing

        failed = [
            p for p in self.plan
            if p.implementation is implementation and p.entry.component == component and p.id in self.outcomes
            and self.outcomes[p.id].outcome == "fail" and self.outcomes[p.id].requirement.strength == "MUST"
            and not self.follows_from(p)
        ]  # fmt: skip
        known = [p.entry.requirement for p in failed if self.deviation(p)]
        left_out = any(
            p.implementation is implementation and p.entry.component == component and p.id not in self.outcomes
            and p.checked.requirement.strength == "MUST"
            for p in self.whole
        )  # fmt: skip
        return Standing([p.entry.requirement for p in failed if p.entry.requirement not in known], known, left_out)

    def cases(self, planned: Planned) -> list[str]:
        """Return the names of the cases of a planned check."""
        subject = Subject(planned.implementation, planned.entry.component, planned.entry.lens)
        return [case.name for case in planned.checked.cases(subject, self.settings.seed, self.settings.device)]

    def select(self, keep: Select, race: "Callable[[Entrant], bool]" = lambda entrant: True) -> None:
        """Keep the planned checks, and of each the cases, that ``keep`` wants, and those to be timed."""
        if self.races:
            self.races.plan = [entrant for entrant in self.races.plan if race(entrant)]
        self.whole = self.plan
        chosen = {p.id: [c for c in self.cases(p) if keep(p, c)] for p in self.plan}
        self.selected = any(len(chosen[p.id]) < len(self.cases(p)) for p in self.plan)
        self.plan = [p for p in self.plan if chosen[p.id]]
        self.selected = self.selected or len(self.plan) < len(self.whole)
        self._case = lambda item: lambda case: case in chosen[item]

    def run(self, planned: Planned) -> Judged:
        """Judge one planned check."""
        with self.watch or nullcontext():
            return self._judge(planned)

    def _judge(self, planned: Planned) -> Judged:
        subject = Subject(planned.implementation, planned.entry.component, planned.entry.lens)
        judged = judge(subject, planned.checked, self.settings.seed, self.settings.device, self._case(planned.id))
        if judged.outcome not in ("fail", "pass"):
            judged.log = []
        if self.settings.thorough and judged.outcome in ("pass", "fail"):
            cases = planned.checked.cases(subject, self.settings.seed, self.settings.device)
            judged.explored = explore(subject, planned.checked, cases)
        self.outcomes[planned.id] = judged
        return judged

    def follows_from(self, planned: Planned) -> list[str]:
        """Return the failures at the root of this one: failed presuppositions that have none of their own.

        Where NaN was compared with NaN, that is the first of such failures.
        """
        failed = {p.entry.requirement: judged for p, judged in self._group(planned) if judged.outcome == "fail"}
        roots = [name for name in failed if not registry.ancestors(name) & set(failed)]
        blind = [name for name in roots if _blind(failed[name])]
        causes = set(roots) & registry.ancestors(planned.entry.requirement)
        if planned.entry.requirement in blind[1:]:
            causes.add(blind[0])
        return sorted({blind[0] if cause in blind else cause for cause in causes})

    def deviation(self, planned: Planned) -> deviations.Deviation | None:
        """Return the known deviation that accounts for this failure, itself or by what it follows from."""
        known = {
            d.requirement: d
            for d in self.known.get(planned.implementation.name, [])
            if d.component == planned.entry.component
        }
        if planned.entry.requirement in known:
            return known[planned.entry.requirement]
        roots = self.follows_from(planned)
        return known[roots[0]] if roots and all(root in known for root in roots) else None

    def _group(self, planned: Planned) -> Iterable[tuple[Planned, Judged]]:
        for other in self.plan:
            same = other.implementation is planned.implementation and other.entry.component == planned.entry.component
            if same and other.id in self.outcomes:
                yield other, self.outcomes[other.id]

    def explain(self) -> None:
        """Look for the mistake behind every failure that follows from no other, and draw what it does."""
        if self.selected:
            self._explain_in_full()
        else:
            self._explain()
        self.explained = True
        self.illustrate()

    def _explain(self, asked: Collection[str] = ()) -> None:
        """Explain failures in what others are made of first; ``asked``: also these, whatever they follow from."""
        explained: set[str] = set()
        for planned in sorted(self.plan, key=lambda p: _HEIGHTS.get(p.entry.component, 0)):
            if planned.id in explained or not self._unexplained(planned):
                continue
            group = list(self._group(planned))
            roots = [(p, j) for p, j in group if self._unexplained(p) or p.id in asked]
            known = {p.id for p, _ in roots}
            others = [(p, j) for p, j in group if j.outcome == "fail" and p.id not in known]
            passed = [j for _, j in group if j.outcome == "pass"]
            seen = {convention: choice for _, j in group for convention, choice in j.convention.items()}
            declares = {**seen, **planned.implementation.declared(planned.entry.component)}
            beneath, supposed = self._beneath(planned), planned.implementation.mistake
            found = explain([j for _, j in roots], [j for _, j in others], passed, declares, beneath, supposed)
            explained |= known
            failures = [*roots, *others]
            self.diagnoses |= {p.id: d for (p, _), d in zip(failures, found, strict=True) if d}

    def _explain_in_full(self) -> None:
        """Explain the failures of a selection from all that there is to judge: one case tells little."""
        mine = [p for p in self.plan if self._unexplained(p)]
        failing = {(p.implementation.name, p.entry.component) for p in mine}
        asked = {e.requirement for e in profiles.load(profiles.DEFAULT).entries}  # others take minutes
        asked |= {p.entry.requirement for p in self.plan}
        plan = [
            p for p in self.whole
            if (p.implementation.name, p.entry.component) in failing and p.entry.requirement in asked
        ]  # fmt: skip
        full = Session(self.implementations, replace(self.settings, thorough=False), plan, known=self.known)
        for planned in plan:
            full.run(planned)
        full._explain({p.id for p in mine})
        self.diagnoses |= {p.id: full.diagnoses[p.id] for p in mine if p.id in full.diagnoses}

    def _beneath(self, planned: Planned) -> list[Mutant]:
        """Return the mistakes that were named in lower components of the same file."""
        height = _HEIGHTS.get(planned.entry.component, 0)
        lower = [
            self.diagnoses[p.id]
            for p in self.plan
            if p.id in self.diagnoses
            and p.implementation.source == planned.implementation.source
            and _HEIGHTS.get(p.entry.component, 0) < height
        ]
        named = {m.id: m for diagnosis in lower for m in diagnosis.mutants}
        return [m for name, m in named.items() if name in all_mutants()]

    def _unexplained(self, planned: Planned) -> bool:
        """Return whether a failure follows from no other and is not a known deviation."""
        judged = self.outcomes.get(planned.id)
        failed = judged is not None and judged.outcome == "fail"
        return failed and not self.follows_from(planned) and not self.deviation(planned)

    def illustrate(self) -> None:
        """Draw the smallest example, and who depends on whom, for the first failures at the root of a MUST."""
        budget, causes = Budget(), set[tuple[str, ...]]()
        for planned in self.plan:
            found = self.diagnoses.get(planned.id)
            named = tuple(f"{m.id} {m.hint}" for m in found.mutants) if found else (planned.id,)
            cause = (planned.implementation.name, planned.entry.component, *named)
            if not self._unexplained(planned) or cause in causes:  # of one cause one is shown
                continue
            causes.add(cause)
            judged = self.outcomes[planned.id]
            if judged.requirement.strength == "MUST" or self.settings.strict:
                subject = Subject(planned.implementation, planned.entry.component, planned.entry.lens)
                cases = planned.checked.cases(subject, self.settings.seed, self.settings.device)
                self.pictures[planned.id] = illustrate(subject, planned.checked, judged, cases, budget)

    def stale(self) -> list[str]:
        """Return a line for every known deviation that was judged and did not fail."""
        lines = []
        for name, entries in self.known.items():
            for d in entries:
                judged = [
                    self.outcomes[p.id]
                    for p in self.plan
                    if p.implementation.name == name
                    and (p.entry.requirement, p.entry.component) == (d.requirement, d.component)
                    and p.id in self.outcomes
                ]
                if judged and not self.selected and all(j.outcome != "fail" for j in judged):
                    lines.append(f"{name}: the known deviation {d.requirement} on {d.component} does not fail any more")
        return lines

    @property
    def complete(self) -> bool:
        timed = self.races.cases if self.races else {}
        return all(p.id in self.outcomes for p in self.plan) and all(e.case.name in timed for e in self.entrants)


def _blind(judged: Judged) -> bool:
    """Return whether a failure says no more than that what came out is not finite."""
    return bool(judged.failing and judged.failing.failure and judged.failing.failure.details.get("blind"))
