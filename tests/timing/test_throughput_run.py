"""A run for throughput as a user sees it: options, items, results file, table, report; on a clock that tests move."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from command_line import pytest_in_process
from fake_time import FixedClock

from attnconf import cli, run_verb
from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import begin
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.rounds import Rules
from attnconf.conformance.timing.run import Races, Standing
from attnconf.reports import markdown, plots
from attnconf.reports import record as records
from attnconf.reports import throughput as tables
from attnconf.reports.comparison import page as comparison

ROOT = Path(__file__).parents[2]
MINE = "from attnconf.adapters.reference import attention, declares\n"
WRONG = """
from attnconf.adapters import reference
def attention(config, weights):
    forward = reference.attention(config, weights)
    return lambda q, k, v, **masks: forward(q, k, v.flip(-1), **masks)
"""
ROUGH = """
import torch
from attnconf.adapters import reference
declares = reference.declares
def attention(config, weights):
    forward = reference.attention(config, weights)
    def rough(q, k, v, **options):
        if q.shape[2:] == (8, 4):  # the shape that is timed
            q = q.bfloat16().to(q.dtype)
        return forward(q, k, v, **options)
    return rough
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("throughput")
    for name, text in {"mine.py": MINE, "wrong.py": WRONG, "rough.py": ROUGH}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(folder, *arguments, plugin="quick_timing", **environment):
    """Return a finished ``pytest conformance …`` of a checkout, in this process."""
    command = ["-c", str(ROOT / "pyproject.toml"), str(ROOT / "conformance"), *(["-p", plugin] if plugin else [])]
    environment = {"COLUMNS": "200", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment
    return pytest_in_process(*command, *arguments, cwd=folder, **environment)


@pytest.fixture(scope="module")
def whole(folder):
    """Return a run of three implementations, of which one is wrong and one is wrong where it is timed alone."""
    impls = [f"--impl={name}.py" for name in ("mine", "wrong", "rough")]
    done = run(folder, *impls, "--throughput=grid", "--results=a.json", "--benchmark-json=b.json", SLOWER="1.5")
    return done, records.read(folder / "a.json")


def of(record, case, name):
    (found,) = [c for c in record["throughput"]["cases"] if c["case"] == case]
    return next(e for e in found["contenders"] if e["name"] == name)


def test_what_it_costs_is_counted_too_and_is_optional(whole):
    _, record = whole
    counted = [r for r in record["results"] if r["requirement"].startswith("PERF-")]
    assert {r["implementation"] for r in counted} == {"mine.py", "wrong.py", "rough.py"}
    assert all(r["optional"] and r["strength"] == "SHOULD" for r in counted)


def test_what_is_right_is_timed(whole):
    _, record = whole
    for case in ("small-forward", "longer-forward"):
        entry = of(record, case, "mine.py")
        assert (entry["status"], entry["verdict"], entry["ratio"]) == ("timed", "SLOWER", pytest.approx(1.5))
        assert entry["peak_bytes"] > 0


def test_what_was_judged_nonconformant_in_this_run_is_not_timed(whole):
    done, record = whole
    entry = of(record, "small-forward", "wrong.py")
    assert entry["status"] == "not-timed"
    assert re.fullmatch(
        r"not timed: it violates [A-Z0-9-]+(, [A-Z0-9-]+)*; --throughput times what .*", entry["reason"]
    )
    assert f"wrong.py: {entry['reason']} (small-forward, longer-forward)" in done.stdout


def test_what_fails_its_accuracy_tier_is_not_timed(whole):
    _, record = whole
    entry = of(record, "small-forward", "rough.py")
    assert entry["status"] == "not-timed"
    assert "max error" in entry["reason"]
    assert of(record, "longer-forward", "rough.py")["status"] == "timed"


def test_the_record_is_as_the_schema_says(whole):
    _, record = whole
    jsonschema.Draft202012Validator(json.loads(records.PAGE.read_text(encoding="utf-8"))).validate(record)
    assert (record["throughput"]["cases_of"], record["throughput"]["planned"]) == ("grid", 2)


def test_a_case_without_times_is_refused(whole, folder):
    record = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    del of(record, "small-forward", "mine.py")["samples_s"]
    validator = jsonschema.Draft202012Validator(json.loads(records.PAGE.read_text(encoding="utf-8")))
    assert not validator.is_valid(record)


def test_the_table_has_a_line_for_every_contender_and_case(whole):
    done, _ = whole
    assert "THROUGHPUT, grid on cpu" in done.stdout
    lines = [line for line in done.stdout.splitlines() if re.search(r"SLOWER|  not timed|\(anchor\)", line)]
    assert len(lines) == 2 * 4  # cases × (anchor and three contenders)
    assert "1.500 [1.500, 1.500]" in done.stdout
    assert "cases for CUDA: not-run: no CUDA device" in done.stdout
    assert "mine.py attention: CONFORMANT" in done.stdout


def test_each_is_a_benchmark_with_our_samples_and_statistics(whole, folder):
    _, record = whole
    found = {b["name"]: b for b in json.loads((folder / "b.json").read_text(encoding="utf-8"))["benchmarks"]}
    assert set(found) == {
        f"test_throughput[{e}]" for e in ("small-forward-mine.py", "longer-forward-mine.py", "longer-forward-rough.py")
    }
    bench, entry = found["test_throughput[small-forward-mine.py]"], of(record, "small-forward", "mine.py")
    assert bench["group"] == "small-forward"
    assert bench["params"] == {"case": "small-forward", "contender": "mine.py"}
    assert bench["stats"]["data"] == entry["samples_s"]
    extra = bench["extra_info"]
    assert (extra["ratio"], extra["verdict"], extra["machine"]["cores"]) == (entry["ratio"], "SLOWER", os.cpu_count())


def test_time_does_not_decide_unless_it_is_asked_to(folder):
    options = ("--impl=mine.py", "-k", "throughput", "--throughput")
    slower = run(folder, *options, SLOWER="1.2")
    assert slower.returncode == 0, slower.stdout
    assert "SLOWER" in slower.stdout
    asked = run(folder, *options, "--strict-perf", SLOWER="1.2")
    assert asked.returncode == 1
    assert "--strict-perf: mine.py in small-forward: SLOWER, 1.2 times sdpa" in asked.stdout
    assert run(folder, *options, "--strict-perf", SLOWER="1").returncode == 0


def test_what_is_compared_with_an_earlier_run_are_ratios(folder):
    """The machine is five times as slow, and the contender half as fast beside the anchor as it was."""
    options = ("--impl=mine.py", "-k", "throughput", "--throughput", "--benchmark-storage=kept")
    run(folder, *options, "--benchmark-save=first", ANCHOR="1e-3", SLOWER="1.2")
    compared = run(folder, *options, "--benchmark-compare", "--benchmark-columns=median", ANCHOR="5e-3", SLOWER="2.4")
    assert re.search(r"\(0001_first\) +6\.0000 \(1\.0\)", compared.stdout), compared.stdout
    assert re.search(r"\(NOW\) +12\.0000 \(2\.0", compared.stdout), compared.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--throughput=all",), "want cpu or cuda, smoke or grid"),
        (("--strict-perf",), "nothing is timed without --throughput"),
        (("--benchmark-json=x.json",), "unrecognized arguments: --benchmark-json"),
    ],
)
def test_bad_options(folder, arguments, words):
    done = run(folder, "--impl=mine.py", *arguments, plugin="")
    assert done.returncode == 4
    assert words in done.stderr + done.stdout


