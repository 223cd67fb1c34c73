"""The page of families: a pure function of reports/families.json."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attnconf.reports.kill_matrix import table

Cell = Mapping[str, Any]
HEAD = """\
# Model families of transformers

Does the attention of a model family compute what [its page](../spec/attention_family.md) says, under each backend that the library offers?
Each model of transformers {transformers} is made small, of {families} families, with drawn weights, and run with torch {torch} on a CPU in three situations: without padding, with padding behind the tokens, and before them. Its own masks, positions and caches are used.
This page and [families.json](families.json) are made by `python -m attnconf.reports.families.make`.

| Compared | With |
|---|---|
| attention | each attention module's output in float32, real tokens only, with `reference.attention_family.family_attention` in float64 on the same tokens and weights |
| gradients | its gradients in float32, of tokens and of all parameters, with those of the reference |
| float64 | its output in float64; bound: 1e-6 of the largest number |
| layers | what each layer gives, with the eager model's layers in float64 on each sample alone, without padding |
| cache | what the model gives for 6 tokens at once, 3 at once and 2 one by one, through `DynamicCache`, with the eager model's whole pass in float64 on each sample alone; also with padding before the tokens |
| static cache | likewise through `StaticCache` |

A percentage is the largest error as a share of [the suite's budget](../conformance/engine/error_budget.py): what the reference itself, or for layers and caches the eager model, errs by in float32, with the factors that are for other orders of evaluation. A wrong member (no window, no cap, another scale, other pairs) is 7 000 to 160 000 times over it, a base of 10 010 in place of 10 000 four times.
`agrees` stands for all comparisons that are not named beside it, and the percentage is the largest of theirs. flex_attention is run as it is written, without its compiler.
"""  # noqa: E501
DETAILS = """
## Every comparison

Shares of the budget; of float64, and of what differs, the largest error. Rotary angles, RMS norms and the softmax of most eager attentions are float32 inside ([shown](findings/llama_rms_float64.py)), which leaves 7 digits of 16 in float64; BERT and Whisper, which have none of these, keep 15.
"""  # noqa: E501
WHATS = ("attention", "gradients", "float64", "layers", "cache", "static cache")
BACKENDS = ("eager", "sdpa", "flex_attention")
SCALED, TWICE = "falcon_bias_scaled", "falcon_alibi_twice"
MODULE, MODEL = ("attention", "gradients", "float64"), ("layers", "cache", "static cache")
# Why a comparison differs: the family ("" for any), the backend, what is compared; the script that shows it without
# this project, and in short
EXPLAINED = (
    ("Falcon, ALiBi", "eager", MODULE, TWICE, "the bias counts twice, and is divided by √E as the scores are"),
    ("Falcon, ALiBi", "sdpa", MODULE, SCALED, "the bias is divided by √E as the scores are"),
    ("Falcon, ALiBi", "sdpa", MODEL, TWICE, "eager, with which it is compared, counts the bias twice"),
    ("", "eager", ("float64",), "eager_float64_padding",
     "NaN with padding before the tokens: the mask's fill for float64 is -inf in the softmax, which is in float32"),
    ("", "flex_attention", ("static cache",), "flex_static_cache",
     "a query sees tokens and slots behind it: the mask is evaluated when the cache has gone on"),
)  # fmt: skip


def page(record: Mapping[str, Any]) -> str:
    """Return the page of a record: versions, what the attention of each family has, and cells."""
    cells = record["cells"]
    notes: list[str] = []
    rows = [
        (family, has, *(_summary(of(cells, family, backend), notes) for backend in BACKENDS))
        for family, has in record["families"].items()
    ]
    head = HEAD.format(transformers=record["transformers"], torch=record["torch"], families=len(rows))
    summary = table(("family", "its attention", *BACKENDS), rows)
    told = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    details = [
        (family, backend, *_figures(of(cells, family, backend)))
        for family in record["families"]
        for backend in BACKENDS
    ]
    return "\n".join([head, *summary, "", *told, DETAILS, *table(("family", "backend", *WHATS), details), ""])


def of(cells: Iterable[Cell], family: str, backend: str) -> list[Cell]:
    """Return the cells of a family under a backend."""
    return [cell for cell in cells if (cell["family"], cell["backend"]) == (family, backend)]


def note(cell: Cell) -> str:
    """Return why a cell is not one that agrees. Raises KeyError where it differs and nobody has said why."""
    if cell["status"] == "differs":
        script, why = explanation(cell)
        return f"differs: {why} ([shown](findings/{script}.py))"
    words = cell["words"].partition(". Please")[0].partition(" yet.")[0]
    words = re.sub(r"\b\w+Model\b", "…", words)  # the same words for every model
    return f"{cell['status']}: “{' '.join(words.split())}”"


def explanation(cell: Cell) -> tuple[str, str]:
    """Return the script that shows why a cell differs, and in short why. Raises KeyError where nobody has said it."""
    for family, backend, whats, script, why in EXPLAINED:
        if family in ("", cell["family"]) and backend == cell["backend"] and cell["what"] in whats:
            return script, why
    raise KeyError(f"why does {cell['what']} of {cell['family']} differ under {cell['backend']}?")


def _summary(cells: Sequence[Cell], notes: list[str]) -> str:
    """Return what became of a family under a backend, with the numbers of notes, which are added where they are new."""
    agree = [cell for cell in cells if cell["status"] == "agrees"]
    told: dict[tuple[str, int], list[str]] = {}
    for cell in cells:
        if cell["status"] != "agrees":
            why = note(cell)
            notes += [] if why in notes else [why]
            told.setdefault((cell["status"], notes.index(why) + 1), []).append(cell["what"])
    parts = [f"agrees, {max(c['share'] for c in agree):.0%}"] if agree else []
    for (status, number), whats in told.items():
        named = f"{', '.join(whats)} " if agree or len(told) > 1 else ""
        verb = "differ" if status == "differs" and len(whats) > 1 else status
        parts.append(f"{named}{verb} [{number}]")
    return "; ".join(parts)


def _figures(cells: Iterable[Cell]) -> list[str]:
    found = {cell["what"]: cell for cell in cells}
    return [_figure(found.get(what)) for what in WHATS]


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return ""  # no cache
    if cell["status"] == "differs":
        return "differs: NaN" if cell["error"] is None else f"differs: {cell['error']:.1g}"
    if cell["status"] != "agrees":
        return str(cell["status"])
    return f"{cell['error']:.0e}" if cell["what"] == "float64" else f"{cell['share']:.1%}"
