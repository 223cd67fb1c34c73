"""``attnconf.check``: the same findings as the command line, in a script and in a notebook."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import command_line
import jsonschema
import pytest
import torch

import attnconf
from attnconf import cli
from attnconf.adapters import reference
from attnconf.conformance import inference
from attnconf.conformance.engine import coverage
from attnconf.conformance.engine.request import Binding, Implementation, Unjudgeable
from attnconf.reports import record as records

HOMEWORK = Path(__file__).parents[1] / "miniatures" / "homework.py"
SELECTED = "ATT-SCALE-1 or CALL-SHAPE-1"


def attention(config, weights):
    """Attention that says what it does and forgets the scale."""

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        print("<scores>", query.shape)
        scores = query @ key.transpose(-2, -1) * (config.scale or 1)
        return torch.softmax(scores, dim=-1) @ value

    return forward


class Layer:
    """No adapter: its binding is inferred."""


@pytest.fixture(scope="module")
def homework():
    return attnconf.check(HOMEWORK, profile="core-1")


def test_it_finds_what_the_command_line_finds(homework, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    done = command_line.in_process("run", f"--impl={HOMEWORK}", "--profile=core-1", "--results=out.json", cwd=tmp_path)
    record = records.read(tmp_path / "out.json")

    def without_times(content):
        return {**content, "results": [{**r, "seconds": 0} for r in content["results"]]}

    assert without_times(record) == without_times(homework.record)
    assert str(homework).splitlines() == done.stdout.splitlines()


def test_a_report_of_a_wrong_implementation(homework):
    assert (homework.verdict, homework.ok, bool(homework)) == ("nonconformant", False, False)
    assert set(homework.counts) == {"pass", "fail"}
    assert sum(homework.counts.values()) == len(homework.record["results"])
    first = homework.failures[0]
    assert (first.requirement, first.component, first.strength) == ("ATT-SCALE-1", "multi_head_attention", "MUST")
    assert first.likely.startswith("the scores are divided by √(H·E)")
    assert first.hint == "divide by math.sqrt(head_dim), not by math.sqrt(embed_dim)"
    assert first.sentence.startswith("When no scale is given")
    assert "got 0.218218, want 0.377964" in first.message
    assert re.fullmatch(r"homework\.py:\d+", first.where)
    assert first.spec == "spec/attention.md#att-scale-1"
    assert "ATT-ORACLE-1" in first.consequences
    assert "ATT-SCALE-1 violated by" in str(homework)
    assert repr(homework).startswith("<attnconf.Report: nonconformant (13 fail, 8")


def test_the_record_is_a_results_file(homework, tmp_path):
    jsonschema.Draft202012Validator(json.loads(records.PAGE.read_text(encoding="utf-8"))).validate(homework.record)
    text = homework.to_json(tmp_path / "out.json")
    assert json.loads(text) == homework.record == records.read(tmp_path / "out.json")
    assert cli.main(["report", str(tmp_path / "out.json"), "-o", str(tmp_path / "out.md")]) == 0


SUBMISSIONS = Path(__file__).parents[1] / "submissions" / "wrong"


@pytest.mark.parametrize("file", ["att_mask_late.py", "lay_no_skips.py", "norm_whole_sample.py", "pos_degrees.py"])
def test_a_rerun_of_one_case_names_the_same_mistake(file):
    whole = attnconf.check(SUBMISSIONS / file)
    for failure in whole.failures:
        result = next(r for r in whole.record["results"] if r["requirement"] == failure.requirement)
        case = next(c["name"] for c in result["cases"] if c["outcome"] == "fail")
        again = attnconf.check(SUBMISSIONS / file, select=f"{failure.requirement} and {case}")
        assert [f.likely for f in again.failures] == [failure.likely]


def test_a_module_of_functions(capsys):
    report = attnconf.check(reference, component="attention")
    assert report
    assert report.verdict == "conformant"
    assert report.record["implementations"][0]["components"] == ["attention"]
    assert (
        str(report).splitlines()[-1]
        == "next:  --thorough explores further; --blind-spots shows lines that no check ran"
    )
    assert capsys.readouterr() == ("", "")


def test_a_dict_of_functions_and_a_selection(capsys):
    report = attnconf.check({"attention": attention}, select="ATT-SCALE-1", seed=3)
    assert capsys.readouterr() == ("", "")  # what it prints is its own affair
    assert not report.ok
    assert {f.requirement for f in report.failures} == {"ATT-SCALE-1"}
    case = report.record["results"][0]["cases"][0]["name"]
    assert f'  rerun     attnconf.check(functions, select="ATT-SCALE-1 and {case}", seed=3)' in str(report)


def test_a_rerun_has_the_device_and_the_profile_in_quotes():
    def slow(config, weights):
        def forward(query, key, value, **options):
            rows = [
                reference.attention(config, weights)(query[..., i : i + 1, :], key, value)
                for i in range(query.shape[-2])
            ]
            return torch.cat(rows, dim=-2)

        return forward

    report = attnconf.check({"attention": slow}, profile="throughput", select="PERF-OPS-1")
    assert 'select="PERF-OPS-1 and throughput-1", profile="throughput")' in str(report)


def test_a_selection_that_passes_is_ok():
    report = attnconf.check({"attention": reference.attention, "declares": reference.declares}, select=SELECTED)
    assert report.verdict == "incomplete"
    assert report.ok


def test_what_is_not_supported_is_not_ok():
    def unable(config, weights):
        raise NotImplementedError("anything")

    report = attnconf.check({"attention": unable}, select=SELECTED)
    assert report.counts == {"unsupported": len(report.record["results"])}
    assert not report.ok


def test_threads_and_random_numbers_are_left_as_they_were():
    torch.manual_seed(5)
    want = torch.rand(3)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    attnconf.check({"attention": reference.attention}, select="ATT-DROP")
    assert torch.equal(torch.rand(3), want)
    assert torch.get_num_threads() == threads


def test_a_class_and_a_function_are_inferred(monkeypatch):
    asked = []

    def infer_object(target, component=None):
        asked.append((target, component))
        functions = {"attention": reference.attention}
        return Implementation(target.__name__, functions, reference.declares, binding=Binding())

    monkeypatch.setattr(inference, "infer_object", infer_object, raising=False)
    assert attnconf.check(Layer, component="attention", select=SELECTED)
    assert attnconf.check(attention, select=SELECTED).record["implementations"][0]["binding"] == "inferred"
    assert asked == [(Layer, "attention"), (attention, None)]


def test_a_class_that_cannot_be_bound_is_not_gradable(monkeypatch):
    monkeypatch.setattr(
        inference, "infer_object", lambda target, component: Unjudgeable("Layer", "", "no forward"), raising=False
    )
    report = attnconf.check(Layer)
    assert (report.verdict, report.ok, report.counts, report.failures) == ("not-gradable", False, {}, [])
    assert "Layer: NOT-GRADABLE; no forward" in str(report)
    assert "no forward" in report._repr_html_()


WRONG = [
    ((Layer(),), {}, "found an object of Layer, want the class: it is built anew for every case"),
    ((torch.nn.Linear(2, 2),), {}, "attnconf.check(Linear)"),
    ((5,), {}, "found 5, want a path, a class, a function, or a module or dict of adapter functions"),
    (("nowhere.py",), {}, "no file 'nowhere.py'"),
    ((Path("nowhere.py"),), {}, "no file 'nowhere.py'"),
    (("referense",), {}, "nearest: reference"),
    ((reference,), {"component": "atention"}, "unknown component 'atention'"),
    ((reference,), {"component": "atention"}, "nearest: attention"),
    (({"attention": attention},), {"component": "rotary"}, "functions has no component 'rotary' (it has attention)"),
    ((reference,), {"profile": "core-9"}, "unknown profile 'core-9'"),
    ((reference,), {"device": "nothing"}, "device 'nothing': "),
    ((reference,), {"component": "attention", "select": "zzz"}, "select='zzz' selects nothing"),
    ((reference,), {"component": "attention", "select": "and"}, "select='and': "),
    (({"attention": attention},), {"profile": "self-attention-1"}, "judges nothing that functions has: attention"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "options", "message"), WRONG)
def test_a_mistake_is_a_value_error_of_one_line(arguments, options, message):
    with pytest.raises(ValueError, match=r"^.+\Z") as raised:  # no line break
        attnconf.check(*arguments, **options)
    assert message in str(raised.value)


def test_blind_spots_without_coverage(monkeypatch):
    monkeypatch.setattr(coverage, "available", lambda: False)
    with pytest.raises(ValueError, match="pip install 'attention-conformance\\[coverage\\]'"):
        attnconf.check(HOMEWORK, blind_spots=True)


def test_what_is_no_component_is_not_gradable():
    report = attnconf.check({"atention": attention})
    assert report.verdict == "not-gradable"
    assert "it defines atention, which is no component; nearest: attention" in str(report)


class Reader(HTMLParser):
    """Checks that what is opened is closed, and keeps tags and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html_is_self_contained_and_escaped():
    def unable(config, weights):
        raise ValueError("<script>alert('&')</script>")

    page = attnconf.check({"attention": unable}, select="CALL-SHAPE-1")._repr_html_()
    read = Reader(page)
    assert "<script>alert('&')</script>" in read.text
    assert not [tag for tag, given in read.tags if tag in ("script", "link", "img") or "src" in given]
    assert "nonconformant" in read.text
    assert "CALL-SHAPE-1 violated by functions (attention)" in read.text


def test_importing_attnconf_imports_nothing_heavy():
    code = "import attnconf, sys; attnconf.check; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
