"""``--thorough``: nothing is found around the cases where all is right, and the smallest case where it is not."""

import pytest
import torch
from command_line import attnconf

from attnconf.conformance.chapters.contents import all_checks, all_mutants, check_of
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.pictures.thorough import around, explore

torch.set_num_threads(1)


def explored(implementation, name, component="attention", lens="direct"):
    subject, checked = Subject(implementation, component, lens), check_of(name, component)
    return explore(subject, checked, checked.cases(subject, 0, "cpu"))


@pytest.mark.parametrize("name", ["ATT-SCALE-1", "ATT-ERROR-1", "MASK-PADDING-1", "MASK-HOLES-1"])
def test_nothing_is_found_in_the_reference(name):
    assert explored(apply([]), name) is None


@pytest.mark.parametrize("name", ["MHA-MERGE-1", "MHA-DIVIDE-1", "MHA-MANY-1"])
def test_layers_are_explored_too(name):
    assert explored(apply([]), name, "multi_head_attention") is None


def test_a_failure_is_shrunk():
    found = explored(apply([all_mutants()["ATT-unscaled"]]), "ATT-SCALE-1")
    assert found.outcome == "fail"
    assert "q(1, 2," in found.described  # the smallest samples and heads that keep the case's order of sizes


def test_nothing_is_left_in_the_folder_of_the_user(tmp_path):
    ran = attnconf("run", "--impl=reference", "--thorough", "-k", "ATT-CONVEX-1", cwd=tmp_path)
    assert "1 pass" in ran.stdout
    assert not list(tmp_path.iterdir())


def test_sizes_keep_their_order_and_what_is_equal():
    checked = all_checks()["MHA-MERGE-1"]
    case = checked.cases(Subject(apply([]), "multi_head_attention", "direct"), 0, "cpu")[0]
    other = around(case, [1, 2, 1, 3, 1, 1])
    assert (other.B, other.H, other.L, other.S) == (1, 3, 4, 7)
    assert other.embed == other.H * other.E
