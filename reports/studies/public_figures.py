"""The figures of the study of public code, from its committed tables: what the page says, and its picture.

    python reports/studies/public_figures.py

public_code.tsv has what the suite said, public_truth.tsv what people found who compared the code with formulas of
their own, by the same numbers: of all that was judged and not called conformant, and of a sample of what was.
public_conventions.tsv has what was read off the code of all, in sums.
Not part of the installed package.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attnconf.reports.plots import as_svg
from attnconf.reports.studies.public_conventions import CALLS, CONSTRUCTORS, NOT_READ, OTHERS

HERE = Path(__file__).parent
PAGE = HERE / "public_code.md"
VERDICTS = ("conformant", "nonconformant", "unrecognised", "incomplete", "not-gradable")
COLOURS = ("#2a9d5c", "#c0392b", "#e39a3b", "#8d8d8d", "#dddddd")
CONVENTIONS = {
    "norm-order": "norms stand", "eps": "ε", "activation": "the activation", "gated": "gated", "mask": "a mask",
    "rope-pairing": "pairs of a rotation", "rotary-inside": "rotation inside a layer", "returned-weights": "weights",
    "causality": "causal", "biases": "biases", "norm-kind": "the norm", "final-norm": "a last norm",
    "fully-masked-row": "a query that sees no key", "sinusoidal-output": "sinusoidal positions",
}  # fmt: skip
MOST = 8  # answers to a question
Row = dict[str, str]


def table(name: str) -> list[Row]:
    """Return the lines of a table beside this file."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def interval(count: int, of: int) -> str:
    """Return a share with its 95 % interval (Wilson), in words."""
    if not of:
        return "none"
    z, share = 1.96, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    words = f"{count} of {of} ({share:.1%}; {max(0, middle - half):.0%} to {min(1, middle + half):.0%})"
    return words.replace("%", " %")


