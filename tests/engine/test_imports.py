"""Who may import whom, and what must not import torch."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.source.syntax import tree_of

ROOT = Path(__file__).parents[2]
FOLDERS = ("spec", "reference", "conformance", "adapters", "reports")
MODULES = {str(p.relative_to(ROOT).with_suffix("")): p for f in FOLDERS for p in sorted((ROOT / f).rglob("*.py"))}
OF_THE_REFERENCE = {"reference", "torch_compile"}  # adapters of it
CHECKS = [name for name in MODULES if re.fullmatch(r"conformance/chapters/\w+/checks(/\w+)?", name)]
ADAPTERS = [f"adapters/{name}" for name in adapter_names() if name not in OF_THE_REFERENCE]

# The tower of conformance/: a floor imports from itself and from the floors that stand before it, and from no other.
TOWER = [
    "source", "worker", "engine", "chapters", "loading", "diagnosis", "pictures", "timing", "inference", "run",
    "mutating", "grading",
]  # fmt: skip
# Inside of inference/ the folders are a tower, too; what stands in it without a folder uses them all.
INFERENCE = [
    "words", "trials", "building", "weights", "texts", "finding", "masks", "state", "options", "drafts", "positions",
    "tokens", "attention", "small", "layers", "binders",
]  # fmt: skip
# What a folder, or a module, may import of ours. The longest entry that fits a module decides.
MAY = {
    "spec": "spec",
    "reference": "reference",
    "reports": "reports",
    "reports/grades": "reports conformance.grading.rubric conformance.grading.scoring",  # the types of what it shows
    "reports/spec_site": "reports spec conformance.engine.catalogue",  # the specification, and what its checks say
    "reports/studies": "reference conformance reports",  # experiments that people run; not installed
    "reports/families": "reference conformance reports",  # what models of a library compute; not installed
    "reports/gallery": "conformance reports",  # the list of adapters; not installed
    "adapters": "adapters.contract adapters.kit adapters.bind adapters.torch_nn",
    "adapters/kit": "adapters.kit spec.nearest",
    "adapters/reference": "adapters reference",  # the library that it adapts
    "adapters/torch_compile": "adapters",  # likewise
    "adapters/generated": "adapters.generated adapters.kit conformance.source",  # reads a file as --impl reads it
    "conformance": "spec reference adapters.contract adapters.reference adapters.kit adapters.generated "
    "reports conformance",
    "conformance/worker": "adapters.contract adapters.generated adapters.kit.bind spec.nearest conformance",
    "conformance/engine/catalogue": "spec reference adapters conformance",  # reads off the files what there is
    "conformance/engine/contract_texts": "spec adapters conformance",  # likewise
    "conformance/package-root": "spec reference adapters reports conformance api cli demo doctor exit_codes "
    "attention_maps explaining explaining_cases grade_verb listing mutate_verb report_verb rubric_verb run_verb show "
    "testing with_course",
}


def may(name):
    """Return what a module may import: of the tower, only what stands before its own floor."""
    wanted = MAY[max((key for key in MAY if name == key or name.startswith(f"{key}/")), key=len)].split()
    folder, _, floor = name.rpartition("/")[0].partition("/")
    floor = floor.partition("/")[0]
    if folder == "conformance" and floor in TOWER:
        stands_on = [f"conformance.{x}" for x in TOWER[: TOWER.index(floor) + 1]]
        return [x for x in wanted if x != "conformance"] + stands_on
    return wanted


# Listings, pages and reports answer at once: importing torch takes a second.
WITHOUT_TORCH = [
    "attnconf",
    "attnconf.spec.registry",
    "attnconf.spec.profiles",
    "attnconf.adapters",
    "attnconf.conformance.engine.catalogue",
    "attnconf.conformance.plugin",
    "attnconf.cli",
    "attnconf.explaining",
    "attnconf.conformance.grading.new_rubric",
    "attnconf.conformance.grading.overview",
    "attnconf.conformance.grading.rubric_text",
    "attnconf.conformance.grading.scoring",
    "attnconf.reports.terminal",
    "attnconf.reports.markdown",
    "attnconf.reports.comparison.page",
    "attnconf.reports.notebook",
    "attnconf.reports.kill_matrix",
    "attnconf.reports.spec_site.site",
]


def tree(name):
    return tree_of(MODULES[name].read_text(encoding="utf-8"))


def imported(name):
    """Yield what a module imports of ours, without "attnconf."."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            found = []
        yield from (x.removeprefix("attnconf.") for x in found if x.startswith("attnconf."))


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_it_may(name):
    wrong = {x for x in imported(name) if not any(x == y or x.startswith(f"{y}.") for y in may(name))}
    assert not wrong


@pytest.mark.parametrize("name", [x for x in MODULES if re.match("conformance/inference/.*/", x)])
def test_a_folder_of_inference_imports_only_what_stands_before_it(name):
    folder = name.split("/")[2]
    later = tuple(f"conformance.inference.{x}." for x in INFERENCE[INFERENCE.index(folder) + 1 :])
    assert not {x for x in imported(name) if f"{x}.".startswith((*later, "conformance.inference.writing."))}


def test_the_tower_of_inference_has_all_its_folders():
    assert sorted(INFERENCE) == sorted(
        p.name for p in (ROOT / "conformance/inference").iterdir() if p.is_dir() and p.name != "__pycache__"
    )


@pytest.mark.parametrize("name", MODULES)
def test_imports_are_absolute(name):
    assert not [node for node in ast.walk(tree(name)) if isinstance(node, ast.ImportFrom) and node.level]


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_imports_nothing_of_the_reference_or_the_suite(name):
    assert not {x for x in imported(name) if x.startswith(("reference", "conformance", "spec", "reports"))}


def calls_a_component(node):
    """Return whether this is ``….components[…](…)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "components"
    )


def test_only_the_boundary_calls_foreign_code():
    callers = {name for name in MODULES if any(calls_a_component(node) for node in ast.walk(tree(name)))}
    assert callers == {"conformance/worker/performing"}


def test_only_subjects_and_the_diagnosis_go_through_the_boundary():
    assert {name for name in MODULES if "conformance.engine.boundary.call" in imported(name)} == {
        "conformance/engine/subject",
        "conformance/diagnosis/replay",
        "conformance/inference/trials/trial",
    }


@pytest.mark.parametrize("name", CHECKS)
def test_checks_see_the_implementation_through_their_subject_only(name):
    assert not {"conformance.engine.boundary.call", "conformance.engine.request.Implementation"} & set(imported(name))


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_what_answers_at_once_does_not_import_torch(name):
    code = f"import {name}, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_function_alone_makes_syntax_trees():
    """Python 3.11 fails at times where a finalizer parses meanwhile (python/cpython#106905); it keeps these away."""
    named = {(name, ast.unparse(x)) for name in MODULES for x in ast.walk(tree(name)) if isinstance(x, ast.Attribute)}
    assert {name for name, words in named if words == "ast.parse"} == {"conformance/source/syntax"}
