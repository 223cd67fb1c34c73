"""The table of systems that the project began with: spec page, judged components, and the command that shows it.

    python -m attnconf.reports.systems RESULTS.json      writes reports/systems.md

A pure function of systems.toml and of a results file that has all its implementations.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

from attnconf.reports import record
from attnconf.reports.kill_matrix import table

HERE = Path(__file__).parent
INTRODUCTION = """\
# Systems

Five pieces of teaching material started the project ([references](../spec/references.md)).
Every system in them is specified, has a reference and checks, and an implementation that is judged by them, or a command that shows it.
Mistakes of the originals are mutants, in the [kill matrix](kill-matrix.md).
This page is written by `python -m attnconf.reports.systems RESULTS.json`, from a run over all shipped adapters."""  # noqa: E501
COLUMNS = (
    "system",
    "what it is",
    "specified, reference and checks",
    "judged",
    "verdict",
    "command",
    "mistakes in the original",
)


def systems() -> dict[str, dict[str, Any]]:
    """Return the systems by number."""
    return tomllib.loads((HERE / "systems.toml").read_text(encoding="utf-8"))


def command_of(system: dict[str, Any]) -> str:
    """Return the command line that shows a system working."""
    return str(system.get("shows") or f"attnconf run --impl {system['impl']}")


def render(results: record.Record) -> str:
    """Return the page. Raises ValueError where an implementation of a system was not judged."""
    rows = [
        (
            number,
            system["what"],
            ", ".join(f"[{chapter}](../spec/{chapter}.md)" for chapter in system["chapters"]),
            f"{system['impl']}: {', '.join(system['components'])}" if "impl" in system else "",
            "; ".join(_verdict(results, system["impl"], c) for c in system["components"]) if "impl" in system else "",
            f"`{command_of(system)}`",
            ", ".join(system.get("mistakes", ())),
        )
        for number, system in systems().items()
    ]
    return "\n".join([INTRODUCTION, "", *table(COLUMNS, rows)]) + "\n"


def _verdict(results: record.Record, implementation: str, component: str) -> str:
    for verdict in results["verdicts"]:
        if (verdict["implementation"], verdict["component"]) == (implementation, component):
            reason = f" ({verdict['reason']})" if verdict["reason"] else ""
            return f"{verdict['verdict']}, {verdict['counts']['pass']} pass{reason}"
    raise ValueError(f"the results hold no verdict on {component} of {implementation}")


if __name__ == "__main__":
    record.write_text(HERE / "systems.md", render(record.read(Path(sys.argv[1]))))
