"""Where the results come from: warnings, environments, and the commands that repeat the runs."""

import shlex
from typing import Any

from attnconf.reports.merging import Named, Record

SUITE = ("version", "commit", "profile", "seed", "strict")
ENVIRONMENT = ("python", "torch", "platform", "cpus", "threads", "device", "accelerator")
APART = (("version", "versions of the suite"), ("seed", "seeds"), ("profile", "profiles"))


def warnings(records: Named) -> list[str]:
    """Return what makes the records less than they seem: broken off, a selection, unlike each other."""
    lines = []
    for file, record in records:
        if not record["complete"]:
            done = f"{len(record['results'])} of {record['planned']} planned checks came to an outcome"
            lines.append(f"INCOMPLETE: {file} is from a run that was cut short. {done}.")
        if record["suite"]["selected"]:
            lines.append(f"A selection: {file} holds a part of the checks only.")
    for key, what in APART:
        values = {record["suite"][key] for _, record in records}
        if len(values) > 1:
            lines.append(f"The files differ in their {what}: {', '.join(sorted(map(str, values)))}.")
    return lines


def runs(records: Named) -> list[dict[str, Any]]:
    """Return rows on the runs, (name, text): first what all have in common, then what is each file's own."""
    rows = [_rows(record) for _, record in records]
    common = [row for row in rows[0] if all(row in of_one for of_one in rows)]
    found = [{"file": "In all of them" if len(records) > 1 else records[0][0], "rows": common}]
    if len(records) == 1:
        common.append(("repeat", command(*records[0])))
        return found
    for (file, record), of_one in zip(records, rows, strict=True):
        own = [row for row in of_one if row not in common]
        found.append({"file": file, "rows": [*own, ("repeat", command(file, record))]})
    return found


def _rows(record: Record) -> list[tuple[str, str]]:
    known = [(key, record["suite"][key]) for key in SUITE] + [(key, record["environment"][key]) for key in ENVIRONMENT]
    complete = "yes" if record["complete"] else f"NO: {len(record['results'])} of {record['planned']} planned checks"
    return [*((key, str(value)) for key, value in known if value is not None), ("complete", complete)]


def command(file: str, record: Record) -> str:
    """Return the command that repeats a run."""
    suite = record["suite"]
    options = [f"--impl={i['name']}" for i in record["implementations"]]
    options += [f"--profile={suite['profile']}"] if suite["profile"] != suite.get("default_profile") else []
    options += [f"--convention={name}={choice}" for name, choice in suite.get("prescribed", {}).items()]
    options += [f"--seed={suite['seed']}"] if suite["seed"] else []
    options += ["--strict"] if suite["strict"] else []
    options += ["--thorough"] if suite.get("thorough") else []
    options += [f"--device={record['environment']['device']}"] if record["environment"]["device"] != "cpu" else []
    options += [f"--throughput={record['throughput']['cases_of']}"] if record.get("throughput") else []
    options += [f"--results={file}"]
    part = "   # and -k, as only a part was judged" if suite["selected"] else ""
    return " ".join(["attnconf run", *map(shlex.quote, options)]) + part
