"""The wheel: what is in it, that only one name is installed, and that it works from an empty folder."""

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import attnconf

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DIST_INFO = f"attention_conformance-{attnconf.__version__}.dist-info"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def run(*command, cwd):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Return the wheel, built from a copy (building leaves things behind) with the installed setuptools."""
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns(".*", "tests", "build", "dist", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder / "source", ignore=ignored)
    run(*PIP, "wheel", ".", "--no-deps", "--no-build-isolation", "-w", str(folder), cwd=folder / "source")
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Return (folder of scripts, site-packages) of a fresh environment that sees this one's libraries."""
    prefix = tmp_path_factory.mktemp("fresh")
    venv.create(prefix, with_pip=False, symlinks=os.name != "nt")
    paths = sysconfig.get_paths("venv", vars={"base": str(prefix), "platbase": str(prefix)})
    scripts, site = Path(paths["scripts"]), Path(paths["purelib"])
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    run(*PIP, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel), cwd=prefix)
    assert sorted(p.name for p in site.iterdir()) == [DIST_INFO, "attnconf"]
    # Not .pth files of the other environment: among them is the editable install of what is tested here.
    seen = [p for p in sys.path if p.endswith("site-packages")]
    (site / "libraries.pth").write_text("\n".join(seen), encoding="utf-8")
    return scripts, site


def test_the_wheel_holds_all_that_is_read_at_run_time(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("spec", "spec/profiles", "reports/schema", "conformance", "adapters"):
        for pattern in ("*.md", "*.toml", "*.json", "*.ini"):
            there = {f"attnconf/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / folder).glob(pattern)}
            assert there <= inside, f"{folder}/{pattern}"
    assert {"attnconf/conformance/run.ini", "attnconf/reports/schema/results-1.json"} <= inside
    assert "attnconf/spec/profiles/core-1.toml" in inside
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "reports/comparison/templates").iterdir()}
    assert {f"attnconf/{path}" for path in templates} <= inside


def test_nothing_but_the_package_is_in_the_wheel(wheel):
    inside = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in inside} == {"attnconf", DIST_INFO}


def test_the_wheel_says_its_version_and_licence(wheel):
    inside = zipfile.ZipFile(wheel)
    told = email.message_from_bytes(inside.read(f"{DIST_INFO}/METADATA"))
    assert (told["Version"], told["License-Expression"]) == (attnconf.__version__, "Apache-2.0")
    assert inside.read(f"{DIST_INFO}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_the_change_log_begins_with_this_version():
    versions = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert next(version for version in versions if version != "Unreleased") == attnconf.__version__


def test_it_works_from_an_empty_folder(installed, tmp_path):
    scripts, site = installed
    said = run(str(scripts / "attnconf"), "run", "--impl", "torch_nn", "-q", cwd=tmp_path)
    assert "torch_nn multi_head_attention: CONFORMANT · robust" in said
    where = run(str(scripts / "python"), "-c", "import attnconf; print(attnconf.__file__)", cwd=tmp_path)
    assert Path(where.strip()) == site / "attnconf" / "__init__.py"
    listed = run(str(scripts / "python"), "-m", "attnconf", "list", cwd=tmp_path)
    assert "ATT-SCALE-1" in listed
    assert list(tmp_path.iterdir()) == []
    run(str(scripts / "attnconf"), "report", "--spec", "-o", "site", cwd=tmp_path)
    assert 'id="att-scale-1"' in (tmp_path / "site" / "attention.html").read_text(encoding="utf-8")


def installed_as(folder):
    """Return the name under which a folder of the source is installed: the longest entry that fits decides."""
    places = PYPROJECT["tool"]["setuptools"]["package-dir"]
    name, place = max(
        ((name, Path(place)) for name, place in places.items() if folder.is_relative_to(place)),
        key=lambda entry: len(entry[1].parts),
    )
    return ".".join((name, *folder.relative_to(place).parts))


def test_every_package_of_the_source_is_installed():
    folders = {path.parent.relative_to(ROOT) for path in ROOT.glob("*/**/__init__.py")}
    found = {folder for folder in folders if folder.parts[0] not in (".typing", ".venv", "build", "tests")}
    assert sorted(map(installed_as, found)) == sorted(PYPROJECT["tool"]["setuptools"]["packages"])


def test_the_type_checker_sees_every_module():
    links = ROOT / ".typing" / "attnconf"
    modules = {path.name for path in (ROOT / "conformance" / "package-root").glob("*.py")}
    packages = {"spec", "reference", "conformance", "adapters", "reports"}
    assert {path.name for path in links.iterdir()} == modules | packages
    assert all(path.exists() for path in links.iterdir())
