"""``attnconf explain readable-1``: the sizes of a case, and the requirements that are judged on it. Needs torch."""

import textwrap
from collections.abc import Iterator

from attnconf.conformance.chapters.contents import all_checks, calls
from attnconf.conformance.engine.case import Case
from attnconf.explaining import width

MEANING = (
    "A case: named sizes, and numbers drawn from the name and the seed of the run, the same for every implementation. "
    "A component that cannot have these sizes is judged in others; a failure prints those that it had."
)


def case_names() -> list[str]:
    """Return the names of all cases."""
    return list(dict.fromkeys(case.name for case, _ in _uses()))


def explain_case(name: str) -> list[str]:
    """Return the lines on the case of this name."""
    used = [(case, requirement) for case, requirement in _uses() if case.name == name]
    sizes = str(used[0][0]).partition(": ")[2]
    return [
        f"{name}  (case)",
        *textwrap.wrap(MEANING, width(), initial_indent="  ", subsequent_indent="  "),
        "",
        f"  sizes        {sizes}",
        *_field("judges", ", ".join(dict.fromkeys(requirement for _, requirement in used))),
        f"  run          attnconf run --impl NAME -k {name}",
    ]


def _uses() -> Iterator[tuple[Case, str]]:
    """Yield every case with each requirement that is judged on it."""
    judged = [(name, checked.families) for name, checked in all_checks().items()]
    judged += [(law, trials.families) for trials_by_law in calls().values() for law, trials in trials_by_law.items()]
    yield from ((case, name) for name, families in judged for family in families for case in family)


def _field(label: str, text: str) -> list[str]:
    first = f"  {label:<12} "
    return textwrap.wrap(text, width(), initial_indent=first, subsequent_indent=" " * 15, break_on_hyphens=False)
