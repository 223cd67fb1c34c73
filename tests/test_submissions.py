"""The collection of homework that knows nothing of us: every file is listed, with mistakes that are known."""

from pathlib import Path

from judged_submissions import FOLDER, submissions

from attnconf.conformance.mutation import all_mutants

FILES = [s.file for s in submissions()]


def test_the_index_lists_every_file_once():
    there = {str(p.relative_to(FOLDER)) for p in FOLDER.glob("*/*") if p.suffix in (".py", ".ipynb")}
    helpers = {name for name in there if name not in FILES}
    assert len(FILES) == len({(s.file, s.component) for s in submissions()}), "a file may be several components"
    assert set(FILES) <= there
    assert all("import" in _users(name, there - {name}) for name in helpers), helpers


def _users(name, others):
    """Return "import" if another file imports this one, a sibling that is no submission of its own."""
    stem = Path(name).stem
    texts = (
        (FOLDER / other).read_text(encoding="utf-8", errors="replace") for other in others if other.endswith(".py")
    )
    return "import" if any(f"import {stem}" in t or f"from {stem} import" in t for t in texts) else ""


def test_the_index_names_known_mistakes():
    assert not {m for s in submissions() for m in s.mistakes} - set(all_mutants())


def test_there_are_many_hands():
    assert sum(s.right for s in submissions()) >= 60
    assert sum(not s.right for s in submissions()) >= 80
