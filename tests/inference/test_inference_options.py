"""Options whose names say nothing, flags in either position, and attention without a batch: what is found of them."""

import re
from pathlib import Path

import pytest
import torch
from command_line import in_process

from attnconf.adapters import generated
from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
HERE = Path(__file__).parents[1] / "submissions"
HEAD = "import math\nimport torch\nfrom torch import nn\n"
CLASS = """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads{constructor}):
        super().__init__()
        self.n = n_heads
        {keep}
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x{options}):
        q, k, v = (w(x).unflatten(-1, (self.n, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = q @ k.mT / math.sqrt(q.shape[-1])
        {scores}
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
"""
FUNCTION = """
def attention(q, k, v{options}):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    {scores}
    return s.softmax(-1) @ v
"""
LATER = "s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu({first}), -math.inf) if {when} else s"


def multi_head(scores="pass", options="", constructor="", keep="pass"):
    return HEAD + CLASS.format(scores=scores, options=options, constructor=constructor, keep=keep)


def function(scores, options):
    return HEAD + FUNCTION.format(scores=scores, options=options)


def later(when, first=1):
    return LATER.format(when=when, first=first)


def inferred(path):
    """Return the one binding of a file."""
    (bound,), _ = inference.bindings(read(Path(path)), None, None)
    return bound


def inferred_of(folder, text):
    path = folder / "homework.py"
    path.write_text(text, encoding="utf-8")
    return inferred(path)


