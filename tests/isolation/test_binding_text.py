"""What a process in which a file has run may say of how that file is called: no code in its place."""

import pytest

from attnconf.conformance.engine import binding_text
from attnconf.conformance.inference import infer
from attnconf.conformance.loading import resolve
from attnconf.conformance.worker.wire import Malformed

FILE = '''\
from torch import nn


class Attention(nn.Module):
    """Pads with <pad>."""

    def __init__(self, breite):
        super().__init__()
        self.frage = nn.Linear(breite, breite)
'''
RIGHT = """\
def multi_head_attention(config, weights):
    if config.dropout and config.training:
        raise NotImplementedError("dropout")
    module = theirs.Attention(breite=config.embed_dim)
    call = bind(module, {"frage.weight": weights["q.weight"], "in_proj_weight": torch.cat([weights["k.weight"]])})

    def forward(query, *, key_mask=None):
        return call(query, mask=None if key_mask is None else ~key_mask[:, None, :], pad="<pad>")

    return forward
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_what_calls_the_file_may_be_said(source):
    binding_text.demand(RIGHT, source)


@pytest.mark.parametrize(("line", "why"), [
    ("import torch", "a Import"),
    ("from attnconf.reference import attention", "a ImportFrom"),
    ("class Attention: pass", "a ClassDef"),
    ("while True: pass", "a While"),
    ("x = (lambda: (yield))", "a Yield"),
    ("torch.softmax(scores, -1)", "softmax"),
    ("scores.exp()", "exp"),
    ("theirs.nn.functional.scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention"),
    ("exec(text)", "exec"),
    ("eval(text)", "eval"),
    ("getattr(torch, name)", "getattr"),
    ("theirs.Attention.__globals__", "__globals__"),
    ("theirs.run('lambda q: q.softmax(-1)')", "a constant of another kind or size"),
    ("theirs.run('a\\nb')", "a constant of another kind or size"),
    ("theirs.run(b'code')", "a constant of another kind or size"),
    ("theirs.run(1j)", "a constant of another kind or size"),
    (f"theirs.run({10**30})", "a constant of another kind or size"),
])  # fmt: skip
def test_what_could_stand_for_it_may_not(source, line, why):
    with pytest.raises(Malformed, match=f"^gave a binding that does more than call what is in the file: it has {why}$"):
        binding_text.demand(f"{RIGHT}\n{line}\n", source)


@pytest.mark.parametrize(("text", "why"), [
    (f"{RIGHT}\n" + "\n".join(f"x = y{n}" for n in range(100)), "101 words that are neither"),
    (f"{RIGHT}\n{'y' * 41} = 1", "2 words that are neither"),
    (f"{RIGHT}\n" + "x = 1\n" * 1000, "parts"),
    ("x = 1\n" * 10_000, "characters"),
    ("def f(:", "no Python"),
    ("x" + "[0]" * 5000, "no Python"),
])  # fmt: skip
def test_there_is_no_room_for_much(source, text, why):
    with pytest.raises(Malformed, match=why):
        binding_text.demand(text, source)


def test_any_words_are_said_as_a_sentence(source):
    said = binding_text.sentence('f(x) raises "a = b"; out has shape (12, 5), want (6, 5)')
    assert said == "f x raises a b out has shape [12, 5], want [6, 5]"
    placed = binding_text.sentence("it raises KeyError: 'x' (homework.ipynb, cell 2, line 12)")
    assert placed == "it raises KeyError: 'x' (homework.ipynb, cell 2, line 12)"
    binding_text.demand(f"{RIGHT}\nx = {said!r}\ny = {placed!r}\n", source)


def test_words_of_files_beside_it_are_its_own(source, tmp_path):
    (tmp_path / "parts.py").write_text(" ".join(f"part{n}" for n in range(100)), encoding="utf-8")
    binding_text.demand(f"{RIGHT}\n" + "\n".join(f"x = part{n}" for n in range(100)), source)


def test_what_the_suite_itself_writes_may_be_said():
    for name in ("torch.nn:MultiheadAttention", "torch.nn:TransformerDecoderLayer", "torch.nn:TransformerEncoder"):
        for found in resolve.load(name, infer):
            binding_text.demand(found.binding.text, found.source)
