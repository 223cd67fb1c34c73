"""The pages as a reader meets them: examples run, links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

from attnconf.spec import registry

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("spec/*.md")),
    *sorted(ROOT.glob("reports/*.md")),
    *sorted(ROOT.glob("conformance/chapters/*.md")),
]
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


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_links_lead_somewhere(path):
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if not link.startswith(("http://", "https://")):
            place, _, anchor = link.partition("#")
            target = (path.parent / place).resolve() if place else path
            assert target.is_file(), f"{shown(path)} links to {link}"
            assert not anchor or anchor in anchors(target), f"{shown(path)} links to {link}"


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_every_id_in_the_text_exists(path):
    """In prose and tables; README.md shows the form of an id by one that exists, too."""
    prefixes = "|".join(registry.CHAPTERS)
    ids = set(re.findall(rf"\b(?:{prefixes})-[A-Z0-9]+-\d+\b", path.read_text(encoding="utf-8")))
    assert ids <= set(registry.requirements())


def test_an_anchor_is_that_of_a_requirement():
    for requirement in registry.requirements().values():
        page, _, anchor = requirement.anchor.partition("#")
        assert anchor in anchors(ROOT / page)
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        assert lines[requirement.line - 1] == f"#### {requirement.id}"