MASKS = {
    "True hides": ("s if ? is None else s.masked_fill(?, -math.inf)", "(B, H, L, S) true-drops", "true-drops"),
    "True keeps": ("s if ? is None else s.masked_fill(~?, -math.inf)", "(B, H, L, S) true-keeps", "true-keeps"),
    "padding": ("s if ? is None else s.masked_fill(?[:, None, None] == 0, -1e30)", "(B, S) true-keeps", "true-keeps"),
    "added": ("s if ? is None else s + ?", "(B, H, L, S) additive", "additive"),
    "lengths": (
        "s if ? is None else s.masked_fill(torch.arange(s.shape[-1]) >= ?.view(-1, 1, 1, 1), -math.inf)",
        "lengths (B,)", "lengths",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ["hide", "look", "blocked"])
@pytest.mark.parametrize("form", MASKS)
def test_a_mask_may_have_any_name(tmp_path, form, name):
    scores, told, kind = MASKS[form]
    found = inferred_of(tmp_path, multi_head("s = " + scores.replace("?", name), f", {name}=None"))
    assert found.certified == "reference"
    assert found.draft.declares["mask"] == kind
    assert f"; {name} {told}" in found.told[2]


@pytest.mark.parametrize("given", ["", "=None"])
def test_a_mask_of_any_name_may_have_to_be_given(tmp_path, given):
    found = inferred_of(
        tmp_path, function("s = s if hide is None else s.masked_fill(hide, -math.inf)", f", hide{given}")
    )
    assert found.certified == "reference"
    assert found.told[2] == "masks        hide (B, H, L, S) true-drops"
    insists = inferred_of(tmp_path, multi_head("s = s.masked_fill(hide, -math.inf)", ", hide"))
    assert insists.certified == "reference"
    assert "; hide (B, H, L, S) true-drops" in insists.told[2]


def test_a_known_mistake_in_a_mask_of_any_name_is_asked_for():
    found = inferred(HERE / "wrong" / "att_hide_after_softmax.py")
    assert found.established
    assert "hide=hide" in found.draft.body


ODD = "s = s if ignore is None else s - 5 * ignore"


@pytest.mark.parametrize("text", [multi_head(ODD, ", ignore=None"), function(ODD, ", ignore=None")])
def test_what_takes_a_mask_and_is_nothing_that_we_know_is_in_doubt(tmp_path, text):
    found = inferred_of(tmp_path, text)
    assert not found.established
    assert "in doubt     ignore takes a mask and changes the output" in "\n".join(found.told)
    assert "ignore" not in found.draft.body


def test_the_verdict_on_what_is_in_doubt_says_why(tmp_path):
    path = tmp_path / "homework.py"
    path.write_text(function(ODD, ", ignore=None"), encoding="utf-8")
    done = in_process("run", f"--impl={path}", cwd=tmp_path)
    assert "INCOMPLETE" in done.stdout
    assert "equivalence not established: ignore takes a mask and changes the output" in done.stdout


LEFT = {
    "it takes no tensor": ("s = s if extra is None else s * len(extra['a'])", ["extra=None: no mask that we know"]),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_is_no_mask_is_left_alone(tmp_path, case):
    scores, said = LEFT[case]
    found = inferred_of(tmp_path, multi_head(scores, ", extra=None"))
    assert found.established
    assert [line.removeprefix("left alone   ") for line in found.told[3:]] == said
    assert found.told[1] == "forward      (x) -> result"


def test_what_nothing_reads_is_told_and_leaves_the_verdict_open(tmp_path):
    found = inferred_of(tmp_path, multi_head("pass", ", extra=None"))
    assert found.established
    assert found.told[3:] == ("option       the argument `extra` of forward has no effect",)
    assert found.open_ends == ("the argument `extra` of forward has no effect",)


TELLING = {
    "past=None": "option       the argument `past` of forward was not tried",
    "layer_cache=None": "option       the argument `layer_cache` of forward was not tried",
    "return_kv=False": "not tried    return_kv",
}


@pytest.mark.parametrize("option", TELLING)
def test_a_telling_name_is_not_tried_as_a_mask_and_that_is_said(tmp_path, option):
    found = inferred_of(tmp_path, multi_head(f"assert not {option.partition('=')[0]}", f", {option}, verbose=False"))
    assert found.established
    assert found.told[3:] == (TELLING[option],)


def test_a_bias_is_handed_to_one_argument(tmp_path):
    scores = "s = sum((b for b in (attn_bias, earlier) if b is not None), s)"
    found = inferred_of(tmp_path, function(scores, ", attn_bias=None, earlier=None"))
    assert "earlier=" not in found.draft.body
    assert "left alone   earlier=None: another bias" in found.told


def test_a_mask_is_told_once(tmp_path):
    found = inferred_of(
        tmp_path, multi_head("s = s if mask is None else s.masked_fill(mask, -math.inf)", ", mask=None")
    )
    assert found.told[2].count("true-drops") == 1
    assert found.draft.declares["mask"] == "true-drops"


MEMORY = {
    "refused": ("assert memory is None", "reference", "forward      (x) -> result"),
    "forgotten": ("pass", "MHA-memory-ignored", "forward      (x, memory=memory) -> result"),
}


@pytest.mark.parametrize("case", MEMORY)
def test_a_memory_may_be_left_out_where_it_is_not_taken(tmp_path, case):
    scores, certified, forward = MEMORY[case]
    found = inferred_of(tmp_path, multi_head(scores, ", memory=None"))
    assert (found.certified, found.told[1]) == (certified, forward)


FLAGS = {
    "on by default, causal if off": ("lookahead", "True", "not {}", "lookahead=not config.causal"),
    "off by default, causal if off": ("full", "False", "not {}", "full=not config.causal"),
    "on by default, causal if on": ("is_causal", "True", "{}", "is_causal=config.causal"),
    "off by default, causal if on": ("strict", "False", "{}", "strict=config.causal"),
    "a name that is in use": ("bidirectional", "True", "not {}", "bidirectional=not config.causal"),
}


@pytest.mark.parametrize("case", FLAGS)
def test_both_positions_of_a_flag_are_asked_for(tmp_path, case):
    name, default, when, asked = FLAGS[case]
    options = f", {name}={default}"
    texts = [
        multi_head(later(when.format(name)), options),
        multi_head(later(when.format("self.kept")), constructor=options, keep=f"self.kept = {name}"),
        function(later(when.format(name)), options),
    ]
    for text in texts:
        found = inferred_of(tmp_path, text)
        assert found.certified == "reference"
        assert asked in found.draft.body
        assert "causality" not in found.draft.declares
        assert found.profile != "causal-self-attention-1"


def test_a_flag_may_have_to_be_given(tmp_path):
    found = inferred_of(tmp_path, multi_head(later("not lookahead"), ", lookahead"))
    assert "forward      (x, lookahead=not causal) -> result" in found.told
    assert found.certified == "reference"


def test_a_configuration_may_hold_the_flag():
    found = inferred(HERE / "right" / "att_bidirectional_config.py")
    assert "bidirectional=not config.causal" in found.draft.body


def test_a_known_mistake_in_one_position_is_asked_for(tmp_path):
    found = inferred_of(tmp_path, multi_head(later("not lookahead", 2), ", lookahead=True"))
    assert "lookahead=not config.causal" in found.draft.body


def test_a_flag_in_whose_other_position_other_tokens_count_is_in_doubt(tmp_path):
    scores = "s = s if wide else s.tril() + s.tril().sin() - 1e30 * (1 - torch.ones_like(s).tril())"
    found = inferred_of(tmp_path, multi_head(scores, ", wide=True"))
    assert not found.established
    assert "in doubt     wide=False changes which tokens count" in "\n".join(found.told)


def test_a_flag_for_something_else_is_told(tmp_path):
    found = inferred_of(tmp_path, multi_head("s = s if soft else s * 3", ", soft=True"))
    assert found.established
    assert found.told[3:] == ("left alone   soft=True: what it does otherwise is not judged",)


SINGLE = {
    "right/att_tokens_linear.py": ("reference", {"heads": "one", "inputs": "self"}),
    "right/att_tokens_parameter_causal.py": ("reference", {"heads": "one", "causality": "always", "biases": "none"}),
    "right/att_tokens_heads_map.py": ("reference", {"inputs": "memory", "mask": "true-keeps"}),
    "wrong/att_tokens_wrong_axis.py": ("ATT-softmax-over-queries", {"inputs": "self"}),
}


@pytest.mark.parametrize("file", SINGLE)
def test_attention_of_one_sequence_is_judged_on_batches(file):
    certified, conventions = SINGLE[file]
    found = inferred(HERE / file)
    assert found.certified == certified
    assert conventions.items() <= found.draft.declares.items()
    assert found.told[1].endswith("one sequence (L, E) at a time")
    assert "return singly(forward)" in found.draft.body


def test_weights_come_back_for_every_sequence():
    found = inferred(HERE / "right" / "att_tokens_heads_map.py")
    assert "returned-weights" not in found.draft.declares
    assert re.search(r"return \(out, result\[1\]\[None\]\) if need_weights else out", found.draft.body)


def test_nobody_who_takes_one_sequence_is_asked_for_none():
    singly = generated.singly(lambda query, key, value: query)
    with pytest.raises(NotImplementedError, match="a batch without samples"):
        singly(*(torch.empty(0, 3, 4),) * 3)


@pytest.mark.parametrize("flag", ["", ", is_causal=False"])
def test_a_subtracted_mask_is_one_that_should_be_added(tmp_path, flag):
    scores = later("is_causal") if flag else "pass"
    scores += "\n        s = s if attn_mask is None else s - attn_mask"
    (tmp_path / "it.py").write_text(multi_head(scores, f", attn_mask=None{flag}"), encoding="utf-8")
    bound = inferred(tmp_path / "it.py")
    assert bound.masks == {"attn_mask": "additive"}
