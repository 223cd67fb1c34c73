"""The pages as a reader meets them: examples run, links lead somewhere."""

import doctest
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from attnconf.adapters.contract import CONVENTIONS
from attnconf.spec import profiles, registry

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("spec/*.md")),
    *sorted(ROOT.glob("reports/**/*.md")),
    *sorted(ROOT.glob("conformance/chapters/*.md")),
]
NEWCOMERS = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "adapters/README.md", "tests/README.md", ".typing/README.md",
)  # fmt: skip
FOR_NEWCOMERS = [ROOT / name for name in NEWCOMERS]
JUDGES = re.compile(r"^Judges (.+); this page alone: `attnconf run --impl X(?: --profile (.+?))? -k (.+?)`", re.M)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def shown(path):
    return str(path.relative_to(ROOT))


def examples(path):
    """Return the python examples of a page as one doctest; quoted blocks are read without their marks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(re.sub(r"^> ?", "", line) for line in lines)
    code = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    return doctest.DocTestParser().get_doctest(code, {}, path.name, str(path), 0)


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_the_examples_run(path):
    report = []
    result = doctest.DocTestRunner(verbose=False).run(examples(path), out=report.append)
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("chapter", registry.CHAPTERS.values())
def test_every_chapter_has_an_example(chapter):
    assert examples(ROOT / f"spec/{chapter}.md").examples


def test_every_python_block_is_an_example():
    """A block that is marked as python but shows no prompt would never run."""
    for path in PAGES:
        text = re.sub(r"^> ?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
            assert block.startswith(">>> "), f"{path.name}: {block.splitlines()[0]}"


def anchors(path):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [*PAGES, *FOR_NEWCOMERS], ids=shown)
def test_links_lead_somewhere(path):
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if not link.startswith(("http://", "https://")):
            place, _, anchor = link.partition("#")
            target = (path.parent / place).resolve() if place else path
            assert target.exists(), f"{shown(path)} links to {link}"
            assert not anchor or anchor in anchors(target), f"{shown(path)} links to {link}"


@pytest.mark.parametrize("path", [p for p in (*PAGES, *FOR_NEWCOMERS) if p.name != "renamed.md"], ids=shown)
def test_every_id_in_the_text_exists(path):
    """In prose and tables; spec/README.md shows the form of an id by one that exists, too; old ids have a page."""
    prefixes = "|".join(registry.CHAPTERS)
    ids = set(re.findall(rf"\b(?:{prefixes})-[A-Z0-9]+-\d+\b", path.read_text(encoding="utf-8")))
    assert ids <= set(registry.requirements())


def test_the_libraries_of_the_reports_are_those_that_are_installed():
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+MB \|", (ROOT / "reports/README.md").read_text("utf-8"), re.M)
    told = [pair for row in rows for pair in re.findall(r"([A-Za-z][\w-]+) (\d+(?:\.\d+)+)", row)]
    assert len(told) == 6
    assert [(name, version(name)) for name, _ in told] == told


def test_an_anchor_is_that_of_a_requirement():
    for requirement in registry.requirements().values():
        page, _, anchor = requirement.anchor.partition("#")
        assert anchor in anchors(ROOT / page)
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        assert lines[requirement.line - 1] == f"#### {requirement.id}"


def test_the_page_of_choices_has_what_may_be_declared():
    page = (ROOT / "spec/choices.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    told = {name.strip("`"): tuple(re.findall(r"`([^`]+)`", choices)) for name, choices, _, _ in rows}
    assert told == CONVENTIONS
    assert all(suggested.strip("`") in ("", *CONVENTIONS[name.strip("`")]) for name, _, suggested, _ in rows)


@pytest.mark.parametrize("chapter", registry.CHAPTERS.values())
def test_the_top_of_a_page_says_what_it_judges_and_how(chapter):
    top = (ROOT / f"spec/{chapter}.md").read_text(encoding="utf-8").partition("\n## ")[0]
    components, profile, expression = JUDGES.search(top).groups()
    entries = [e for e in profiles.load(profile or "full").entries if registry.get(e.requirement).chapter == chapter]
    assert set(re.findall(r"`(\w+)`", components)) == {entry.component for entry in entries}
    wanted = Expression.compile(expression.strip('"'))
    assert {name for name in registry.requirements() if wanted.evaluate(lambda word, name=name: word in name)} == {
        entry.requirement for entry in entries
    }


def test_the_worked_example_names_what_is_there():
    """Of each row: the files are there, and what is quoted behind them stands in one of them."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## The next member, worked\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    for files, lines in rows:
        paths = [ROOT / name for name in re.findall(r"`([^`]+)`", files)]
        text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        quoted = [q.strip('`"') for q in re.findall(r'`[^`]+`|"[^"]+"|att_\w+\.py', lines)]
        assert [q for q in quoted if q not in text and q != "output"] == []
