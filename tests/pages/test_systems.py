"""Every system that the project began with has a page, checks, and something that is judged or a command that runs."""

import re
import shlex
from pathlib import Path

import pytest

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.run.implementations import load
from attnconf.reports.systems import command_of, render, systems
from attnconf.spec import registry

ROOT = Path(__file__).parents[2]
# five documents, each with systems from a to …
LAST = {"1": "e", "2": "f", "3": "e", "4": "e", "5": "c"}
NUMBERS = [document + letter for document, last in LAST.items() for letter in "abcdef" if letter <= last]
JUDGED = [number for number, system in systems().items() if "impl" in system]


def made_up_results():
    """Return results in which all is conformant."""
    verdicts = [
        {
            "implementation": s["impl"],
            "component": c,
            "verdict": "conformant",
            "reason": None,
            "counts": {"pass": 7},
            "choices": {},
            "broken": [],
            "untried": [],
            "qualities": {},
        }
        for s in systems().values()
        if "impl" in s
        for c in s["components"]
    ]
    return {"verdicts": verdicts}


def test_all_systems_are_there():
    assert list(systems()) == NUMBERS


@pytest.mark.parametrize("number", JUDGED)
def test_what_is_judged_has_the_components_and_the_chapters_have_checks(number):
    system = systems()[number]
    (found,) = [one for one in load(system["impl"].partition(":")[0]) if one.name == system["impl"]]
    assert set(system["components"]) <= set(found.components)
    for chapter in system["chapters"]:
        assert any(r.chapter == chapter for r in registry.requirements().values())


@pytest.mark.parametrize("number", NUMBERS)
def test_the_mistakes_of_the_originals_are_mutants(number):
    named = {m.id for m in all_mutants().values() if re.search(rf"\bsystem {number}\b", m.source)}
    assert set(systems()[number].get("mistakes", ())) == named


@pytest.mark.parametrize("number", NUMBERS)
def test_the_command_is_one_that_there_is(number):
    program, *arguments = shlex.split(command_of(systems()[number]))
    assert program in ("attnconf", "python", "pytest")
    if program != "attnconf":
        assert (ROOT / arguments[0]).is_file()
    if "-k" in arguments:
        wanted = arguments[arguments.index("-k") + 1].split(" or ")
        assert all((ROOT / "spec" / f"{chapter}.md").is_file() for chapter in wanted)


def test_a_page_is_made_of_results():
    page = render(made_up_results())
    assert page.count("conformant, 7 pass") >= len(JUDGED)
    assert all(re.search(rf"^\| {number} ", page, re.MULTILINE) for number in NUMBERS)


def test_results_that_lack_an_implementation_are_refused():
    with pytest.raises(ValueError, match="hold no verdict on multi_head_attention of einops_separate"):
        render({"verdicts": []})


def test_the_committed_page_has_every_system_and_nothing_unexpected():
    page = (ROOT / "reports" / "systems.md").read_text(encoding="utf-8")
    for number, system in systems().items():
        (row,) = re.findall(rf"^\| {number} .*$", page, re.MULTILINE)
        assert command_of(system) in row
        assert "not-gradable" not in row
        assert "incomplete" not in row
