"""The map of who depends on whom: the cells of wrong masks, none where all is right, and what is printed of it."""

import json
import math
from dataclasses import replace

import pytest
import torch

from attnconf import cli
from attnconf.conformance.chapters.contents import all_checks, all_mutants, check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.pictures import dependency
from attnconf.conformance.run.explain import draw
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.run.record import record
from attnconf.conformance.run.relate import relate
from attnconf.reports import examples, markdown
from attnconf.spec import profiles

torch.set_num_threads(1)
LENSES = [("attention", "direct"), ("multi_head_attention", "heads"), ("multi_head_attention", "self")]


def found(implementation, name, component="attention", lens="direct", seconds=10.0):
    """Return the map of a requirement's failure."""
    subject, checked = Subject(implementation, component, lens), check_of(name, component)
    judged = judge_requirement(subject, checked)
    reference = Subject(in_conventions(apply([]), subject.declares), component, lens)
    return dependency.leaks(Subject(implementation, component, lens), reference, judged.log, seconds)


def mutant(name):
    return apply([all_mutants()[name]])


@pytest.mark.parametrize(("component", "lens"), LENSES)
def test_who_peeks_sees_one_key_too_many(component, lens):
    map_ = found(mutant("MASK-causal-peeking"), "MASK-CAUSAL-1", component, lens)
    assert map_["cells"] == ["oX...", "ooX..", "oooX.", "ooooX", "ooooo"]
    assert map_["what"].startswith("causal, sample 0 of 2")


@pytest.mark.parametrize(
    ("name", "requirement", "cells"),
    [
        ("MASK-all-inverted", "MASK-BOOL-1", "!!XX"),
        ("MASK-fill-20", "MASK-POISON-1", "oXooX"),  # what is hidden a little is not hidden
        ("MASK-padding-ignored", "MASK-PADDING-1", "oooXX"),
        ("MASK-padding-as-lengths", "MASK-PADDING-1", "Xooo!"),
    ],
)
def test_masks(name, requirement, cells):
    assert set(found(mutant(name), requirement)["cells"]) == {cells}


@pytest.mark.parametrize(
    ("name", "requirement", "component", "cells"),
    [
        ("ENC-never-causal", "ENC-CAUSAL-1", "encoder_layer", ["oXXXX", "ooXXX", "oooXX", "ooooX", "ooooo"]),
        ("ENC-always-causal", "ENC-REACH-1", "encoder", ["o!!!!", "oo!!!", "ooo!!", "oooo!", "ooooo"]),
        # targets, then the memory
        ("DEC-memory-mask-ignored", "DEC-HIDE-1", "decoder_layer", [
            "o...ooXXXX", "oo..ooXXXX", "ooo.ooXXXX", "ooooooXXXX"]),
        # the source, then targets
        ("TRF-encoder-unmasked", "TRF-PAD-1", "transformer", [
            "ooooXXo....", "ooooXXoo...", "ooooXXooo..", "ooooXXoooo.", "ooooXXooooo"]),
    ],
)  # fmt: skip
def test_layers_and_models(name, requirement, component, cells):
    assert found(mutant(name), requirement, component)["cells"] == cells


ENTRIES = [e for e in profiles.load(profiles.DEFAULT).entries if dependency.concerns(e.requirement)]


@pytest.mark.parametrize("component", sorted({e.component for e in ENTRIES}))
def test_nothing_leaks_in_the_reference(component):
    for entry in [e for e in ENTRIES if e.component == component]:
        assert found(apply([]), entry.requirement, component, entry.lens) is None, entry.requirement


@pytest.mark.parametrize("choice", ["nan", "mean"])
def test_what_an_empty_row_gives_is_no_leak(choice):
    """Right implementations that declare another choice."""
    wrong = replace(mutant(f"MASK-empty-{choice}"), declares={"fully-masked-row": choice})
    for name in ("MASK-EMPTY-1", "MASK-EMPTY-2", "MASK-EMPTY-3"):
        assert found(wrong, name) is None