def test_a_folder_after_the_option_is_no_choice(folder):
    done = run(folder, "--impl=mine.py", "-k", "throughput", "--throughput", str(ROOT / "conformance"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_was_not_judged_is_flagged(folder):
    done = run(folder, "--impl=wrong.py", "-k", "small-forward", "--throughput", "--results=selected.json")
    assert "wrong.py: not all that it must follow was judged in this run (-k)" in done.stdout
    entry = of(records.read(folder / "selected.json"), "small-forward", "wrong.py")
    assert [flag["code"] for flag in entry["flags"] if flag["code"] == "not-judged"] == ["not-judged"]


def test_a_case_is_proposed_where_a_selection_has_none(folder):
    done = run(folder, "--impl=mine.py", "-k", "small", "--throughput")
    assert done.returncode == 4
    assert "-k 'small' selects nothing; cases with such names: small-forward" in done.stdout + done.stderr


def test_a_record_is_complete_where_all_is_timed_alone(tmp_path):
    run = begin(only(make_plan(load("reference"), Settings(throughput="smoke")), lambda planned: False))
    assert not run.complete
    run.races.plan.clear()
    assert run.complete


def test_the_default_run_imports_none_of_it(folder):
    code = (
        "import sys, pytest\n"
        f"pytest.main(['-q', '-c', {str(ROOT / 'pyproject.toml')!r}, {str(ROOT / 'conformance')!r}, '--impl=mine.py', "
        "'-k', 'ATT-SCALE-1'])\n"
        "print(sorted(m for m in sys.modules if m.startswith(('attnconf.conformance.timing', 'pytest_benchmark'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert "INCOMPLETE (1 pass)" in done.stdout, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_attnconf_run_hands_the_options_on():
    given = cli.parser().parse_args(["run", "--impl=a", "--throughput", "--strict-perf"])
    arguments = run_verb.pytest_arguments(given)
    assert {"--throughput=smoke", "--strict-perf", "attnconf.conformance.test_throughput"} <= set(arguments)
    plain = run_verb.pytest_arguments(cli.parser().parse_args(["run", "--impl=a"]))
    assert not [word for word in plain if word.startswith(("--throughput", "--strict-perf"))]
    assert "attnconf.conformance.test_throughput" not in plain


def test_a_report_has_the_table_and_compares_ratios(whole):
    _, record = whole
    slower = json.loads(json.dumps(record))
    for case in slower["throughput"]["cases"]:
        for entry in case["contenders"]:
            if entry["status"] == "timed":
                entry |= {key: 2 * entry[key] for key in ("ratio", "lo", "hi")}
                entry["median_s"] *= 100
    page = markdown.page([("a.json", record), ("b.json", slower)])
    assert "<summary>Throughput</summary>" in page
    assert "### Run against run" in page
    (line,) = [line for line in page.splitlines() if line.startswith("| small-forward") and "b.json" not in line
               and "3.000 [" in line and "2.000 [" in line]  # fmt: skip
    assert "mine.py" in line
    assert "ms |" not in page[page.index("### Run against run") :]


def test_a_report_has_pictures_beside_it(whole, folder):
    _, record = whole
    assert cli.main(["report", str(folder / "a.json"), "-o", str(folder / "page.md")]) == 0
    page = (folder / "page.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[.*?\]\((page\.pictures/throughput-.*?)\)", page)
    assert [Path(link).name for link in links] == ["throughput-a-attention-forward.svg", "throughput-a-roofline.svg"]
    drawn = (folder / links[0]).read_text(encoding="utf-8")
    assert all(word in drawn for word in ("time (s)", "TFLOP/s", "memory (bytes)", "mine.py", "sdpa"))
    assert plots.pictures([("a.json", record)])["throughput-a-attention-forward.svg"] == drawn


def test_the_page_has_the_times_and_their_pictures(whole):
    text = comparison.page([("a.json", whole[1])], comparison.Pages())
    section = text[text.index('<section id="times">') :].partition("</section>")[0]
    timed = whole[1]["throughput"]["cases"]
    assert all(f"<td>{case['case']}</td>" in section for case in timed)
    assert section.count("<svg") == 2  # against length, and the roofline
    assert "#000000" not in section  # the ink is the page's, light or dark
    assert "--throughput=" in text


def test_without_matplotlib_the_report_says_so(whole, monkeypatch):
    monkeypatch.setattr(plots, "available", lambda: False)
    assert f"{plots.MISSING}." in markdown.page([("a.json", whole[1])], None, "page.pictures")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.5, "1.5 s"), (0.0123456, "12.3 ms"), (8.45e-4, "845 µs"), (3e-8, "30 ns"), (0.9999, "1000 ms")],
)
def test_durations(seconds, text):
    assert tables.duration(seconds) == text


