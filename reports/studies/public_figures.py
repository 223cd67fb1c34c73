"""The figures of the study of public code, from its committed tables: what the page says, and its picture.

    python reports/studies/public_figures.py

public_code.tsv has what the suite said, public_truth.tsv what people found who compared the code with formulas of
their own, by the same numbers: of all that was judged and not called conformant, and of a sample of what was.
public_sums.tsv has both by kind of repository and by frame.
public_conventions.tsv has what was read off the code of all, in sums.
Not part of the installed package.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from attnconf.reports.studies import public_code
from attnconf.reports.studies.public_code import Row, truth_of, truths_in
from attnconf.reports.studies.public_conventions import CALLS, CONSTRUCTORS, NOT_READ, OTHERS

HERE = Path(__file__).parent
PAGE = HERE / "public_code.md"
VERDICTS = ("conformant", "nonconformant", "unrecognised", "incomplete", "not-gradable")
CONVENTIONS = {
    "norm-order": "norms stand", "eps": "ε", "activation": "the activation", "gated": "gated", "mask": "a mask",
    "rope-pairing": "pairs of a rotation", "rotary-inside": "rotation inside a layer", "returned-weights": "weights",
    "causality": "causal", "biases": "biases", "norm-kind": "the norm", "final-norm": "a last norm",
    "fully-masked-row": "a query that sees no key", "sinusoidal-output": "sinusoidal positions",
}  # fmt: skip
MOST = 8  # answers to a question
Counts = Counter[tuple[str, str]]  # (verdict, truth)


def table(name: str) -> list[Row]:
    """Return the lines of a table beside this file."""
    return public_code.table(HERE / name)


def ends(count: int, of: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a share (Wilson)."""
    z, share = 1.96, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0, middle - half), min(1, middle + half)


def interval(count: int, of: int) -> str:
    """Return a share with its 95 % interval, in words."""
    if not of:
        return "none"
    low, high = ends(count, of)
    return f"{count} of {of} ({count / of:.1%}; {low:.0%} to {high:.0%})".replace("%", " %")


def found(rows: Sequence[Row], truths: Mapping[str, Row]) -> Counts:
    """Count (verdict, truth) of rows of public_code.tsv."""
    return Counter((row["verdict"], truth_of(row, truths)) for row in rows)


def summed(column: str, value: str = "", part: str = "") -> Counts:
    """Count (verdict, truth) of what is of a kind or in a frame, in one part or in both."""
    counts: Counts = Counter()
    for row in table("public_sums.tsv"):
        if row["column"] == column and value in ("", row["value"]) and part in ("", row["part"]):
            counts[row["verdict"], row["truth"]] += int(row["count"])
    return counts


def sum_of(truth: str, counts: Counts) -> int:
    """Return how many are of one truth, whatever the verdict."""
    return sum(n for (_, one), n in counts.items() if one == truth)


def wrong_of(counts: Counts) -> str:
    """Return how many are wrong of what is right or wrong, with the interval."""
    return interval(sum_of("wrong", counts), sum_of("right", counts) + sum_of("wrong", counts))


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


def by(column: str, counted: Mapping[str, Counts]) -> list[str]:
    """Return verdicts and what is wrong of each value of a column, as lines of a table."""
    lines = [f"| {column} | drawn | {' | '.join(VERDICTS)} | wrong, of what is right or wrong |", "|---" * 8 + "|"]
    for value, counts in counted.items():
        verdicts = Counter({v: sum(n for (one, _), n in counts.items() if one == v) for v in VERDICTS})
        numbers = " | ".join(str(verdicts[v]) for v in VERDICTS)
        lines.append(f"| {value} | {verdicts.total()} | {numbers} | {wrong_of(counts)} |")
    return lines


def by_component(rows: Sequence[Row], truths: Mapping[str, Row]) -> dict[str, Counts]:
    """Return the counts of each component."""
    names = sorted({row["component"] for row in rows})
    return {name: found([row for row in rows if row["component"] == name], truths) for name in names}


def by_sums(column: str, part: str = "") -> dict[str, Counts]:
    """Return the counts of each kind of repository, or of each frame."""
    values = sorted({row["value"] for row in table("public_sums.tsv") if row["column"] == column})
    return {value: summed(column, value, part) for value in values}


