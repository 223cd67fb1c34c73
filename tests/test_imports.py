"""Who may import whom, and what must not import torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from attnconf.conformance.names import adapter_names

ROOT = Path(__file__).parents[1]
FOLDERS = ("spec", "reference", "conformance", "adapters", "reports")
MODULES = {str(p.relative_to(ROOT).with_suffix("")): p for f in FOLDERS for p in sorted((ROOT / f).rglob("*.py"))}
OF_THE_REFERENCE = {"reference", "torch_compile"}  # adapters of it
ADAPTERS = [f"adapters/{name}" for name in adapter_names() if name not in OF_THE_REFERENCE]

# What a module may import of ours. The longest entry that fits decides.
MAY = {
    "spec": {"spec"},
    "reference": {"reference"},
    "reports": {"reports"},
    "reports/studies": {"reference", "reports"},  # experiments that people run; not installed
    "reports/studies/throughput_reliability": {"conformance"},  # what it studies
    "adapters": {
        "adapters.contract",
        "adapters.binding",
        "adapters.bind",
        "adapters.compiling",
        "adapters.hugging_face",
        "adapters.jax_bridge",
        "adapters.layout",
    },
    "adapters/binding": {"spec.nearest"},
    # a user's file is read as --impl reads it
    "adapters/wiring": {
        "adapters.functional",
        "adapters.handing",
        "adapters.layered",
        "adapters.layout",
        "conformance.sources",
    },
    "adapters/reference": {"adapters.contract", "reference"},  # the library that it adapts
    "adapters/torch_compile": {"adapters.compiling", "adapters.reference"},  # likewise
    "adapters/torch_nn_slow_path": {"adapters.torch_nn"},  # another way through it
    "conformance": {"spec", "reference", "adapters.contract", "conformance", "reports", "__version__"},
    "conformance/inference": {
        "spec",
        "reference",
        "adapters.contract",
        "adapters.binding",
        "adapters.handing",
        "adapters.layered",
        "adapters.wiring",
        "conformance",
    },
    "conformance/mutants": {"reference", "adapters.reference", "conformance"},
    "conformance/names": {"spec", "adapters", "conformance"},
    "conformance/texts": {"spec", "adapters", "conformance", "reference"},
    "conformance/attnconf": {
        "spec",
        "adapters",
        "conformance",
        "reports",
        "checking",
        "cli",
        "listing",
        "explaining",
        "doctor",
        "show",
        "demo",
        "reference",
        "__version__",
    },
}

# Listings, pages and reports answer at once: importing torch takes a second.
WITHOUT_TORCH = [
    "attnconf",
    "attnconf.spec.registry",
    "attnconf.spec.profiles",
    "attnconf.adapters",
    "attnconf.conformance.names",
    "attnconf.conformance.texts",
    "attnconf.conformance.plugin",
    "attnconf.cli",
    "attnconf.explaining",
    "attnconf.reports.terminal",
    "attnconf.reports.markdown",
    "attnconf.reports.notebook",
    "attnconf.reports.kill_matrix",
]


def tree(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


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


def allowed(name):
    fitting = [key for key in MAY if name == key or name.startswith(f"{key}/")]
    return MAY[max(fitting, key=len)]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_it_may(name):
    wrong = {x for x in imported(name) if not any(x == y or x.startswith(f"{y}.") for y in allowed(name))}
    assert not wrong


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


def test_only_the_door_calls_foreign_code():
    callers = {name for name in MODULES if any(calls_a_component(node) for node in ast.walk(tree(name)))}
    assert callers == {"conformance/door"}


def test_only_subjects_and_the_diagnosis_go_through_the_door():
    assert {name for name in MODULES if "conformance.door.call" in imported(name)} == {
        "conformance/subject",
        "conformance/replaying",
        "conformance/inference/trial",
    }


def test_checks_see_the_implementation_through_their_subject_only():
    chapters = {path.stem for path in (ROOT / "spec").glob("*.md")}
    for name in MODULES:
        if name.removeprefix("conformance/") in chapters:
            assert not {"conformance.door.call", "conformance.door.Implementation"} & set(imported(name)), name


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_what_answers_at_once_does_not_import_torch(name):
    code = f"import {name}, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
