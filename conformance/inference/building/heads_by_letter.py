"""Letters of a constructor that say nothing alone: beside the model's width and the heads, a third is that of one head.

Where heads of keys have a letter, and heads of queries none, another is how many of these share one of those.
"""

import inspect
import re
from collections.abc import Sequence

from attnconf.conformance.inference.building.building import SIZES, Meanings

Choices = list[list[tuple[str, str]]]  # for each parameter (expression, meaning), the likeliest first
QUERY_WIDTH = r"d_?q|q_?d(im)?|dim_?q|d_?query"
PER_KEY = ("r", "n_r", "rep", "reps")


def with_letters(parameters: Sequence[inspect.Parameter], choices: Choices, table: Meanings) -> Choices:
    """Return the choices with the likeliest meaning first of what has to be given and says nothing by its name."""
    if not {"head_dim", "heads", "kv_groups"} <= table.keys() or "hidden" in table:  # a layer's third is its network's
        return choices
    choices = _with_n_heads(parameters, _with_second_width(parameters, choices, table), table)
    silent = [_is_silent(p, c) for p, c in zip(parameters, choices, strict=True)]
    told = {c[0][1] for c, quiet in zip(choices, silent, strict=True) if c and not quiet}
    found = []
    for p, c, quiet in zip(parameters, choices, silent, strict=True):
        if quiet and p.name in PER_KEY and "kv_heads" in told and "heads" not in told:
            c = [(table["kv_groups"][0], "kv_groups")]
            told |= {"kv_groups"}
        found.append(c)
    if "embed" not in told or "head_dim" in told or not ("heads" in told or {"kv_heads", "kv_groups"} <= told):
        return found
    return [
        sorted(c, key=lambda one: one != (table["head_dim"][0], "head_dim")) if quiet and len(c) > 1 else c
        for c, quiet in zip(found, silent, strict=True)
    ]


def _with_second_width(parameters: Sequence[inspect.Parameter], choices: Choices, table: Meanings) -> Choices:
    """Return the choices such that the second letter that may be the model's width alone is first that of a head."""
    wide = [p.name for p, c in zip(parameters, choices, strict=True) if c and {m for _, m in c} == {"embed"}]
    letters = [name for name in wide[1:] if len(name) == 1]
    head = (table["head_dim"][0], "head_dim")
    return [[head, *c] if p.name in letters[:1] else c for p, c in zip(parameters, choices, strict=True)]


def _with_n_heads(parameters: Sequence[inspect.Parameter], choices: Choices, table: Meanings) -> Choices:
    """Return the choices such that beside d first n is the number of heads, h the width of one, and k that of keys'."""
    if not {"d", "n", "h"} <= {p.name for p in parameters if p.default is p.empty}:
        return choices
    letters = {"n": ("heads", "max_len"), "h": ("head_dim", "heads"), "k": ("kv_heads", "head_dim")}
    return [
        [(table[m][0], m) for m in letters[p.name] if m in table] if p.name in letters and p.default is p.empty else c
        for p, c in zip(parameters, choices, strict=True)
    ]


def _is_silent(p: inspect.Parameter, choices: Sequence[tuple[str, str]]) -> bool:
    return p.default is p.empty and len({m for _, m in choices} & {*SIZES, "head_dim"}) > 2


def with_head_width(choices: list[list[tuple[str, str]]], table: Meanings) -> list[list[tuple[str, str]]]:
    """Return the choices such that one of two that are called as the model's width may be a head's: (model, dim)."""
    meant = [{m for _, m in c} for c in choices]
    wide = [m == {"embed"} for m in meant]
    if sum(wide) != 2 or not {"heads", "head_dim"} <= table.keys() or {"head_dim", "config"} & set().union(*meant):
        return choices
    return [[*c, (table["head_dim"][0], "head_dim")] if w else c for c, w in zip(choices, wide, strict=True)]


def with_query_width(parameters: Sequence[inspect.Parameter], choices: Choices, table: Meanings) -> Choices:
    """Return the choices such that d_q beside the width of a memory and that of a head is the model's: (d_q, d_ctx)."""
    meant = [{m for _, m in c if m} for c in choices]
    told = [m for m in meant if len(m) == 1]
    if not all({m} in told for m in ("key_dim", "heads")) or {"embed"} in told or told.count({"head_dim"}) != 2:
        return choices
    own = [bool(re.fullmatch(QUERY_WIDTH, p.name.lower())) for p in parameters]
    return [[(table["embed"][0], "embed")] if yes else c for c, yes in zip(choices, own, strict=True)]
