"""reports/first-runs.md: its sums, shares and intervals follow from its counts."""

import re
from math import sqrt
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "reports" / "first-runs.md"
SURE = 1.96  # standard deviations, of 95 %


def tables():
    """Return the rows of each table, each as the names of its columns with its cells."""
    found, names = [], None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            names = None
        elif names is None:
            names = cells
            found.append([])
        elif not set(cells) <= {"---"}:
            found[-1].append(dict(zip(names, cells, strict=True)))
    return found


def wilson(count, of):
    share, wide = count / of, SURE**2 / of
    middle = (share + wide / 2) / (1 + wide)
    half = SURE * sqrt(share * (1 - share) / of + SURE**2 / (4 * of**2)) / (1 + wide)
    return f"{100 * share:.0f} % ({100 * (middle - half):.0f} to {100 * (middle + half):.0f})"


RIGHT, WRONG, TODAY = tables()


@pytest.mark.parametrize("row", [*RIGHT, *WRONG], ids=lambda row: f"{row['Set']}-{row['Files']}")
def test_the_verdicts_are_those_of_all_files(row):
    verdicts = ("Conformant", "Nonconformant", "Unrecognised", "Not gradable", "Incomplete")
    assert sum(int(row[verdict]) for verdict in verdicts) == int(row["Files"])


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row["Set"])
def test_the_share_that_conforms(row):
    assert row["Conformant, of all"] == wilson(int(row["Conformant"]), int(row["Files"]))


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["Set"])
def test_the_share_that_is_rejected(row):
    rejected = int(row["Nonconformant"]) + int(row["Unrecognised"])
    assert row["Rejected, of all"] == wilson(rejected, int(row["Files"]))


def test_right_and_wrong_files_are_of_the_same_sets():
    assert [row["Set"] for row in RIGHT] == [row["Set"] for row in WRONG]


def of_today(row):
    """Return (number by verdict, files) of the right files of a row, and of the wrong ones."""
    numbers = [int(cell.split(" of ")[0]) for cell in list(row.values())[2:]]
    files = [int(row[name].split(" of ")[1]) for name in ("Right: conformant", "Wrong: nonconformant")]
    return (numbers[:5], files[0]), (numbers[5:], files[1])


@pytest.mark.parametrize("row", TODAY, ids=lambda row: row["Set"])
def test_the_verdicts_on_what_is_written_today_are_those_of_all_files(row):
    for numbers, files in of_today(row):
        assert sum(numbers) == files


@pytest.mark.parametrize(
    ("sets", "words"), [(("K2", "K3"), "In K2 and K3 "), (("L1", "L2"), "mended for what K showed. ")]
)
def test_the_shares_of_what_is_written_today(sets, words):
    after = [of_today(row) for row in TODAY if row["Set"] in sets]
    right = sum(numbers[0] for (numbers, _), _ in after)
    rejected = sum(sum(numbers[:2]) for _, (numbers, _) in after)
    said = [wilson(n, 40).replace(" (", "; ") for n in (right, rejected)]
    page = PAGE.read_text(encoding="utf-8")
    conforming = rf"{words}{right} of 40 right ones conform \({re.escape(said[0])},? and "
    assert re.search(rf"{conforming}{rejected} of 40 wrong ones are rejected \({re.escape(said[1])}", page)
