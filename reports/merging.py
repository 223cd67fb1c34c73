"""Several results records as one list of implementations, each under a label of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
Result = dict[str, Any]
Named = Sequence[tuple[str, Record]]  # records, each with the name of its file


@dataclass(frozen=True)
class Judged:
    """One implementation of one run."""

    label: str  # its name; with its version or file where several have that name
    file: str
    entry: Mapping[str, Any]  # of the record's ``implementations``
    record: Record  # the run's record with what concerns this implementation alone

    @property
    def results(self) -> list[Result]:
        return self.record["results"]  # type: ignore[no-any-return]

    @property
    def verdicts(self) -> list[Result]:
        return self.record["verdicts"]  # type: ignore[no-any-return]

    def said(self, verdict: Result) -> Result:
        """Return a verdict as it may be told: of a run that was cut short it is incomplete, whatever was found."""
        if self.record["complete"]:
            return verdict
        so_far = f"the run was cut short; so far {verdict['verdict']}"
        return {**verdict, "verdict": "incomplete", "reason": "; ".join(filter(None, (so_far, verdict["reason"])))}


def judged(records: Named) -> list[Judged]:
    """Return the implementations of all records, in their order."""
    found = []
    for (file, record), labels in zip(records, _labels(records), strict=True):
        results, verdicts = (_by_name(record[key]) for key in ("results", "verdicts"))
        for entry in record["implementations"]:
            name = entry["name"]
            mine = {"implementations": [entry], "results": results.get(name, []), "verdicts": verdicts.get(name, [])}
            found.append(Judged(labels[name], file, entry, {**record, **mine}))
    return found


def merge(records: Named) -> Record:
    """Return one record of all implementations, under their labels."""
    return merged(judged(records))


def merged(implementations: Iterable[Judged]) -> Record:
    """Return one record of these implementations, under their labels."""
    whole: Record = {"implementations": [], "results": [], "verdicts": []}
    for i in implementations:
        whole["implementations"].append({**i.entry, "name": i.label, "file": i.file})
        whole["results"] += [{**r, "implementation": i.label} for r in i.results]
        whole["verdicts"] += [{**i.said(v), "implementation": i.label} for v in i.verdicts]
    return whole


def _by_name(entries: Iterable[Result]) -> dict[str, list[Result]]:
    by_name: dict[str, list[Result]] = {}
    for entry in entries:
        by_name.setdefault(entry["implementation"], []).append(entry)
    return by_name


def _labels(records: Named) -> list[dict[str, str]]:
    """Return, for each file, the labels of its implementations."""
    versions: dict[str, list[Any]] = {}
    for _, record in records:
        for i in record["implementations"]:
            versions.setdefault(i["name"], []).append(i["version"])

    def label(i: Mapping[str, Any], file: str) -> str:
        known = versions[i["name"]]
        if len(known) == 1:
            return str(i["name"])
        apart = len(set(known)) == len(known) and None not in known
        return f"{i['name']} ({i['version'] if apart else file})"

    return [{i["name"]: label(i, file) for i in record["implementations"]} for file, record in records]
