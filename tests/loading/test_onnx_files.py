"""Files of ONNX: which are judged as what, what they fix is not supported, and mistakes are named."""

import os
import subprocess
import sys

import numpy as np
import pytest
from apart import both
from command_line import in_process
from onnx import TensorProto, helper
from onnx_models import (
    BIAS,
    BOOL,
    COS,
    FLOAT,
    HEADS,
    MASK,
    PLACES,
    QKV,
    SCALE,
    SIN,
    X,
    alone,
    model,
    stored,
    tables,
)

from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.run.record import record

NODE = helper.make_node
ATTENTION = [*QKV, MASK]
WEIGHTS = {"outputs": ("out", "", "", "weights"), "qk_matmul_output_mode": 3}
LAST = [0, 2, 1, 3]


@pytest.fixture
def judged(tmp_path):
    """Return a function that judges a model: its verdict, and the outcomes and messages by requirement."""

    def judge(made):
        told = record(judge_all(make_plan(load(stored(tmp_path, made)), Settings())))
        return told["verdicts"][0], {r["requirement"]: (r["outcome"], r["message"]) for r in told["results"]}

    return judge


def around(*before, after=(), inputs=ATTENTION, takes=("query", "key", "value", "mask"), gives="out", **kept):
    """Return a model with nodes before and behind Attention."""
    return model([*before, NODE("Attention", takes, [gives]), *after], inputs, ["out"], 23, **kept)