def found(rows: Sequence[Row], truths: dict[str, Row]) -> Counter[tuple[str, str]]:
    """Count (verdict, truth) of what was judged; what is conformant counts as right where nobody found otherwise."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        known = truths.get(row["number"], {}).get("truth", "right" if row["verdict"] == "conformant" else "")
        if row["verdict"] != "not-gradable" and known:
            counts[row["verdict"], "right" if known == "edge" else known] += 1
    return counts


def sum_of(truth: str, counts: Counter[tuple[str, str]]) -> int:
    """Return how many are of one truth, whatever the verdict."""
    return sum(n for (_, one), n in counts.items() if one == truth)


def in_short(rows: Sequence[Row], truths: dict[str, Row]) -> list[str]:
    """Return what came out of one part, as lines of a table."""
    counts, judged = found(rows, truths), [r for r in rows if r["verdict"] != "not-gradable"]
    right, wrong, other = (sum_of(word, counts) for word in ("right", "wrong", "other"))
    rejected = counts["nonconformant", "wrong"] + counts["unrecognised", "wrong"]
    named = [truths[r["number"]]["named"] for r in judged if r["number"] in truths and r["named"]]
    audited = [t for r in judged if (t := truths.get(r["number"])) and r["verdict"] == "conformant"]
    lines = {
        "judged, of all that was drawn": interval(len(judged), len(rows)),
        "right ones conformant": interval(counts["conformant", "right"], right),
        "right ones accused": interval(counts["nonconformant", "right"], right),
        "right ones unrecognised": interval(counts["unrecognised", "right"], right),
        "right ones incomplete": interval(counts["incomplete", "right"], right),
        "wrong ones rejected (nonconformant or unrecognised)": interval(rejected, wrong),
        "wrong ones whose true mistake is named": interval(named.count("true"), wrong),
        "names that are false": interval(named.count("false"), len(named)),
        "wrong, of what is right or wrong": interval(wrong, right + wrong),
        "something else than its name says, by design": str(other),
        "called conformant, looked at by hand, and wrong": interval(
            sum(t["truth"] == "wrong" for t in audited), len(audited)
        ),
    }
    return ["| | |", "|---|---|", *(f"| {words} | {figure} |" for words, figure in lines.items())]


def by(column: str, rows: Sequence[Row], truths: dict[str, Row]) -> list[str]:
    """Return verdicts and what is wrong by component, or by kind of repository, as lines of a table."""
    lines = [f"| {column} | drawn | {' | '.join(VERDICTS)} | wrong, of what is right or wrong |", "|---" * 8 + "|"]
    for value in sorted({row[column] for row in rows}):
        here = [row for row in rows if row[column] == value]
        counts, verdicts = found(here, truths), Counter(row["verdict"] for row in here)
        right, wrong = sum_of("right", counts), sum_of("wrong", counts)
        numbers = " | ".join(str(verdicts[v]) for v in VERDICTS)
        lines.append(f"| {value} | {len(here)} | {numbers} | {interval(wrong, right + wrong)} |")
    return lines


def mistakes(truths: dict[str, Row]) -> list[str]:
    """Return what is wrong and how often, as lines of a table."""
    counts = Counter(t["mistake"] for t in truths.values() if t["truth"] == "wrong")
    return ["| What is wrong | how often |", "|---|---|", *(f"| {words} | {n} |" for words, n in counts.most_common())]


def why_not(rows: Sequence[Row]) -> list[str]:
    """Return why things were not gradable, as lines of a table."""

    def kind(reason: str) -> str:
        if "ModuleNotFoundError" in reason or "No module named" in reason:
            return "a library is missing, or a module of its own"
        if "CUDA" in reason or "accelerator" in reason:
            return "it wants a GPU"
        if "takes fewer inputs" in reason or "has many more weights" in reason or "is no parameter" in reason:
            return "another form than any component"
        if "Error" in reason:
            return "it raises, however it is built and called"
        return "anything else"

    counts = Counter(kind(r["reason"]) for r in rows if r["verdict"] == "not-gradable")
    return ["| why it was not judged | |", "|---|---|", *(f"| {w} | {n} |" for w, n in counts.most_common())]


def choices(rows: Sequence[Row]) -> list[str]:
    """Return which conventions those have that conform, as lines of a table."""
    every: dict[str, Counter[str]] = {name: Counter() for name in CONVENTIONS}
    for row in rows:
        for name, _, choice in (each.partition(": ") for each in row["choices"].split("; ") if each):
            if row["verdict"] == "conformant" and name in every:
                every[name][choice] += 1
    lines = ["| Convention | how often, of those that conform and say or show it |", "|---|---|"]
    for name, counts in every.items():
        if counts:
            told = ", ".join(f"{choice} {n}" for choice, n in counts.most_common())
            lines.append(f"| {CONVENTIONS[name]} (`{name}`) | {told} |")
    return lines


def at_the_edges(rows: Sequence[Row], truths: dict[str, Row]) -> list[str]:
    """Return of what is right but for an edge what the suite had said of it, as lines of a table."""

    def kind(row: Row) -> str:
        rule = re.search(r"\b[A-Z]+-[A-Z]+-\d\b", row["reason"])
        if row["verdict"] == "conformant":
            return by_hand
        if "has no effect" in row["reason"]:
            return "an argument without effect"
        return f"{rule[0]} does not hold" if rule else "an option that raises"

    here = [row for row in rows if truths.get(row["number"], {}).get("truth") == "edge"]
    audited = [truth["truth"] for truth in truths.values() if truth["checked"] == "audit"]
    by_hand = f"nothing; of the conformant ones that were looked at, {interval(audited.count('edge'), len(audited))}"
    right = sum_of("right", found(rows, truths))
    lines = [f"| Lost at the edges: {interval(len(here), right)} of what counts as right | |", "|---|---|"]
    lines += ["| what the suite had said | how often |"]
    lines += [f"| {words} | {n} |" for words, n in Counter(map(kind, here)).most_common()]
    by_component = Counter(row["component"] for row in here).most_common()
    return [*lines, f"| by component | {', '.join(f'{component} {n}' for component, n in by_component)} |"]


def told(rows: Sequence[Row]) -> str:
    """Return the commonest answers of some lines of public_conventions.tsv, each with its count and share, as cells."""
    asked = sum({(row["component"], row["question"]): int(row["of"]) for row in rows}.values())
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["answer"]] += int(row["count"])
    read = asked - counts.pop(NOT_READ, 0)
    rest = counts.pop(OTHERS, 0) + sum(n for _, n in counts.most_common()[MOST:])
    answers = [f"{answer} {n} ({n / read:.0%})" for answer, n in counts.most_common(MOST)]
    answers += [f"others {rest}"] if rest else []
    return f"{read} of {asked} | {' · '.join(answers)}".replace("%", " %")


def names(rows: Sequence[Row]) -> list[str]:
    """Return what arguments are called, of all components, as lines of a table."""
    lines = ["| What an argument is for | read in | names |", "|---|---|---|"]
    for prefix, where in ((CALLS, "of a call"), (CONSTRUCTORS, "of a constructor")):
        here = [row for row in rows if row["question"].startswith(prefix)]
        sizes: Counter[str] = Counter()
        for row in here:
            sizes[row["question"]] += int(row["count"]) * (row["answer"] != NOT_READ)
        for question, _ in sizes.most_common():
            cells = told([row for row in here if row["question"] == question])
            lines.append(f"| {question.removeprefix(prefix)}, {where} | {cells} |")
    return lines


def habits(rows: Sequence[Row]) -> list[str]:
    """Return what the code shows of each component, as lines of a table."""
    here = [row for row in rows if not row["question"].startswith((CALLS, CONSTRUCTORS))]
    lines = ["| What the code shows | read in | how often |", "|---|---|---|"]
    for component, question in dict.fromkeys((row["component"], row["question"]) for row in here):
        cells = told([row for row in here if (row["component"], row["question"]) == (component, question)])
        lines.append(f"| {component}: {question} | {cells} |")
    return lines


def conventions() -> str:
    """Return what was read off the code as Markdown."""
    rows = table("public_conventions.tsv")
    return "\n".join(
        ["### How it is written", "", *habits(rows), "", "### What arguments are called", "", *names(rows)]
    )


def text() -> str:
    """Return all figures as Markdown."""
    rows, truths = table("public_code.tsv"), {t["number"]: t for t in table("public_truth.tsv")}
    lines = []
    for part, words in (("first", "The first part"), ("last", "The last third")):
        here = [row for row in rows if row["part"] == part]
        if here:
            lines += [f"### {words}, as it fell", "", *in_short(here, truths), ""]
            lines += [*by("component", here, truths), "", *by("kind", here, truths), "", *why_not(here), ""]
    lines += ["### What is wrong, both parts", "", *mistakes(truths), ""]
    lines += ["### What is lost only at the edges, both parts", "", *at_the_edges(rows, truths), ""]
    return "\n".join([*lines, "### Conventions, both parts", "", *choices(rows)])


def in_a_line() -> str:
    """Return what the README says of it: how much is wrong, of what could be judged."""
    counts = found(table("public_code.tsv"), {t["number"]: t for t in table("public_truth.tsv")})
    right, wrong = sum_of("right", counts), sum_of("wrong", counts)
    return f"Of {right + wrong} public implementations, drawn by a rule, {wrong} are wrong on ordinary input"


def picture() -> str:
    """Return the verdicts by component as an SVG."""
    from matplotlib.figure import Figure

    rows = table("public_code.tsv")
    parts = [part for part in ("first", "last") if any(r["part"] == part for r in rows)]
    figure = Figure(figsize=(9, 2.6 * len(parts)), layout="constrained")
    for axes, part in zip(figure.subplots(len(parts), squeeze=False)[:, 0], parts, strict=True):
        names = sorted({r["component"] for r in rows}, reverse=True)
        left = [0] * len(names)
        for verdict, colour in zip(VERDICTS, COLOURS, strict=True):
            counts = [sum((r["component"], r["verdict"], r["part"]) == (n, verdict, part) for r in rows) for n in names]
            axes.barh(names, counts, left=left, color=colour, label=verdict)
            left = [a + b for a, b in zip(left, counts, strict=True)]
        axes.set_title(f"{'first part' if part == 'first' else 'last third'}: {sum(left)} implementations")
        axes.legend(fontsize=7, loc="lower right")
    return as_svg(figure)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, made in (("figures", text()), ("conventions", conventions())):
        head, mark, rest = page.partition(f"<!-- {name} -->\n")
        tail = rest.partition(f"<!-- end of {name} -->")[2]
        page = f"{head}{mark}{made}\n<!-- end of {name} -->{tail}"
    PAGE.write_text(page, encoding="utf-8")
    (HERE / "public_code.svg").write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