def test_amounts():
    assert [tables.amount(x) for x in (12, 1234, 5.6e6, 7e9)] == ["12", "1.23 k", "5.6 M", "7 G"]
    assert [tables.size(x) for x in (None, 960, 5040, 3 * 10**9)] == ["", "960 B", "5.04 kB", "3 GB"]


def test_what_is_known_not_to_hold_is_timed_and_flagged(monkeypatch):
    case = TimedCase("small", "attention", B=2, H=3, L=8, E=4)
    monkeypatch.setattr("attnconf.conformance.timing.grid.cases", lambda device, which: (case,))
    monkeypatch.setattr("attnconf.conformance.timing.machine.peaks", lambda device, clock: {})
    rules = Rules(min_rounds=8, min_seconds=0.0, warm_up=0.0)
    races = Races("smoke", "cpu", load("reference"), lambda i, c: Standing((), ("ATT-ERROR-1",)), rules, FixedClock())
    races.make_plan()
    _, entry = races.run("small", "reference")
    assert (entry["status"], entry["verdict"]) == ("timed", "SAME")
    assert [flag["code"] for flag in entry["flags"]] == ["known-deviation"]
    assert races.record()["planned"] == len(races.record()["cases"]) == 1


@pytest.mark.parametrize(("which", "seconds"), [("smoke", 10.0), ("grid", 2.5)])
def test_a_grid_on_a_gpu_has_little_time_for_each_case(which, seconds, monkeypatch):
    case = TimedCase("small", "attention", B=2, H=3, L=8, E=4, device="cuda")
    given = []
    monkeypatch.setattr("attnconf.conformance.timing.grid.cases", lambda device, which: (case,))
    monkeypatch.setattr("attnconf.conformance.timing.machine.peaks", lambda device, clock: {})
    monkeypatch.setattr("attnconf.conformance.timing.machine.facts", lambda device: {"device": device})
    monkeypatch.setattr("attnconf.conformance.timing.machine.busy", lambda: "")
    monkeypatch.setattr(
        "attnconf.conformance.timing.run.time_case",
        lambda case, contenders, rules, **more: (
            given.append(rules) or {"status": "not-run", "reason": "no CUDA device"}
        ),
    )
    races = Races(which, "cuda", load("reference"), lambda i, c: Standing((), ()), clock=FixedClock())
    races.make_plan()
    races.run("small", "reference")
    assert [rules.max_seconds for rules in given] == [seconds]