RIGHT = {
    "layer norm": (alone("LayerNormalization", X, SCALE, BIAS), "layer_norm"),
    "layer norm without bias": (alone("LayerNormalization", X, SCALE), "layer_norm"),
    "rms norm": (alone("RMSNormalization", X, SCALE, epsilon=1e-6), "rms_norm"),
    "rotary": (alone("RotaryEmbedding", HEADS, COS, SIN, PLACES, interleaved=1), "rotary"),
    "rotary in halves": (alone("RotaryEmbedding", HEADS, COS, SIN, PLACES), "rotary"),
    "rows for each token": (
        alone("RotaryEmbedding", HEADS, *((n, FLOAT, [None] * 3) for n in ("cos_cache", "sin_cache"))),
        "rotary",
    ),
    "gelu": (alone("Gelu", X), "feed_forward"),
    "gelu by tanh": (alone("Gelu", X, approximate="tanh"), "feed_forward"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_file_conforms(judged, name):
    made, component = RIGHT[name]
    verdict, _ = judged(made)
    assert (verdict["component"], verdict["verdict"]) == (component, "conformant"), verdict["reason"]


@pytest.mark.parametrize(
    "made",
    [
        alone("Attention", *ATTENTION, **WEIGHTS),
        around(*(NODE("Transpose", [n], [f"{n}t"], perm=LAST) for n in ("query", "key", "value")),
               takes=("queryt", "keyt", "valuet", "mask"), gives="outt",
               after=[NODE("Transpose", ["outt"], ["out"], perm=LAST)]),
        around(NODE("Identity", ["query"], ["q"]), NODE("Cast", ["q"], ["qc"], to=FLOAT),
               takes=("qc", "key", "value", "mask")),
    ],
)  # fmt: skip
def test_attention_conforms(judged, made):
    """It has no dropout and no scale of its own, which the profile does not require; it is causal by its mask."""
    verdict, results = judged(made)
    assert verdict["verdict"] == "conformant", verdict["reason"]
    assert not [r for r, (outcome, _) in results.items() if outcome == "fail" and r not in BETTER]
    lacking = {message for outcome, message in results.values() if outcome == "unsupported"}
    assert "dropout: the operator has none" in lacking
    assert results["MASK-CAUSAL-1"][0] == "pass"
    assert results["ATT-SCALE-1"][0] == results["MASK-BOOL-1"][0] == results["MASK-BIAS-1"][0] == "pass"


BETTER = {"ATT-PREC-2", "MASK-NAN-1", "CALL-EMPTY-1"}  # recommendations that ONNX Runtime does not follow


def test_attention_that_is_always_causal_is_judged_each_query_apart(judged):
    verdict, results = judged(alone("Attention", *ATTENTION, is_causal=1))
    assert (verdict["verdict"], verdict["choices"]["causality"]) == ("conformant", "always"), verdict["reason"]
    assert results["ATT-ORACLE-1"][0] == results["MASK-CAUSAL-1"][0] == "pass"


@pytest.mark.parametrize(
    ("made", "requirement", "words"),
    [
        (alone("Attention", *ATTENTION, scale=1.0), "ATT-SCALE-1", "the scale 0.377964: the file has 1"),
        (alone("Attention", *ATTENTION, softcap=5.0), "ATT-ORACLE-1", "the file has softcap = 5"),
        (alone("Attention", *((n, FLOAT, [None] * 3) for n in ("q", "k", "v")), q_num_heads=5, kv_num_heads=5),
         "ATT-ORACLE-1", "heads of query: the file has q_num_heads = 5"),
        (alone("Attention", *((n, FLOAT, [1, 2, 9, 8]) for n in ("q", "k", "v"))), "ATT-ORACLE-1",
         "the file takes (1, 2, 9, 8)"),
        (alone("Attention", *QKV, ("mask", BOOL, [None] * 4)), "MASK-BIAS-1", "a bias: the file's mask is boolean"),
        (alone("Attention", *QKV), "MASK-BIAS-1", "masks and biases: the file has no input for them"),
        (alone("LayerNormalization", X, SCALE, BIAS, epsilon=0.5), "LN-ORACLE-1", "the file has 0.5"),
        (alone("LayerNormalization", X, SCALE, BIAS, axis=-2), "LN-ORACLE-1", "the file's axis is -2"),
        (alone("RotaryEmbedding", HEADS, COS, SIN, PLACES, rotary_embedding_dim=4), "ROPE-PAIR-1",
         "the file turns 4"),
        (model([NODE("RotaryEmbedding", ["x", "cos", "sin", "position_ids"], ["out"])], [HEADS, PLACES], ["out"], 23,
               **tables(500000.0)), "ROPE-FREQ-1", "base 10000: the file's tables have 500000"),
        (alone("Gelu", X, approximate="tanh"), "FF-RELU-1", "gelu"),
    ],
)  # fmt: skip
def test_what_a_file_fixes_is_not_supported_otherwise(judged, made, requirement, words):
    _, results = judged(made)
    outcome, message = results[requirement]
    assert outcome == "unsupported"
    assert words in message
    assert not [r for r, (outcome, _) in results.items() if outcome == "fail" and r not in BETTER]


def test_half_precision_of_a_file_in_float32_is_not_supported(judged):
    _, results = judged(alone("RMSNormalization", X, SCALE))
    assert results["RMS-HALF-1"] == ("unsupported", "bfloat16: the file computes in float32")
    assert results["RMS-PREC-2"][0] == "fail"  # float64 is rounded on the way in, and is not said to be kept


WRONG = {
    "crossed tables": (alone("RotaryEmbedding", HEADS, SIN, COS, PLACES, interleaved=1), "cos and sin are swapped"),
    "backwards": (
        model([NODE("Neg", ["sin_cache"], ["s"]), NODE("RotaryEmbedding", ["x", "cos_cache", "s", "position_ids"],
              ["out"])], [HEADS, COS, SIN, PLACES], ["out"], 23),
        "pairs turn backwards",
    ),
    "scaled again": (
        around(NODE("Mul", ["query", "half"], ["q"]), takes=("q", "key", "value", "mask"), half=np.float32(0.5)),
        "the scores are multiplied by a number besides 1/√E",
    ),
    "crossed inputs": (around(takes=("query", "value", "key", "mask")), "CALL-SHAPE-1"),
    "inverted mask": (
        around(NODE("Not", ["mask"], ["kept"]), inputs=[*QKV, ("mask", BOOL, [None] * 4)],
               takes=("query", "key", "value", "kept")),
        "the weights of a query sum to one",
    ),
    "another epsilon": (
        model([NODE("Mul", ["x", "tenth"], ["y"]), NODE("RMSNormalization", ["y", "scale"], ["out"])], [X, SCALE],
              ["out"], 23, tenth=np.float32(0.1)),
        "ε is 0.001, whatever the configuration says",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named(tmp_path, name):
    made, story = WRONG[name]
    stored(tmp_path, made)
    ran = in_process("run", "-q", "--impl=model.onnx", cwd=tmp_path)
    assert ran.returncode == 1
    assert "NONCONFORMANT" in ran.stdout
    assert story in " ".join(ran.stdout.split())


def test_the_other_pairing_is_a_choice_that_a_course_may_prescribe(tmp_path):
    stored(tmp_path, alone("RotaryEmbedding", HEADS, COS, SIN, PLACES))
    ran = in_process("run", "-q", "--impl=model.onnx", "--convention", "rope-pairing=interleaved", cwd=tmp_path)
    assert ran.returncode == 1
    assert "pairs are (x_i, x_i+R/2), which is not the declared pairing (ROPE-PAIR-1)" in ran.stdout


def test_the_head_of_a_run_says_what_the_file_is(tmp_path):
    stored(tmp_path, alone("RMSNormalization", X, SCALE))
    ran = in_process("run", "--impl=model.onnx", "-k", "RMS-EPS-1", cwd=tmp_path)
    assert "model.onnx: rms_norm (adapter; profile inference-1)\n" in ran.stdout
    assert "    graph        RMSNormalization-23 (float32), onnxruntime " in ran.stdout


def test_in_a_process_of_its_own_the_results_are_the_same(tmp_path):
    here, apart = both(stored(tmp_path, RIGHT["layer norm"][0]))
    assert here["verdicts"] == apart["verdicts"]
    assert [r["cases"] for r in here["results"]] == [r["cases"] for r in apart["results"]]


def test_nothing_is_sent_or_kept(tmp_path):
    """Telemetry of ONNX Runtime is on by default: it keeps an identifier of the machine in the user's folder."""
    path, home = stored(tmp_path, RIGHT["rms norm"][0]), tmp_path / "home"
    home.mkdir()
    code = f"""
import os
from pathlib import Path
from attnconf.conformance.source.onnx_files.adapter import module_of
module_of(Path({path!r}))
assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
"""
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=300)
    assert not [file for file in home.rglob("*") if "onnxruntime" in str(file)]


# -- what cannot be judged


def external(location):
    made = model([NODE("RMSNormalization", ["x", "scale"], ["out"])], [X], ["out"], 23, scale=np.ones(5, np.float32))
    (tensor,) = made.graph.initializer
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return made


NONE_OF_ALL = "a graph with one of Attention, RotaryEmbedding, LayerNormalization, RMSNormalization, Gelu is wanted"
REFUSED = {
    "other operators": (
        model([NODE("MatMul", ["x", "x"], ["y"]), NODE("Softmax", ["y"], ["out"])], [X], ["out"], 23),
        f"{NONE_OF_ALL}, this has none (it has MatMul, Softmax)",
    ),
    "two of them": (
        model([NODE("Gelu", ["x"], ["y"]), NODE("Gelu", ["y"], ["out"])], [X], ["out"], 23),
        f"{NONE_OF_ALL}, this has 2 of them (it has Gelu)",
    ),
    "custom operators": (
        model([NODE("Foo", ["x"], ["out"], domain="com.example")], [X], ["out"], 23),
        "it has operators that are not ONNX's own: com.example:Foo",
    ),
    "one input for all": (
        model([NODE("Attention", ["x", "x", "x"], ["out"])], [X], ["out"], 23),
        "its input 'x' leads to two inputs of Attention: each needs one of its own",
    ),
    "a mask that is laid out": (
        around(NODE("Unsqueeze", ["mask", "axes"], ["m"]), takes=("query", "key", "value", "m"), axes=np.array([1, 2])),
        "the mask of Attention is laid out anew on the way (Unsqueeze): that is not known",
    ),
    "an older opset": (model([NODE("Gelu", ["x"], ["out"])], [X], ["out"], 17), "opset 17 has no Gelu; "),
    "a circle": (
        model([NODE("Gelu", ["x"], ["a"]), NODE("Identity", ["b"], ["c"]), NODE("Add", ["a", "c"], ["b"])], [X],
              ["out"], 23),
        "what Gelu gives is no output of the file",
    ),
    "data of the system": (external("/etc/passwd"), "the data of 'scale' lies outside of its folder: '/etc/passwd'"),
    "data above": (external("../secret"), "the data of 'scale' lies outside of its folder: '../secret'"),
    "data by a link": (external("link"), "the data of 'scale' lies outside of its folder: 'link'"),
    "no data": (external("lacking"), "the data of 'scale' is lacking: there is no file 'lacking' beside it"),
    "data that is cut": (external("cut"), "it cannot be read: "),
}  # fmt: skip


def test_heads_may_be_split_in_the_file(judged):
    """A file that takes them side by side is right in calls with as many heads as it has."""
    names = ("query", "key", "value")
    before = [NODE("Reshape", [n, "split"], [f"{n}s"]) for n in names]
    before += [NODE("Transpose", [f"{n}s"], [f"{n}t"], perm=LAST) for n in names]
    after = [NODE("Transpose", ["outt"], ["outs"], perm=LAST), NODE("Reshape", ["outs", "merged"], ["out"])]
    inputs = [*((n, FLOAT, [None] * 3) for n in names), MASK]
    made = around(*before, after=after, inputs=inputs, takes=("queryt", "keyt", "valuet", "mask"), gives="outt",
                  split=np.array([0, 0, 3, -1]), merged=np.array([0, 0, -1]))  # fmt: skip
    _, results = judged(made)
    assert not [r for r, (outcome, _) in results.items() if outcome == "fail" and r not in BETTER]
    assert sum(outcome == "pass" for outcome, _ in results.values()) > 15
    assert "heads or features: the file has 3" in results["ATT-ORACLE-1"][1]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_graph_is_refused_in_a_line(tmp_path, name):
    made, words = REFUSED[name]
    (tmp_path / "cut").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (found,) = load(stored(tmp_path, made))
    assert found.reason.startswith(words)
    assert "\n" not in found.reason


NO_MODEL = "it is no ONNX model, or only a part of one: it cannot be decoded"
WHOLE = RIGHT["layer norm"][0].SerializeToString()


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"", "the file is empty"), (b"import torch\n", NO_MODEL), (bytes(99), NO_MODEL), (WHOLE[:80], NO_MODEL)],
)
def test_what_is_no_model_is_refused_in_a_line(tmp_path, raw, words):
    (tmp_path / "model.onnx").write_bytes(raw)
    (found,) = load(str(tmp_path / "model.onnx"))
    assert found.reason == words


def test_a_huge_file_is_not_read(tmp_path):
    with open(tmp_path / "model.onnx", "wb") as file:
        file.truncate(3 * 2**30)
    (found,) = load(str(tmp_path / "model.onnx"))
    assert found.reason == "it has 3.0 GiB, at most 1 is read"


def test_without_the_runtime_it_says_what_to_install(tmp_path, monkeypatch):
    path = stored(tmp_path, RIGHT["gelu"][0])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    (found,) = load(path)
    assert found.reason == "not run: needs onnxruntime, pip install 'attention-conformance[onnx]'"
