"""Homework that knows nothing of us: right files conform, wrong ones do not, and no mistake is named but theirs.

Each run judges a quarter of a sample of the files, others every day, --in-full a half of all, and a quarter of these
again from their written adapters (support/drawn.py).
"""

from pathlib import Path

import drawn
import pytest
from judged_submissions import (
    FOLDER,
    REPORT,
    committed,
    judge,
    judged_again,
    outcomes,
    sample,
    standing,
    still_open,
    submissions,
    table,
)

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.diagnosis.no_mutant import BACKWARD, NO_GRADIENT
from attnconf.conformance.diagnosis.not_computed import NOT_COMPUTED

FILES = [s.file for s in submissions()]


@pytest.fixture(scope="session")
def judged(together, request):
    """Return the function that gives what came of files, each judged by one of the workers."""
    in_full = request.config.getoption("--in-full")

    def judge_file(file):
        again = file in judged_again() or (in_full and drawn.today(file, drawn.AGAIN))
        return judge(str(FOLDER / file), again)

    return lambda files: together.values(files, judge_file, others=files_of_this_run(request.config))


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
    """Or another choice than the one that was asked for, as FF-activation=silu, or what no mutant can stand for."""
    choices = {f"FF-activation={choice}" for choice in CONVENTIONS["activation"]}
    others = {name for _, name, *_ in BACKWARD} | {NO_GRADIENT.id, NOT_COMPUTED.id}
    assert not {m for s in submissions() for m in s.mistakes} - set(all_mutants()) - choices - others


def test_there_are_many_hands():
    assert sum(s.right for s in submissions()) >= 60
    assert sum(not s.right for s in submissions()) >= 80


def test_what_is_open_is_in_the_collection_and_says_why():
    assert set(still_open()) <= set(FILES)
    assert all(set(entry) <= {"verdict", "name"} and all(entry.values()) for entry in still_open().values())


def files_of_this_run(config):
    """Return the files that a run judges."""
    if config.getoption("--in-full"):
        return [file for file in FILES if file in judged_again() or drawn.today(file, drawn.EVERY_IN_FULL)]
    return [file for file in sample() if drawn.today(file)]


def pytest_generate_tests(metafunc):
    """Hand what this run judges to the tests that ask for a submission, for one with deviations, or for a file."""
    files = files_of_this_run(metafunc.config)
    chosen = [s for s in submissions() if s.file in files]
    for name, values in {
        "submission": chosen,
        "deviating": [s for s in chosen if s.deviations],
    }.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, values, ids=[s.file for s in values])
    if "file" in metafunc.fixturenames:
        metafunc.parametrize("file", sorted(set(files)))


def test_the_verdict_is_right_and_so_is_the_name(submission, judged):
    """What is open, of which open.toml says why, must still be open: a stale entry is an error."""
    (came_out,) = judged([submission.file]).values()
    found = standing(submission, came_out)
    missed = still_open().get(submission.file, {})
    if found in ("conformant", "rough, named", "named", "caught", "unrecognised"):
        assert not missed, "reached: take it out of open.toml"
    elif found == "caught, not named":
        assert "name" in missed, came_out.reason
    else:
        assert "verdict" in missed, (found, came_out)


def test_nothing_is_accused_from_a_binding_that_is_not_established(file, judged):
    """But by a law that holds whatever its parameters mean."""
    (came_out,) = judged([file]).values()
    assert not came_out.guessed


def test_few_wrong_files_are_not_recognised():
    outcomes_of = committed()
    wrong = [outcomes_of[s.file, s.component][0] for s in submissions() if not s.right]
    assert wrong.count("unrecognised") <= 0.15 * len(wrong)


def test_what_a_right_file_does_not_do_though_it_should_is_named(deviating, judged):
    (came_out,) = judged([deviating.file]).values()
    assert set(deviating.deviations) <= set(came_out.deviations)


def test_the_adapter_that_is_written_is_what_was_run(file, judged):
    """And gives the same outcomes, of the files that judged_again.txt lists; of others too with --in-full."""
    (came_out,) = judged([file]).values()
    assert not came_out.written


def test_the_sample_has_every_kind():
    chosen = [s for s in submissions() if s.file in sample()]
    assert {(s.component, s.right) for s in chosen} == {(s.component, s.right) for s in submissions()}


@pytest.mark.in_full
def test_an_adapter_of_every_kind_is_judged_again(judged, request):
    came_out = judged(files_of_this_run(request.config))
    again = set().union(*(came_out[file].features for file in judged_again()))
    missing = {file: one.features - again for file, one in came_out.items() if one.features - again}
    assert not missing, "run python tests/collection/judged_submissions.py"


def test_the_report_is_what_came_out(judged, request):
    """What it says of files that this run does not judge is taken from it."""
    came_out = judged(files_of_this_run(request.config))
    assert REPORT.read_text(encoding="utf-8") == table(committed() | outcomes(came_out)), (
        "run python tests/collection/judged_submissions.py"
    )
