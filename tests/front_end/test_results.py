"""The results file: what it holds, that it is as its schema says, and that it is valid whatever happens."""

import copy
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from command_line import attnconf, in_process

from attnconf import check
from attnconf.reports import record as records
from attnconf.reports.form import problem
from attnconf.spec import profiles

SCHEMA = json.loads(records.PAGE.read_text(encoding="utf-8"))
RIGHT = "from attnconf.adapters.reference import attention, declares\n"
NAIVE = """
def attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if config.dropout:
            raise NotImplementedError("dropout")
        weights = (query @ key.transpose(-1, -2)).exp()
        weights = weights / weights.sum(-1, keepdim=True) / 2
        return (weights @ value, weights) if need_weights else weights @ value
    return forward
"""
DYING = """
import os
from attnconf.adapters import reference
calls = 0
def attention(config, weights):
    def forward(*args, **kw):
        global calls
        calls += 1
        if calls == 60:
            os._exit(7)
        return reference.attention(config, weights)(*args, **kw)
    return forward
"""
SLOW = """
import time
from pathlib import Path
from attnconf.adapters import reference
calls = 0
def attention(config, weights):
    def forward(*args, **kw):
        global calls
        calls += 1
        if calls == 60:
            Path("sleeping").touch()
            time.sleep(60)
        return reference.attention(config, weights)(*args, **kw)
    return forward
"""
DEVIATING = NAIVE
DEVIATIONS = """
[[deviation]]
requirement = "ATT-ROWS-1"
component = "attention"
reason = "the weights are halved on purpose"
link = "https://example.org/why"
"""


