"""Parts of attention are found by what they do: sinks, gates, tables of biases, gains, one key for all, windows."""

from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
DECLARED = {  # of each file, beside what plain attention declares; by what it is certified
    "right/att_sink_and_groups.py": ({"sinks": "learned", "kv-heads": "grouped"}, "reference"),
    "right/att_gate_beside_queries.py": ({"output-gate": "features"}, "reference"),
    "right/att_gate_for_each_head.py": ({"output-gate": "heads"}, "reference"),
    "right/att_finestra_causale.py": ({"window": "given"}, "reference"),
    "right/att_window_in_config.py": ({"window": "given", "kv-heads": "grouped"}, "reference"),
    "right/att_polar_tables.py": ({"positions-inside": "rotary", "kv-heads": "grouped"}, "reference"),
    "right/att_axes_by_name.py": ({}, "reference"),
    "right/att_d_n_h.py": ({"kv-heads": "one"}, "reference"),
    "right/att_ctx_of_arrays.py": ({}, "reference"),
    "right/att_t5_table_inside.py": ({"positions-inside": "relative-bias"}, "reference"),
    "right/att_one_key_for_all.py": ({"kv-heads": "one"}, "reference"),
    "right/att_part_of_each_head_turns.py": ({"rotary-part": "given", "positions-inside": "rotary"}, "reference"),
    "right/att_offsets_of_pairs.py": ({"positions-inside": "shaw", "relative-values": "yes"}, "reference"),
    "right/att_distance_embedding.py": ({"positions-inside": "shaw", "offset-rows": "descending"}, "reference"),
    "right/att_abstandsvektoren.py": ({"positions-inside": "shaw", "relative-values": "yes"}, "reference"),
    "wrong/att_window_in_config.py": ({"window": "given", "kv-heads": "grouped"}, "reference"),
    "wrong/att_gate_shut_where_open.py": ({"output-gate": "heads"}, "FAM-gate-inverted"),
    "wrong/att_gate_behind_the_output.py": ({"output-gate": "features"}, "FAM-gate-last"),
    "wrong/att_offsets_of_pairs.py": ({"positions-inside": "shaw"}, "FAM-offsets-not-scaled"),
    "wrong/att_abstand_einmal.py": ({"relative-values": "yes"}, "FAM-offsets-of-keys-in-values"),
    "wrong/att_sink_column_in_front.py": ({"sinks": "learned"}, "FAM-sink-column-kept~2"),
}
FAMILY = {"sinks", "output-gate", "window", "positions-inside", "relative-values", "offset-rows", "kv-heads",
          "rotary-part"}  # fmt: skip


def inferred(path):
    every, _ = inference.bindings(read(path), None, None)
    (found,) = (one for one in every if one.draft.component == "multi_head_attention")
    return found


@pytest.mark.parametrize("file", DECLARED)
def test_what_is_inside_is_declared(file):
    found = inferred(SUBMISSIONS / file)
    declared = {name: choice for name, choice in found.draft.declares.items() if name in FAMILY}
    want, certified = DECLARED[file]
    assert declared.items() >= want.items()
    assert found.certified == certified


def test_a_bias_of_a_gate_is_seen_to_be_added_to_it(tmp_path):
    """One that is added elsewhere makes it another thing: nothing certifies it."""
    text = (SUBMISSIONS / "right/att_gate_for_each_head.py").read_text(encoding="utf-8")
    path = tmp_path / "homework.py"
    path.write_text(text.replace("x @ self.w_tor + self.b_tor", "(x @ self.w_tor) * self.b_tor"), encoding="utf-8")
    assert inferred(path).certified is None


def test_a_window_that_hides_something_else_is_said(tmp_path):
    text = (SUBMISSIONS / "right/att_finestra_causale.py").read_text(encoding="utf-8")
    path = tmp_path / "homework.py"
    path.write_text(text.replace("indietro <= self.finestra", "(indietro + self.finestra) % 3 < 2"), encoding="utf-8")
    assert [words for words in inferred(path).open_ends if "`finestra` hides keys in a way that is not known" in words]


@pytest.mark.parametrize(("said", "own"), [("itself included", True), ("tokens before it", False)])
def test_how_many_keys_a_window_counts_is_what_the_file_says(tmp_path, said, own):
    text = (SUBMISSIONS / "wrong/att_window_in_config.py").read_text(encoding="utf-8")
    path = tmp_path / "homework.py"
    words = "a token sees itself and the w - 1 before it, w tokens in all"
    path.write_text(text.replace(words, said), encoding="utf-8")
    assert ("config.window[0] + 1" in inferred(path).draft.body) == own


def test_a_window_that_hides_nothing_is_broken():
    (words,) = inferred(SUBMISSIONS / "wrong/att_window_beside_a_flag.py").broken
    assert words == "the argument `window_size` hides nothing where attention is causal"


def test_scores_that_are_not_divided_are_said_to_be_so():
    found = inferred(SUBMISSIONS / "right/att_t5_table_inside.py")
    assert [words for words in found.told if "scores are not divided by √D" in words]
    assert '(weights["q.weight"] * config.head_dim**-0.5)' in found.draft.body


@pytest.mark.parametrize(("file", "words"), [("right", ()), ("wrong", ("a token after it differs",))])
def test_a_dict_of_the_caller_keeps_what_came_before(file, words):
    found = inferred(SUBMISSIONS / file / "att_polar_tables.py")
    said = [*found.broken, *found.open_ends]
    assert len(said) == len(words)
    assert all(word in one for word, one in zip(words, said, strict=True))
