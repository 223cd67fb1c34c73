"""What reports/gallery/README.md says of a GPU is what the results files beside it have."""

import json
from collections import Counter
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "reports/gallery"
PAGE = (GALLERY / "README.md").read_text(encoding="utf-8")
GRID, SMOKE = (json.loads((GALLERY / f"h200-{n}.json").read_text(encoding="utf-8")) for n in ("grid", "smoke"))
SAME_KERNEL = ("torch_nn", "torch_sdpa:cudnn")  # what PyTorch chooses, and by its name: the anchor's


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
