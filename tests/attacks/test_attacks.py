"""Whatever a file does: it earns what it computes, the run ends in time, and the next one is judged as ever.

A sample runs each time, all with --in-full.
"""

import os

import pytest
from judged_attacks import HERE, PORT, TELLING, WRONG, came_of, listed

SAMPLE = (
    "a02_os_exit_in_forward", "a07_kill_its_group", "a18_subprocesses", "a29_writes_to_inherited",
    "a37_forged_replies", "a41_replaces_modules", "a56_right_while_it_is_bound", "a69_tells_its_inputs",
)  # fmt: skip
pytestmark = pytest.mark.skipif(os.name != "posix", reason="--isolate needs sockets and sessions of POSIX systems")


def pytest_generate_tests(metafunc):
    if "attack" in metafunc.fixturenames:
        every = [one for one in listed() if metafunc.config.getoption("--in-full") or one.name in SAMPLE]
        marks = {one: [pytest.mark.xfail(reason=one.open, strict=True)] if one.open else [] for one in every}
        metafunc.parametrize("attack", [pytest.param(one, marks=marks[one], id=one.name) for one in every])


def test_an_attack_earns_what_it_computes_and_disturbs_nobody(attack, tmp_path):
    came = came_of(attack, tmp_path)
    assert came.code in (0, 1), came.printed
    assert set(TELLING) == came.honest.passed, came.honest
    if attack.outcome == "right":
        assert set(TELLING) == came.attack.passed, came.attack
    else:
        assert came.attack.verdict not in ("", "conformant"), came.attack
        assert not came.attack.passed & set(WRONG if attack.outcome == "wrong" else TELLING), came.attack
    assert not came.sent, f"an attack reached port {PORT}"
    assert not came.left
    assert not attack.forged or attack.forged not in came.printed
    assert "\x1b" not in came.printed


def test_each_file_is_listed_once_and_says_what_it_is():
    every = listed()
    there = {path.name.removesuffix(".py") for path in (HERE / "files").iterdir() if path.name != "__pycache__"}
    assert sorted(one.name for one in every) == sorted(there)
    for one in every:
        assert (HERE / "files" / one.file).read_text(encoding="utf-8").startswith(f'"""{one.id}: ')
    assert len(every) >= 60
    assert len({one.id for one in every}) >= 55
    assert {one.name for one in every if not one.open}.issuperset(SAMPLE)
