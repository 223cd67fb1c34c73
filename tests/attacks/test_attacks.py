"""Whatever a file does: it earns what it computes, the batch ends in time, and all others get what they get alone.

A sample of the attacks is handed in each time, all of them with --in-full.
"""

import os
import sys
from pathlib import Path

import pytest
from judged_attacks import HERE, POINTS, PORT, WRONG, came_of, listed

SAMPLE = (
    "a02_os_exit_in_forward", "a07_kill_parents", "a18_daemon", "a29_writes_to_inherited", "a34_edits_the_grader",
    "a37_forged_replies", "a41_replaces_modules", "a56_reference_by_path", "a56_right_while_it_is_bound",
    "a67_sends_inputs_away", "a68_uses_its_neighbour", "a69_tells_its_inputs",
)  # fmt: skip
HONEST, SECONDS = 40, 3000
pytestmark = pytest.mark.skipif(os.name != "posix", reason="grading needs sockets and sessions of POSIX systems")


def wrong_about(attack, came):
    """Return what is wrong with what came of an attack, in words."""
    earned = came.earned.get(attack.file.partition("/")[0])
    if earned is None:
        return "it has no grade"
    if attack.outcome == "right":
        may = POINTS
        lost = {item: points for item, points in earned.items() if points < POINTS[item]}
        return f"it lost {lost}" if lost else ""
    may = {item: points for item, points in POINTS.items() if attack.outcome == "wrong" and item not in WRONG}
    gained = {item: points for item, points in earned.items() if points > may.get(item, 0)}
    return f"it earned {gained}" if gained else ""


def test_attacks_earn_what_they_compute_and_disturb_nobody(request, tmp_path):
    in_full = request.config.getoption("--in-full")
    attacks = [one for one in listed() if in_full or one.name in SAMPLE]
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    expected = came_of([], 1, alone, 300)
    assert expected.code == 0, expected.printed
    came = came_of(attacks, HONEST if in_full else 2, together, SECONDS)
    assert came.code == 0, came.printed[-3000:]
    wrong = {one.name: words for one in attacks if (words := wrong_about(one, came))}
    wrong |= {one.name: "forged" for one in attacks if one.forged and one.forged in came.printed}
    assert not wrong, f"{wrong}\n{came.printed[-6000:]}"
    assert not came.sent, f"an attack reached port {PORT}"
    assert not came.left
    assert "\x1b" not in came.printed
    assert len(came.records) == len(attacks) + (HONEST if in_full else 2)
    (mine,) = expected.records.values()
    honest = {key: record for key, record in came.records.items() if key.startswith("honest_")}
    assert {record.replace(key.encode(), b"honest_00.py") for key, record in honest.items()} == {mine}, "byte for byte"


def test_each_file_is_listed_once_and_says_what_it_is():
    every = listed()
    there = {path.name.removesuffix(".py") for path in (HERE / "files").iterdir() if path.name != "__pycache__"}
    assert sorted(one.name for one in every) == sorted(there)
    for one in every:
        assert (HERE / "files" / one.file).read_text(encoding="utf-8").startswith(f'"""{one.id}: ')
    assert len(every) >= 60
    assert len({one.id for one in every}) >= 55
    assert {one.name for one in every}.issuperset(SAMPLE)


def test_looking_for_tests_runs_no_attack():
    """A folder of them has a conftest.py and a torch.py: pytest would run the one, and find the other for everybody."""
    assert not [place for place in sys.path if Path(place).is_relative_to(HERE / "files")]
    assert not [name for name, module in list(sys.modules.items()) if _is_attack(module)]


def _is_attack(module):
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).is_relative_to(HERE / "files")
