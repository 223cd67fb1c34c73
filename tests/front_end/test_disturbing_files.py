"""Whatever a file does, it leaves a results file and a verdict, and the process ends; so do faults of our own."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COLUMNS, in_process

ROOT = Path(__file__).parents[2]
HERE = "disturbing.py"
BESIDE = """
import threading, time, warnings
def forever():
    while True:
        time.sleep(0.01)
def fail():
    raise RuntimeError("in a thread")
threading.Thread(target=forever).start()
threading.Thread(target=fail).start()
print("imported")
warnings.warn("imported")
warnings.simplefilter("error")
"""
ATTENTION = r'''
import math, os
import torch
from torch import nn
from beside import fail, threading, warnings
class SelfAttention(nn.Module):
    """Attention \c with a \d in its words."""
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
    def forward(self, x):
        """Pay \attention."""
        print("called")
        warnings.warn("called", DeprecationWarning)
        threading.Thread(target=fail).start()
        os.chdir("/")
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(SCALED), dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))
def wrong(x):
    return x is 1
'''
RUN = ["-m", "attnconf", "run"]
PYTEST = ["-m", "pytest", "conformance"]


def judged(folder, text, command, python=()):
    """Return the exit code, the verdict and what was printed of a file that is judged in a process of its own."""
    (folder / "beside.py").write_text(BESIDE, encoding="utf-8")
    (folder / HERE).write_text(text, encoding="utf-8")
    results = folder / "results.json"
    done = subprocess.run(
        [sys.executable, *python, *command, f"--impl={folder / HERE}", f"--results={results}"],
        cwd=ROOT, env=os.environ | COLUMNS, capture_output=True, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    printed = done.stdout + done.stderr
    assert "INTERNALERROR" not in printed, printed
    assert "Traceback" not in printed, printed
    record = json.loads(results.read_text(encoding="utf-8"))
    assert record["complete"]
    (verdict,) = record["verdicts"]
    return done.returncode, verdict["verdict"], printed


@pytest.mark.parametrize(
    ("command", "python"),
    [(PYTEST, []), ([*PYTEST, "-W", "error"], ["-W", "error"]), (RUN, []), (RUN, ["-W", "error"])],
    ids=["pytest", "pytest -W error", "attnconf run", "python -W error -m attnconf run"],
)  # fmt: skip
def test_warnings_prints_and_threads_of_a_file_change_nothing(tmp_path, command, python):
    code, verdict, printed = judged(tmp_path, ATTENTION.replace("SCALED", "q.shape[-1]"), command, python)
    assert (code, verdict) == (0, "conformant"), printed
    assert "imported" not in printed
    assert "in a thread" not in printed


def test_what_is_wrong_in_such_a_file_is_found_and_explained(tmp_path):
    text = ATTENTION.replace("SCALED", "x.shape[-1]")
    code, verdict, printed = judged(tmp_path, text, [*PYTEST, "-W", "error"])
    assert (code, verdict) == (1, "nonconformant")
    line = text[: text.index("weights =")].count("\n") + 1
    assert f"where     {HERE}:{line}  weights = " in printed


def test_a_report_in_python_is_made_where_warnings_are_errors(tmp_path):
    (tmp_path / "beside.py").write_text("import threading, warnings\ndef fail(): ...\n", encoding="utf-8")
    (tmp_path / HERE).write_text(ATTENTION.replace("SCALED", "q.shape[-1]"), encoding="utf-8")
    asks = f"import attnconf; print(attnconf.check({HERE!r}, select='ATT-SCALE-1').ok)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", asks], cwd=tmp_path, capture_output=True, text=True,
                          timeout=600, check=False)  # fmt: skip
    assert done.stdout == "True\n", done.stderr


def verdict_of(folder, name, *options):
    """Return the verdict on something, and its reason, from a run in this process."""
    done = in_process("run", f"--impl={name}", "--results=results.json", *options, cwd=folder)
    record = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert record["complete"], done.stdout
    (verdict,) = record["verdicts"]
    return verdict["verdict"], verdict["reason"]


def test_a_parameter_whose_width_is_rounded_down_to_nothing(tmp_path):
    (tmp_path / "it.py").write_text(
        """
import torch
from torch import nn
class Norm(nn.Module):
    def __init__(self, dim, groups=64):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))
        self.gate = nn.Parameter(torch.zeros(dim, dim // groups))
    def forward(self, x):
        y = (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)
        return y * (self.weight + self.gate.sum(-1)) + self.bias
""",
        encoding="utf-8",
    )
    verdict, reason = verdict_of(tmp_path, "it.py:Norm@layer_norm", "-k", "LN-MEAN-1")
    assert verdict == "incomplete"
    assert reason == "only a selection was judged"


@pytest.mark.long
def test_a_library_with_wrapped_methods_of_c_is_looked_through(tmp_path):
    verdict, reason = verdict_of(tmp_path, "torch")
    assert verdict == "not-gradable"
    assert reason.startswith("nothing in it looks like a component (")
    assert len(reason) < 600


@pytest.mark.parametrize("function", ["bind", "begin"])
def test_an_exception_of_ours_ends_an_attempt_and_is_told(tmp_path, monkeypatch, function):
    def faulty(place):
        return 1 / 0

    monkeypatch.setattr(
        importlib.import_module("attnconf.conformance.inference.binders.norms"), function, faulty, raising=False
    )
    (tmp_path / "it.py").write_text("from torch import nn\nclass LayerNorm(nn.LayerNorm): ...\n", encoding="utf-8")
    done = in_process("run", "--impl=it.py:LayerNorm@layer_norm", "--results=it.json", cwd=tmp_path)
    said = "a fault of the suite, not of the file: ZeroDivisionError: division by zero (test_disturbing_files.py:"
    assert said in " ".join(done.stdout.split())
    (verdict,) = json.loads((tmp_path / "it.json").read_text(encoding="utf-8"))["verdicts"]
    assert verdict["verdict"] != "nonconformant"


def test_an_exception_of_ours_in_an_explanation_leaves_the_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr("attnconf.conformance.run.explain.draw", lambda run, relations: 1 / 0)
    (tmp_path / "it.py").write_text("from torch import nn\nclass Norm(nn.LayerNorm): ...\n", encoding="utf-8")
    done = in_process("run", "--impl=it.py:Norm@layer_norm", "--results=it.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "not explained: a fault of the suite, not of the file: ZeroDivisionError: division by zero" in done.stdout
    (verdict,) = json.loads((tmp_path / "it.json").read_text(encoding="utf-8"))["verdicts"]
    assert verdict["verdict"] == "conformant"


@pytest.mark.parametrize("name", ["it.py:LayerNrom", "it:LayerNrom", "torch.nn.LayerNrom", "torch.nn:LayerNrom"])
def test_a_mistyped_class_is_bad_input_wherever_it_is_looked_for(tmp_path, name):
    (tmp_path / "it.py").write_text("from torch import nn\nclass LayerNorm(nn.LayerNorm): ...\n", encoding="utf-8")
    done = in_process("run", f"--impl={name}", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line]
    assert line.startswith("ERROR: ")
    assert "nearest: " in line
    assert line.endswith("LayerNorm") or "LayerNorm;" in line
