"""The text of a run: header, failures, sections, verdicts, summary. Made from the record alone."""

import re
import shutil
from typing import Any

from attnconf.reports import throughput, unrecognised
from attnconf.reports.failures import WIDTH, blocks, explored, failures, wrapped
from attnconf.reports.summary import blind_spots, is_one, summary
from attnconf.reports.tables import counts, sections, table

Record = dict[str, Any]
IN_SHORT, ROWS = ("    constructor ", "    weights "), 3  # lines of a binding that are not shown where they are longer
OF_ONE = ("    function ", "    forward ", "    conventions ")  # lines left out if there are several bindings
LOWERING = ("option ", "not judged ", "in doubt ", "prescribed ", "binding ")  # lines that -q shows as well
SURE = "equal to the textbook on fresh weights"
LABELS = ("wrong:", "fix:", "try:", "where:", "why:", "next:", "later:")


def width() -> int:
    """Return the number of characters in a line of the terminal."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def page(record: Record, columns: int = WIDTH, *, verbose: bool = False, brief: bool = False) -> list[str]:
    """Return the lines printed at the end of a run, of ``columns`` characters.

    ``verbose``: with the table of all requirements, and every failure in full. ``brief``: verdicts and summary alone.
    Recommendations are shown in full with ``verbose``, or if a selection (-k) was made.
    """
    one = is_one(record["implementations"])
    in_full = verbose or record["suite"]["selected"]
    if brief:
        parts = [_lowering(record, columns), verdicts(record), summary(record)]
    else:
        parts = [
            failures(record, columns, verbose),
            [line for lines in unrecognised.blocks(record, columns, verbose) for line in ["", *lines]],
            explored(record),
            sections(record) if one else [],
            table(record, columns) if verbose or not one else [],
            blind_spots(record),
            verdicts(record),
            throughput.lines(record),
            _optional(record, columns, in_full) if in_full or not one else [],
            summary(record, shown_before=in_full),
        ]
    return [line for part in parts for text in part for line in _fitted(text, columns)]


def _fitted(line: str, columns: int) -> list[str]:
    """Return a line of a summary, broken to the terminal's width; a line of code stays whole."""
    label = re.match(rf" *({'|'.join(LABELS)}) +", line)
    copied = label and label[1] == "where:" and not line.startswith("somewhere", label.end())
    if not label or copied or len(line) <= columns:
        return [line]
    first, *others = wrapped(line[label.end() :], columns - label.end())
    return [label[0] + first, *(" " * label.end() + other for other in others)]


def header(record: Record, columns: int = WIDTH, *, verbose: bool = False) -> list[str]:
    """Return the lines on versions, device, seed, implementations and bindings. Long lines are broken."""
    suite, env = record["suite"], record["environment"]
    accelerator = f" ({env['accelerator']})" if env["accelerator"] else ""
    lines = [
        f"attnconf {suite['version']}, torch {env['torch']}, {env['device']}{accelerator}, "
        f"{env['threads']} thread(s), seed {suite['seed']}"
        + (f", course {suite['course']['name']}" if "course" in suite else "")
    ]
    for i in record["implementations"]:
        binding = f"{', '.join(i['components'])} ({i['binding']}; profile {i['profile']})"
        lines.append(f"{i['name']}: {binding if i['components'] else 'nothing that can be judged'}")
        bound = [f"    {line}" for line in i.get("bound", [])]
        lines += bound if verbose or len(record["implementations"]) == 1 else _told_of_several(bound)
    return [part for line in lines for part in _laid_out(line, columns, verbose)]


def _lowering(record: Record, columns: int) -> list[str]:
    """Return the lines of the header on what lowers a verdict, or may."""
    lines = []
    for i in record["implementations"]:
        bound = [f"    {line}" for line in i.get("bound", []) if line.startswith(LOWERING) and not line.endswith(SURE)]
        lines += [f"{i['name']}:", *bound] if bound else []
    return [part for line in lines for part in _laid_out(line, columns, True)]


def _told_of_several(bound: list[str]) -> list[str]:
    """Return the lines of a binding to show if there are several: how certain it is, and prescribed conventions."""
    return [line for line in bound if not line.startswith((*IN_SHORT, *OF_ONE))]


def _laid_out(line: str, columns: int, whole: bool) -> list[str]:
    """Return a line of the header, broken to the terminal's width; very long constructors and weights are left out."""
    if len(line) <= columns:
        return [line]
    indent = 17 * line.startswith("    ")  # a binding's lines have two columns
    first, *others = wrapped(line[indent:], columns - indent)
    if line.startswith(IN_SHORT) and len(others) >= ROWS and not whole:
        return [f"{line[:indent]}-v shows it: {1 + len(others)} lines"]
    return [line[:indent] + first, *(" " * (indent or 4) + other for other in others)]


def _optional(record: Record, columns: int, in_full: bool) -> list[str]:
    """Return the lines on recommendations that are not followed: one each, or in full."""
    recommendations = blocks(record, columns, in_full, optional=True)
    if not recommendations:
        return []
    title = "could be better: recommendations (SHOULD) that are not followed, no part of a verdict"
    if in_full:
        return ["", title, *(line for lines in recommendations for line in ["", *lines])]
    return ["", title, *(f"  {lines[0]}" for lines in recommendations)]


def _observed(record: Record, verdict: Record) -> dict[str, str]:
    """Return the observed conventions of a component that are not declared."""
    observed: dict[str, str] = {}
    for result in record["results"]:
        if all(result[key] == verdict[key] for key in ("implementation", "component")):
            observed |= result["convention"]
    return observed


def qualified(verdict: Record) -> str:
    """Return a verdict with its choices and qualities: CONFORMANT (norm-order: pre) · robust 9 of 11."""
    choices = ", ".join(f"{name}: {choice}" for name, choice in verdict["choices"].items())
    met = "".join(f" · {q} {n['met']} of {n['judged']}" for q, n in verdict["qualities"].items())
    word: str = verdict["verdict"].upper()
    untried = f" · not tried: {', '.join(verdict['untried'])}" if verdict["untried"] else ""
    return word + (f" ({choices})" if choices else "") + met + untried


def verdicts(record: Record) -> list[str]:
    """Return a line for each verdict, with counts, reason, and the profile if it is not the usual one."""
    usual = record["suite"].get("default_profile", record["suite"]["profile"])
    profiles = {i["name"]: i["profile"] for i in record["implementations"]}
    lines = [""]
    for v in record["verdicts"]:
        claimed = profiles.get(v["implementation"])
        against = f" by {claimed}" if claimed not in (None, usual) else ""
        what = v["implementation"] + (f" {v['component']}" if v["component"] else "")
        numbers = ", ".join(f"{n} {outcome}" for outcome, n in counts(record, v).items())
        text = f"{what}: {qualified(v)}{against}" + (f" ({numbers})" if numbers else "")
        lines.append(text + (f"; {v['reason']}" if v["reason"] else ""))
        seen = _observed(record, v)
        if seen:
            lines.append("    not declared, seen: " + ", ".join(f"{key} = {choice}" for key, choice in seen.items()))
    if not record["complete"]:
        lines.append(f"INCOMPLETE: {len(record['results'])} of {record['planned']} planned checks came to an outcome")
    return lines