def test_the_other_corner_is_no_leak_where_it_is_declared():
    def build(config, weights):
        def forward(query, key, value, **given):
            scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
            if config.causal:
                L, S = scores.shape[-2:]
                scores = scores.masked_fill(~torch.ones(L, S, dtype=torch.bool).tril(S - L), -torch.inf)
            return torch.softmax(scores, dim=-1).nan_to_num() @ value

        return forward

    right = Implementation("right", {"attention": build}, {"causal-alignment": "bottom-right"})
    assert found(right, "MASK-CAUSAL-2") is None
    assert found(replace(right, declares={}), "MASK-CAUSAL-2") is not None


def test_only_requirements_about_who_sees_whom_have_maps():
    assert dependency.concerns("MASK-POISON-1")
    assert dependency.concerns("DEC-HIDE-1")
    assert not dependency.concerns("ATT-SCALE-1")


@pytest.mark.parametrize("seconds", [0.0, math.inf])
def test_nothing_is_called_when_the_time_is_over(seconds):
    calls = []

    def build(config, weights):
        def forward(query, key, value, **given):
            calls.append(1)
            return value.mean(dim=2, keepdim=True).expand(*query.shape[:-1], value.shape[-1])

        return forward

    subject = Subject(Implementation("blind", {"attention": build}), "attention", "direct")
    checked = all_checks()["MASK-BOOL-1"]
    log = judge_requirement(subject, checked).log
    calls.clear()
    found = dependency.leaks(subject, Subject(apply([]), "attention", "direct"), log, seconds)
    assert bool(calls) == bool(found) == (seconds > 0)


# -- what is made of it


@pytest.fixture(scope="module")
def content():
    wrong = mutant("MASK-causal-peeking")
    run = judge_all(make_plan([replace(wrong, components={"attention": wrong.components["attention"]})], Settings()))
    run.pictures = draw(run, relate(run))
    return record(run)


@pytest.fixture(scope="module")
def result(content):
    return next(r for r in content["results"] if r["leaks"])


def test_the_grid_is_printed(result):
    assert examples.leaks(result) == [
        "rows: output of query i, columns: key j   (causal, sample 0 of 2, head 0)",
        "   0 1 2 3 4",
        "0  o X . . .",
        "1  o o X . .",
        "2  o o o X .",
        "3  o o o o X",
        "4  o o o o o",
        "o allowed  . none  X forbidden  ! missing",
    ]


def test_two_sequences_stand_apart():
    map_ = {"what": "causal", "rows": ["out 0"], "columns": ["token 0", "memory 0", "memory 10"], "cells": ["oX!"]}
    assert examples.leaks({"leaks": map_})[:3] == [
        "rows: out i, columns: token j, memory j   (causal)",
        "     0    0 10",
        " 0   o    X  !",
    ]


def test_the_report_has_the_grid_and_a_picture_beside_it(content, result, tmp_path):
    results, report = tmp_path / "mine.json", tmp_path / "table.md"
    results.write_text(json.dumps(content), encoding="utf-8")
    assert cli.main(["report", str(results), "-o", str(report)]) == 0
    text, name = report.read_text(encoding="utf-8"), examples.name(result)
    assert "0  o X . . ." in text
    assert f"](table.pictures/{name})" in text
    picture = (tmp_path / "table.pictures" / name).read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert picture.count("<rect") == 25
    assert picture.count(">X<") == 4


def test_a_report_that_is_printed_has_no_picture(content):
    assert ".svg" not in markdown.page([("mine.json", content)])


def test_a_report_without_leaks_has_no_folder(content, tmp_path):
    for r in (clean := json.loads(json.dumps(content)))["results"]:
        r["leaks"] = None
    (tmp_path / "mine.json").write_text(json.dumps(clean), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "mine.json"), "-o", str(tmp_path / "table.md")]) == 0
    assert not (tmp_path / "table.pictures").exists()
