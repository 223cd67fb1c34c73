"""Ids that have changed stand in their table, and nowhere else."""

import re
from pathlib import Path

from attnconf.conformance.chapters.contents import calls
from attnconf.spec import registry

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "spec/renamed.md"
FOLDERS = ("spec", "reference", "conformance", "adapters", "reports", "tests")
ID = re.compile(r"\b[A-Z]+-[A-Z0-9]+-\d+\b")
ROWS = [line.split("|")[1:-1] for line in TABLE.read_text(encoding="utf-8").splitlines() if ID.search(line)]
OLD = {name for was, _ in ROWS for name in ID.findall(was)}
TEXTS = [p for f in FOLDERS for end in ("py", "toml", "md", "json") for p in sorted((ROOT / f).rglob(f"*.{end}"))]


def test_an_old_id_has_one_row_and_a_new_id_exists():
    listed = [name for was, _ in ROWS for name in ID.findall(was)]
    assert listed
    assert len(listed) == len(set(listed))
    assert {name for _, now in ROWS for name in ID.findall(now)} <= set(registry.requirements())


def test_no_old_id_is_used_anywhere():
    assert not OLD & set(registry.requirements())
    found = {p: OLD & set(ID.findall(p.read_text(encoding="utf-8"))) for p in TEXTS if p != TABLE}
    assert {str(p.relative_to(ROOT)): sorted(ids) for p, ids in found.items() if ids} == {}


def test_calls_are_given_for_laws_that_there_are():
    given = {law for laws in calls().values() for law in laws}
    assert given == {r.id for r in registry.requirements().values() if r.chapter == "calls"}
