"""The pages of reports/gallery are what is made of the results beside them, and say what these have."""

import json
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from attnconf.reports import markdown

GALLERY = Path(__file__).parents[2] / "reports/gallery"
PAGE = (GALLERY / "README.md").read_text(encoding="utf-8")
GRID, SMOKE = (json.loads((GALLERY / f"h200-{n}.json").read_text(encoding="utf-8")) for n in ("grid", "smoke"))
SAME_KERNEL = ("torch_nn", "torch_sdpa:cudnn")  # what PyTorch chooses, and by its name: the anchor's


@pytest.mark.parametrize(("name", "record"), [("h200-grid", GRID), ("h200-smoke", SMOKE)])
def test_the_pages_of_a_gpu_are_made_of_its_results(name, record):
    """Who changes what is written makes them anew: `attnconf report h200-grid.json -o h200-grid.md`, in the folder."""
    folder, records = GALLERY / f"{name}.pictures", [(f"{name}.json", record)]
    page = markdown.page(records, "../../", folder.name)
    assert len(page.encode()) < 60_000
    assert (GALLERY / f"{name}.md").read_text(encoding="utf-8") == page
    pictures = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert pictures == markdown.pictures(records)


def test_the_grid_in_short_has_what_its_cases_have():
    page = (GALLERY / "h200-grid.md").read_text(encoding="utf-8")
    ratios = [
        c["ratio"]
        for case in GRID["throughput"]["cases"]
        for c in case["contenders"]
        if case["group"] == "attention backward" and c["name"] == "torch_sdpa:efficient"
    ]
    figures = f"| {len(ratios)} | {median(ratios):.3f} | {min(ratios):.3f} | {max(ratios):.3f} |"
    assert f"| attention backward, by sdpa:cudnn | torch_sdpa:efficient {figures} 39 SLOWER |" in page


def test_how_well_it_measures():
    cases = GRID["throughput"]["cases"]
    assert {case["anchor"]["name"] for case in cases} == {"sdpa:cudnn"}
    again = [c for case in cases for c in case["contenders"] if c["name"] in SAME_KERNEL]
    near = sum(abs(c["ratio"] - 1) <= 0.01 for c in again)
    verdicts = Counter(c["verdict"] for c in again)
    assert f"{near} of {len(again)} comparisons ({near / len(again):.1%}".replace("%", " %") in PAGE
    assert set(verdicts) == {"SAME", "AMBIGUOUS"}
    assert f"{verdicts['SAME']} SAME, {verdicts['AMBIGUOUS']} AMBIGUOUS" in PAGE
    assert not any(case["aa"]["void"] for case in cases)
    assert f"none of {len(cases)} void" in PAGE
    assert f"{len(cases)} of {GRID['throughput']['planned']} cases" in PAGE


@pytest.mark.parametrize("name", ["published-forward", "published-backward"])
def test_the_published_case(name):
    (case,) = (case for case in SMOKE["throughput"]["cases"] if case["case"] == name)
    assert f"| {case['anchor']['tflops']:.0f} (" in PAGE


@pytest.mark.parametrize("requirement", ["ATT-HALF-1", "ATT-HALF-2", "ATT-RANGE-1", "MASK-HALF-1"])
def test_half_precision_of_each_backend(requirement):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| [{requirement}]"))
    said = [cell.strip() for cell in line.strip("|").split("|")[1:]]
    for backend, words in zip(("math", "flash", "efficient", "cudnn"), said, strict=True):
        mine = [r for r in SMOKE["results"] if r["requirement"] == requirement]
        found = {r["outcome"] for r in mine if r["implementation"] == f"torch_sdpa:{backend}"}
        assert found == {"pass" if words == "pass" else "unsupported"}
