"""Each script of reports/findings shows what its head says, with its library alone; the page has all of them."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from attnconf.reports.gallery import make
from attnconf.spec import registry

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reports/findings"
SCRIPTS = sorted(FOLDER.glob("*.py"))
HEAD = re.compile(
    r"(?P<title>[^\n]+)\n\nRequirement: (?P<requirement>[^\n]+)\nProject: (?P<project>\S+) (?P<version>\S+)\n"
    r"(?P<on_it>(?:On it: https://\S+ [^\n]+\n)+)This is: (?P<kind>[^\n]+)\n\nPrints:\n\n(?P<prints>.+)\n",
    re.DOTALL,
)
RUN = """
import runpy, sys
for path in sys.argv[1:]:
    print(path, flush=True)
    runpy.run_path(path, run_name="__main__")
"""
KINDS = ("a bug", "a documented choice", "an ambiguity")
MAY = {"torch", "numpy", "os", "io", "contextlib", "warnings"}  # beside the library itself
LIBRARY = {  # of a project: what is imported
    "flax": {"flax", "jax"}, "equinox": {"equinox", "jax"}, "x-transformers": {"x_transformers"},
    "positional-encodings": {"positional_encodings"}, "curated-transformers": {"curated_transformers"},
    "onnx": {"onnx", "ml_dtypes"}, "subword-nmt": {"subword_nmt"}, "dm-haiku": {"haiku", "jax"},
    "rotary-embedding-torch": {"rotary_embedding_torch"},
}  # fmt: skip
DISTRIBUTION = {"PyTorch": "torch", "Haiku": "dm-haiku"}  # of a project, where it has another name
EXCUSED = re.compile(r"^\| ([\w-]+) \| \[([A-Z0-9-]+)\]\(\S+\) \| \S.* \|$", re.MULTILINE)  # project, requirement, why


def head(script):
    """Return the parts of a script's head; what is indented goes on with the line above, but for what is printed."""
    told, _, prints = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")), clean=False).partition("Prints:")
    return HEAD.fullmatch(told.replace("\n    ", " ") + "Prints:" + prints)


def named(address):
    """Return an address in short: flax#982, keras/nn.py, docs.jax.dev."""
    thread = re.fullmatch(r"https://github\.com/[^/]+/([^/]+)/(?:pull|issues)/(\d+)", address)
    file = re.fullmatch(r"https://github\.com/[^/]+/([^/]+)/blob/\S+?([^/]+)", address)
    return f"{thread[1]}#{thread[2]}" if thread else f"{file[1]}/{file[2]}" if file else address.split("/")[2]


def row(script):
    """Return the line of the page on a script."""
    told = head(script)
    links = ", ".join(f"[{named(address)}]({address})" for address in re.findall(r"https://\S+", told["on_it"]))
    rules = [registry.get(name) for name in told["requirement"].split(", ")]
    rules = ", ".join(f"{rule.strength} [{rule.id}](../../{rule.anchor})" for rule in rules)
    kind = told["kind"].partition(":")[0]
    return f"| [{told['title'].rstrip('.')}]({script.name}) | {told['project']} | {rules} | {kind} | {links} |"


PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
PROJECTS = sorted({head(script)["project"] for script in SCRIPTS})


def test_there_are_ten_and_more_of_several_projects():
    assert len(SCRIPTS) >= 10
    assert len(PROJECTS) >= 5


@pytest.mark.parametrize("project", PROJECTS)
def test_the_scripts_of_a_project_print_what_their_heads_say(project):
    """They share a process, as importing a library takes seconds."""
    scripts = [script for script in SCRIPTS if head(script)["project"] == project]
    done = subprocess.run([sys.executable, "-c", RUN, *scripts], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for script in scripts for line in (str(script), *head(script)["prints"].splitlines())]
    assert done.stdout.splitlines() == [line.removeprefix("    ") for line in lines]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_its_head_is_true(script):
    told = head(script)
    assert version(told["project"]).partition("+")[0] == told["version"]  # who moves a pin runs it again
    assert all(registry.get(name) for name in told["requirement"].split(", "))
    assert told["kind"].startswith(tuple(f"{kind}: " for kind in KINDS))
    tree = ast.parse(script.read_text(encoding="utf-8"))
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in names} <= MAY | LIBRARY.get(told["project"], {told["project"]})
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 50


def known():
    """Return (project, requirement) of the deviations beside the adapters of libraries; our own modules are none."""
    found = set()
    for file in sorted((ROOT / "adapters").glob("*.deviations.toml")):
        project = make.project(file.name.partition(".")[0])
        name = DISTRIBUTION.get(project, project.lower())
        entries = tomllib.loads(file.read_text(encoding="utf-8"))["deviation"]
        found |= {(name, entry["requirement"]) for entry in entries if project != make.OURS}
    return found


def test_each_known_deviation_has_a_script_or_a_reason_why_there_is_none():
    shown = {(head(script)["project"], name) for script in SCRIPTS for name in head(script)["requirement"].split(", ")}
    excused = set(EXCUSED.findall(PAGE))
    assert len(known()) > 90
    assert sorted(known() - shown - excused) == []
    assert sorted(excused & shown) == []  # the reason has to go when a script comes
    assert sorted(excused - known()) == []


def test_the_page_has_them_all():
    assert [line for line in PAGE.splitlines() if line.startswith("| [")] == [row(script) for script in SCRIPTS]
    kinds = [head(script)["kind"].partition(":")[0] for script in SCRIPTS]
    assert f"{len(SCRIPTS)} of them: {', '.join(f'{kinds.count(k)} × {k}' for k in KINDS)}." in PAGE