def strict(text):
    """Return the content of a JSON text that may hold no NaN and no infinity."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the results"))


def validate(content):
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    assert problem(content, SCHEMA) is None


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("results")
    for name, content in {
        "right.py": RIGHT, "naive.py": NAIVE, "empty.py": "", "dying.py": DYING, "slow.py": SLOW,
        "deviating.py": DEVIATING, "deviating.deviations.toml": DEVIATIONS,
    }.items():  # fmt: skip
        (path / name).write_text(content, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def full(folder):
    """Return a complete run over a right, a wrong, a deviating and an unloadable implementation."""
    files = [f"--impl={name}.py" for name in ("right", "naive", "deviating", "empty")]
    done = in_process("run", *files, "--results=full.json", cwd=folder)
    return done, strict((folder / "full.json").read_text(encoding="utf-8"))


def of(record, name, key="results"):
    return [r for r in record[key] if r["implementation"] == name]


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_full_record_is_as_the_schema_says(full):
    done, record = full
    assert done.returncode == 1, done.stdout + done.stderr
    validate(record)
    assert record["complete"]


def test_every_planned_check_has_exactly_one_result(full):
    _, record = full
    entries = [e for e in profiles.load(profiles.DEFAULT).entries if e.component == "attention"]
    for name in ("right.py", "naive.py", "deviating.py"):
        judged = [(r["component"], r["lens"], r["requirement"]) for r in of(record, name)]
        assert sorted(judged) == sorted((e.component, e.lens, e.requirement) for e in entries)
    assert record["planned"] == len(record["results"]) == 3 * len(entries)


def test_verdicts(full):
    _, record = full
    verdicts = {v["implementation"]: v for v in record["verdicts"]}
    assert verdicts["right.py"]["verdict"] == "conformant"
    assert verdicts["naive.py"]["verdict"] == verdicts["deviating.py"]["verdict"] == "nonconformant"
    assert verdicts["empty.py"]["verdict"] == "not-gradable"
    assert verdicts["empty.py"]["reason"] == "the file is empty"
    for name, verdict in verdicts.items():
        assert sum(verdict["counts"].values()) == len(of(record, name))


def test_a_failure_has_a_reason_a_message_and_its_root(full):
    _, record = full
    failed = [r for r in of(record, "naive.py") if r["outcome"] == "fail"]
    names = {r["requirement"] for r in failed}
    assert all(r["reason"] and r["message"] and set(r["follows_from"]) < names for r in failed)
    assert [r["requirement"] for r in failed if not r["follows_from"]] == ["ATT-ROWS-1"]
    assert any(c["error"] is None and c["outcome"] == "fail" for r in failed for c in r["cases"])  # NaN came out


def test_a_known_deviation_does_not_fail_a_run_and_is_recorded(full):
    done, record = full
    known = [r for r in of(record, "deviating.py") if r["outcome"] == "fail"]
    assert {r["deviation"]["link"] for r in known} == {"https://example.org/why"}
    assert "FAIL, known" in done.stdout


def test_the_output_is_what_pytest_prints_in_a_checkout(folder):
    root = Path(records.__file__).resolve().parents[1]
    given = ["--impl=naive.py", "--impl=empty.py", "-k", "ATT-ROWS or ATT-SHAPE"]
    command = [sys.executable, "-m", "pytest", str(root / "conformance"), "-c", str(root / "pyproject.toml"), *given]
    environment = os.environ | {"COLUMNS": "120"}
    same = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)

    assert same.stdout == in_process("run", *given, cwd=folder).stdout
    assert "ATT-ROWS-1 violated by naive.py (attention)" in same.stdout


def test_an_interrupted_run_leaves_a_valid_file(folder):
    command = [sys.executable, "-m", "attnconf", "run", "--impl=slow.py", "--results=slow.json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + 60
        while not (folder / "sleeping").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=30)[0].decode()
    assert process.returncode == 130, out
    record = strict((folder / "slow.json").read_text(encoding="utf-8"))
    validate(record)
    assert not record["complete"]
    assert 0 < len(record["results"]) < record["planned"]
    assert {v["verdict"] for v in record["verdicts"]} == {"incomplete"}
    judged = f"{len(record['results'])} of {record['planned']} planned checks were judged"
    assert out.rstrip().endswith(f"interrupted: {judged}; kept in {folder / 'slow.json'}")
    assert "KeyboardInterrupt" not in out


def test_an_interrupt_while_a_file_is_loaded_says_so_in_one_line(folder):
    (folder / "forever.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    done = attnconf("run", "--impl=forever.py", cwd=folder)
    assert done.returncode == 130
    assert (done.stdout.strip(), done.stderr.strip()) == ("", "interrupted: nothing was judged")


def test_a_crash_leaves_a_valid_file(folder):
    done = attnconf("run", "--impl=dying.py", "--results=dying.json", cwd=folder)
    assert done.returncode == 7
    record = strict((folder / "dying.json").read_text(encoding="utf-8"))
    validate(record)
    assert not record["complete"]
    assert {v["verdict"] for v in record["verdicts"]} == {"incomplete"}


def test_writing_is_atomic(tmp_path):
    path = tmp_path / "out.json"
    records.write(path, {"a": 1})
    for unwritable in ({"a": float("nan")}, {"a": float("inf")}, {"a": object()}):
        with pytest.raises((ValueError, TypeError)):
            records.write(path, unwritable)
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 1}
    records.write(path, {"a": "a lone surrogate \udc80"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "a lone surrogate \\udc80"}
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def _drop(record, *path):
    for key in path[:-1]:
        record = record[key]
    del record[path[-1]]


def _put(record, value, *path):
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = value


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda r: _drop(r, "planned"), 'the file: "planned" is a required property; found {'),
        (
            lambda r: _put(r, 1, "extra"),
            "the file: Additional properties are not allowed ('extra' was unexpected); found {",
        ),
        (lambda r: _put(r, {}, "results"), 'results: it is not of type "array"; found {}'),
        (
            lambda r: _put(r, "maybe", "results", 0, "outcome"),
            'results[0].outcome: it is not one of "pass", "fail" or 4 other candidates; found \'maybe\'',
        ),
        (lambda r: _put(r, "bad luck", "results", 0, "reason"), "results[0].reason: it is not one of "),
        (lambda r: _put(r, True, "suite", "seed"), 'suite.seed: it is not of type "integer"; found True'),
        (lambda r: _put(r, "great", "verdicts", 0, "verdict"), "verdicts[0].verdict: it is not one of "),
        (lambda r: _drop(r, "results", 0, "cases", 0, "bound"), 'results[0].cases[0]: "bound" is a required property'),
        (lambda r: _put(r, 5, "results", 0, "explored"), 'results[0].explored: it is not of type "object"; found 5'),
        (
            lambda r: _put(r, 5, "implementations", 0, "conventions", "x"),
            'conventions.x: it is not of type "string"; found 5',
        ),
    ],
)
def test_a_spoilt_record_is_refused_and_the_place_named(full, tmp_path, spoil, message):
    record = copy.deepcopy(full[1])
    spoil(record)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(record)
    (tmp_path / "spoilt.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(message)):
        records.read(tmp_path / "spoilt.json")


def test_half_a_character_in_a_record_is_refused_in_one_line(full, tmp_path):
    record = copy.deepcopy(full[1])
    _put(record, "M\udc80", "results", 0, "strength")
    (tmp_path / "half.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ValueError, match=r"is no results file: 'M.udc80' holds half a character: surrogates not allow"):
        records.read(tmp_path / "half.json")


def test_what_has_no_options_gives_a_file_that_can_be_read(tmp_path):
    path = tmp_path / "fused.py"
    path.write_text(
        "import torch.nn.functional as F\n"
        "def attention(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v)\n",
        encoding="utf-8",
    )
    content = check(path, component="attention").record
    assert "not-applicable" in {case["outcome"] for result in content["results"] for case in result["cases"]}
    validate(content)
