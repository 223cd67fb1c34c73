"""Print a run's header and final page through pytest's terminal reporter, in colour where pytest uses colour.

pytest uses colour on a terminal, unless NO_COLOR is set or --color=no is given.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from attnconf.conformance.run.plan import Run


def show_header(reporter: Any, run: "Run", verbosity: int) -> None:
    """Print the implementations, versions and settings. ``verbosity``: pytest's, 1 for -v, -1 for -q."""
    from attnconf.conformance.run.record import record
    from attnconf.reports.terminal import header, width

    show(reporter, [*header(record(run), width(), verbose=verbosity > 0), *run.remarks])


def show_page(reporter: Any, run: "Run", verbosity: int, findings: list[str], *, unfinished: bool = False) -> None:
    """Print the page of a run (failures, verdicts, cures), and the findings behind it.

    ``unfinished``: print the failures so far alone, without verdicts; with -q not even these.
    """
    from attnconf.conformance.run.record import record
    from attnconf.reports.failures import failures
    from attnconf.reports.terminal import page, width

    if unfinished:
        lines = [] if verbosity < 0 else [*failures(record(run), width(), verbosity > 0), ""]
    else:
        lines = page(record(run), width(), verbose=verbosity > 0, brief=verbosity < 0)
    first = 1 if lines[:1] == [""] else 0  # pytest has ended the line of its own
    show(reporter, [*lines[first:], *findings])


def show(reporter: Any, lines: list[str]) -> None:
    """Print lines, in colour where pytest uses colour."""
    if reporter is None:
        return
    if reporter.hasmarkup:
        from attnconf.reports.colours import painted

        lines = painted(lines)
    for line in lines:
        reporter.write_line(line)


def kept(run: "Run", results: "Path | None", unwritten: bool) -> str:
    """Return the words on an interrupted run: the number of its judgements, and the file that has them."""
    judged = f"{len(run.outcomes)} of {len(run.plan.planned)} planned checks were judged"
    if run.races:
        cases = {entrant.case.name for entrant in run.entrants}
        judged += f", and {len(cases & run.races.cases.keys())} of {len(cases)} cases timed"
    kept = "nothing was kept" if unwritten else f"kept in {results}"
    kept = kept if results else "nothing was kept (no --results)"
    return f"interrupted: {judged}; {kept}"
