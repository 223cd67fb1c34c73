"""Checks of the chapter spec/throughput.md that need no clock: what is counted is the same on every machine."""

import math
from collections.abc import Iterator, Mapping

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.throughput import stimuli
from attnconf.conformance.chapters.throughput.stimuli import count, workload
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure
from attnconf.conformance.engine.requirement import as_declared, requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.counter import Counts, PassCost

Evidence = Iterator[Measure]
SLACK = {1: 1.15, 2: 2.1}  # the largest exponent that passes for growth in proportion, and with the square
GROWTH = {1: "in proportion", 2: "with the square"}
RECOMPUTED = 3  # of forward's FLOPs: a gradient for each factor of every product, and forward once more
NUMBERS = 8  # in float32, alive at one time for each score
CLAIMED = 16  # times as long, where linear memory is claimed: what works in blocks has more than one


# -- operations


@requirement("PERF-OPS-1", stimuli.USUAL)
def operations_do_not_depend_on_the_length(subject: Subject, case: Case) -> Evidence:
    longer = case.but(L=3 * case.L, S=3 * case.S)
    yield from as_many(subject, case, longer, f"{case.L} tokens", f"{longer.L}")


@requirement("PERF-OPS-2", stimuli.USUAL)
def operations_do_not_depend_on_the_number_of_heads(subject: Subject, case: Case) -> Evidence:
    more = as_declared(case.but(H=2 * case.H), subject)
    yield from as_many(subject, case, more, f"{case.H} heads", f"{more.H}")


@requirement("PERF-OPS-3", stimuli.USUAL)
def operations_do_not_depend_on_the_number_of_samples(subject: Subject, case: Case) -> Evidence:
    more = case.but(B=3 * case.B)
    yield from as_many(subject, case, more, f"{case.B} samples", f"{more.B}")


def as_many(subject: Subject, case: Case, larger: Case, one: str, other: str) -> Evidence:
    """Yield a measure for each pass if it takes no more operations in the larger case."""
    for name, few, many in both_passes(count(subject, case, True), count(subject, larger, True)):
        least, most = few.operations, many.operations
        got, bound = float(sum(most.values())), float(sum(least.values()))
        if got <= bound:
            yield Measure(got, bound)
        else:
            message = f"{name}: {bound:.0f} operations for {one}, {got:.0f} for {other}: {grown(least, most)}"
            raise Failure("property", message, error=got, bound=bound, source="as many as in the smaller case")


def both_passes(one: Counts, other: Counts) -> Iterator[tuple[str, PassCost, PassCost]]:
    yield "forward", one.forward, other.forward
    if one.backward and other.backward:
        yield "backward", one.backward, other.backward


def grown(least: Mapping[str, int], most: Mapping[str, int]) -> str:
    """Return which operations there are more of, those first that grow most."""
    more = {name: n - least.get(name, 0) for name, n in most.items() if n > least.get(name, 0)}
    names = sorted(more, key=lambda name: -more[name])
    return ", ".join(f"{name} {least.get(name, 0)} → {most[name]}" for name in names[:3])


# -- arithmetic


@requirement("PERF-FLOP-1", stimuli.LONG)
def forward_computes_no_more_than_the_formula(subject: Subject, case: Case) -> Evidence:
    _, need = workload(subject, case)
    yield at_most("forward", count(subject, case, False).forward.flops, need, need)


@requirement("PERF-FLOP-2", stimuli.LONG)
def backward_computes_no_more_than_three_times_that(subject: Subject, case: Case) -> Evidence:
    (_, need), backward = workload(subject, case), count(subject, case, True).backward
    yield at_most("backward", backward.flops if backward else 0, RECOMPUTED * need, need)


def at_most(name: str, flops: int, bound: int, need: int) -> Measure:
    if flops <= bound:
        return Measure(float(flops), float(bound))
    message = f"{name}: {flops:,} FLOPs, {flops / need:.3g} times the {need:,} of forward's formula"
    message += f", want at most {bound / need:.3g} times" if bound > need else ""
    raise Failure("property", message, error=float(flops), bound=float(bound), source="FLOPs of the formula")


# -- memory


@requirement("PERF-MEM-1", stimuli.LONG)
def the_memory_of_forward_grows_as_declared(subject: Subject, case: Case) -> Evidence:
    peaks = [(c.L, count(subject, c, False).forward.peak_bytes) for c in lengths(subject, case)]
    yield grows("forward", peaks, power(subject))


@requirement("PERF-MEM-2", stimuli.LONG)
def the_memory_of_backward_grows_as_declared(subject: Subject, case: Case) -> Evidence:
    counts = [(c.L, count(subject, c, True).backward) for c in lengths(subject, case)]
    yield grows("backward", [(length, work.peak_bytes) for length, work in counts if work], power(subject))


@requirement("PERF-MEM-3", stimuli.LONG)
def forward_keeps_few_numbers_for_each_score(subject: Subject, case: Case) -> Evidence:
    got = count(subject, case, False).forward.peak_bytes / 4
    pairs = case.B * case.H * case.L * case.S
    bound = float(NUMBERS * pairs)
    if got > bound:
        message = f"forward: memory for {got / pairs:.3g} numbers in float32 for each score, want at most {NUMBERS}"
        raise Failure("property", message, error=got, bound=bound, source="numbers for each score")
    yield Measure(got, bound)


def attends(subject: Subject) -> bool:
    """Return whether the component looks at every pair of tokens: it is attention, or made of it."""
    return "attention" in (subject.component, *COMPONENTS[subject.component].parts)


def power(subject: Subject) -> int:
    """Return with which power of the length memory may grow, by what the component is and declares."""
    return 2 if attends(subject) and subject.choice("memory") == "quadratic" else 1


def lengths(subject: Subject, case: Case) -> Iterator[Case]:
    """Yield the case and one of twice the length; both longer where linear memory is claimed for attention."""
    factor = CLAIMED if attends(subject) and power(subject) == 1 else 1
    for n in (factor, 2 * factor):
        yield case.but(L=n * case.L, S=n * case.S)


def grows(name: str, peaks: list[tuple[int, int]], wanted: int) -> Measure:
    """Return the measure if memory grows with no more than that power of the length."""
    (short, few), (long, many) = peaks
    slope = math.log2(many / few) if few else 0.0
    if slope <= SLACK[wanted]:
        return Measure(slope, SLACK[wanted])
    message = f"{name}: {kilobytes(few)} alive for {short} tokens, {kilobytes(many)} for {long}: "
    message += f"grows with length^{slope:.2f}, want at most {SLACK[wanted]} ({GROWTH[wanted]})"
    raise Failure("property", message, error=slope, bound=SLACK[wanted], source="growth of memory with length")


def kilobytes(n: int) -> str:
    return f"{n / 1000:,.0f} kB"
