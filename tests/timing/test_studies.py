"""The studies run, in a small form; their figures are those of a long run and not repeated here."""

import json
import runpy
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)

STUDIES = Path(__file__).parents[2] / "reports" / "studies"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the results of a quick run."""
    there = tmp_path_factory.mktemp("study")
    runpy.run_path(str(STUDIES / "extrapolation.py"))["main"](["--quick", "--output", str(there)])
    return there


def test_a_quick_run_writes_results_page_and_plot(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "extrapolation-longer.json",
        "extrapolation.json",
        "extrapolation.md",
        "extrapolation.png",
    ]
    runs = json.loads((folder / "extrapolation.json").read_text())["runs"]
    assert len({(r["task"], r["method"], r["seed"]) for r in runs}) == len(runs) == 3 * 2 * 2
    assert all(0.0 <= a["last half"] <= 1.0 for r in runs for a in r["accuracy"].values())
    page = (folder / "extrapolation.md").read_text(encoding="utf-8")
    assert page.count("±") >= 3 * 2 * 2 * 2
    assert "Rotary, in the last half of the sequence:" in page


def test_what_is_done_is_not_done_again(folder):
    study = runpy.run_path(str(STUDIES / "extrapolation.py"))
    path = folder / "extrapolation.json"
    results = json.loads(path.read_text())
    results["runs"][0]["loss"] = -1.0  # seen again below
    lost = results["runs"].pop()
    path.write_text(json.dumps(results))
    runs = study["all_runs"](study["QUICK"], path, study["every"](study["METHODS"][::3]))
    assert runs[0]["loss"] == -1.0
    assert runs[-1] == lost  # the same seed, the same model


def test_the_published_page_is_that_of_the_published_results():
    study = runpy.run_path(str(STUDIES / "extrapolation.py"))
    results = json.loads((STUDIES / "extrapolation.json").read_text())
    settings = study["Settings"]()
    assert results["settings"] == json.loads(json.dumps(vars(settings)))
    assert len(results["runs"]) == settings.seeds * len(study["TASKS"]) * len(study["METHODS"])
    longer = json.loads((STUDIES / "extrapolation-longer.json").read_text())
    assert longer["settings"] == json.loads(json.dumps(vars(study["LONGER"])))
    assert len(longer["runs"]) == longer["settings"]["seeds"] * len(study["LONGER_PAIRS"])
    page = study["page"](results["runs"], settings, longer["runs"], study["LONGER"])
    assert (STUDIES / "extrapolation.md").read_text(encoding="utf-8") == page


def test_the_tasks_say_what_they_ask():
    study = runpy.run_path(str(STUDIES / "extrapolation.py"))
    chance = torch.Generator().manual_seed(0)
    for name, task in study["TASKS"].items():
        tokens, targets = (x.tolist() for x in task(5, 12, 7, chance))
        for said, asked in zip(tokens, targets, strict=True):
            for t, target in enumerate(asked):
                marker = said.index(7) if 7 in said else None
                want = {
                    "three back": said[t - 3] if t >= 3 else -100,
                    "first": said[0] if t >= 1 else -100,
                    "after the marker": None if marker is None else said[marker + 1] if t >= marker + 2 else -100,
                }[name]
                assert target == want