def mistakes(truths: dict[str, Row]) -> list[str]:
    """Return what is wrong and how often, as lines of a table."""
    counts = Counter(t["mistake"] for t in truths.values() if t["truth"] == "wrong")
    return ["| What is wrong | how often |", "|---|---|", *(f"| {words} | {n} |" for words, n in counts.most_common())]


def why_not(rows: Sequence[Row]) -> list[str]:
    """Return why things were not gradable, as lines of a table."""
    counts = Counter(row["why"] for row in rows if row["verdict"] == "not-gradable")
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
        return by_hand if row["verdict"] == "conformant" else row["why"]

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
    rows, truths = table("public_code.tsv"), truths_in(HERE)
    lines = []
    for part, words in (("first", "The first part"), ("last", "The last third")):
        here = [row for row in rows if row["part"] == part]
        lines += [f"### {words}, as it fell", "", *in_short(here, truths), ""]
        lines += [*by("component", by_component(here, truths)), "", *by("kind", by_sums("kind", part)), ""]
        lines += [*by("frame", by_sums("frame", part)), "", *why_not(here), ""]
    lines += ["### Both parts", "", *by("component", by_component(rows, truths)), "", *by("kind", by_sums("kind")), ""]
    lines += [*by("frame", by_sums("frame")), ""]
    lines += ["### What is wrong, both parts", "", *mistakes(truths), ""]
    lines += ["### What is lost only at the edges, both parts", "", *at_the_edges(rows, truths), ""]
    return "\n".join([*lines, "### Conventions, both parts", "", *choices(rows)])


def in_a_line() -> str:
    """Return what the README says of it: how much is wrong of what was found by names and could be judged."""
    counts = summed("frame", "names")
    right, wrong = sum_of("right", counts), sum_of("wrong", counts)
    return f"Of {right + wrong} public implementations that were drawn by a rule and could be judged, {wrong} are wrong"


def answer() -> str:
    """Return the answer to the question of the study, as Markdown."""
    rows, truths = table("public_code.tsv"), truths_in(HERE)
    commonest, times = Counter(t["mistake"] for t in truths.values() if t["truth"] == "wrong").most_common(1)[0]
    audited = [t["truth"] for t in truths.values() if t["checked"] == "audit"]
    unread = sum(row["verdict"] == "conformant" for row in rows) - len(audited)
    components = "; ".join(f"{name} {wrong_of(counts)}" for name, counts in by_component(rows, truths).items())
    kinds = "; ".join(f"{name} {wrong_of(counts)}" for name, counts in by_sums("kind").items())
    share = wrong_of(summed("frame", "names")).partition(" (")[2]
    not_judged = sum(row["verdict"] == "not-gradable" for row in rows)
    return "\n".join(
        (
            f"* {in_a_line()} on ordinary input ({share}. Apart from these, of well-known "
            f"libraries {wrong_of(summed('frame', 'libraries'))}, of repositories with which the suite was mended "
            f"before {wrong_of(summed('frame', 'seen'))}; of all {wrong_of(summed('frame'))}.",
            f"* By component, of all: {components}.",
            f"* By kind of repository, of all: {kinds}.",
            f"* The commonest mistake: {commonest}, {times} of {sum_of('wrong', found(rows, truths))}.",
            f"* These are lower bounds: {unread} of the right ones were called conformant and read by nobody; of "
            f"{len(audited)} such that were read {audited.count('wrong')} is wrong "
            f"({interval(audited.count('wrong'), len(audited)).partition('; ')[2]}.",
            f"* {not_judged} of {len(rows)} could not be judged, and nothing is said of these.",
            "* Intervals take implementations for independent of each other. They are not quite: a repository gives at "
            "most two, and code is copied with other names.",
        )
    )


def main() -> None:
    from attnconf.reports.studies import public_picture

    page = PAGE.read_text(encoding="utf-8")
    for name, made in (("answer", answer()), ("figures", text()), ("conventions", conventions())):
        head, mark, rest = page.partition(f"<!-- {name} -->\n")
        tail = rest.partition(f"<!-- end of {name} -->")[2]
        page = f"{head}{mark}{made}\n<!-- end of {name} -->{tail}"
    PAGE.write_text(page, encoding="utf-8")
    (HERE / "public_code.svg").write_text(public_picture.picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
