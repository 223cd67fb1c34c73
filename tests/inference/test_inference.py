"""Files that know nothing of us: what is bound, what is said of it, and what is said where nothing can be."""

import json
import re
import shlex

import pytest
from command_line import in_process

pytestmark = pytest.mark.long


def attnconf(*arguments, cwd="."):
    return in_process(*arguments, cwd=cwd)


HEAD = "import math\nimport torch\nfrom torch import nn\n"
CLASS = """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n = n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, {inputs}):
        def split(x):
            return x.unflatten(-1, (self.n, -1)).transpose(1, 2)

        q, k, v = split(self.wq({q})), split(self.wk({k})), split(self.wv({v}))
        s = q @ k.mT {scale}
        {mask}
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
"""
PLAIN = {"inputs": "x", "q": "x", "k": "x", "v": "x", "scale": "/ math.sqrt(q.shape[-1])", "mask": "pass"}
CROSS = {**PLAIN, "inputs": "query, key, value, mask=None", "q": "query", "k": "key", "v": "value"}
DROPS = "s = s if mask is None else s.masked_fill(mask, -math.inf)"
KEEPS = "s = s if mask is None else s.masked_fill(~mask, -math.inf)"


def write(folder, text, name="homework.py"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def multi_head(**changes):
    return HEAD + CLASS.format(**{**PLAIN, **changes})


def record(folder, path, *options):
    results = folder / "results.json"
    done = attnconf("run", f"--impl={path}", f"--results={results}", *options)
    return done, json.loads(results.read_text(encoding="utf-8"))


def test_the_header_shows_the_binding(tmp_path):
    done = attnconf("run", "--impl=homework.py", cwd=write(tmp_path, multi_head()).parent)
    assert "multi_head_attention (inferred; profile self-attention-1)" in done.stdout
    assert "constructor  MultiHead(d_model=embed_dim, n_heads=num_heads)" in done.stdout
    assert "forward      (x) -> result" in done.stdout
    assert "weights      wq = q, wk = k, wv = v, wo = out; no masks" in done.stdout
    assert "CONFORMANT" in done.stdout
    assert done.returncode == 0


def test_a_mistake_is_named(tmp_path):
    done = attnconf("run", f"--impl={write(tmp_path, multi_head(scale=''))}")
    assert "the scores are not divided by √E" in done.stdout
    assert "NONCONFORMANT" in done.stdout


@pytest.mark.parametrize(("mask", "found"), [(DROPS, "true-drops"), (KEEPS, "true-keeps")])
def test_the_polarity_of_masks_is_found_and_reported(tmp_path, mask, found):
    done, content = record(tmp_path, write(tmp_path, HEAD + CLASS.format(**{**CROSS, "mask": mask})))
    assert done.returncode == 0
    assert content["implementations"][0]["conventions"]["mask"] == found


def test_a_course_may_prescribe_it(tmp_path):
    path = write(tmp_path, HEAD + CLASS.format(**{**CROSS, "mask": DROPS}))
    done = attnconf("run", f"--impl={path}", "--convention", "mask=true-keeps")
    assert done.returncode == 1
    assert "violates MASK-BOOL-1" in done.stdout
    said = r" prescribed mask=true-keeps: mask does the opposite, True = hidden; \w+\.py:\d+ .*fill\(mask, "
    assert re.search(said, " ".join(done.stdout.split()))
    (likely,) = {
        line
        for line in done.stdout.splitlines()
        if line.startswith("  likely    scores are hidden where they are allowed, and allowed where")
    }
    (rerun,) = (line for line in done.stdout.splitlines() if "rerun " in line and "MASK-BOOL-1" in line)
    again = attnconf(*shlex.split(rerun.partition("attnconf ")[2]))
    assert likely in again.stdout.splitlines()


def test_where_nothing_takes_a_mask_nothing_is_held_to_what_is_prescribed(tmp_path):
    path = write(tmp_path, multi_head())
    done = attnconf("run", f"--impl={path}", "--convention", "mask=true-keeps")
    assert "prescribed   mask=true-keeps: without effect: no argument was found that takes a mask" in done.stdout
    done = attnconf("run", "--impl=reference", "--convention", "mask=true-keeps", "-k", "CALL-SHAPE-1")
    assert "mask=true-keeps: without effect: an adapter is handed booleans, True = may attend" in done.stdout


LAYER = """
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, pad=None):
        x = self.norm1(x + self.attn(x, x, x, key_padding_mask=pad)[0])
        return self.norm2(x + self.down(torch.relu(self.up(x))))
"""


def test_a_layer_is_held_to_what_is_prescribed(tmp_path):
    path = write(tmp_path, HEAD + LAYER)
    assert attnconf("run", f"--impl={path}", "--convention", "mask=true-drops").returncode == 0
    done = attnconf("run", f"--impl={path}", "--convention", "mask=true-keeps")
    assert done.returncode == 1
    assert "    prescribed   mask=true-keeps: pad does the opposite, True = hidden\n" in done.stdout


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("mask", "want NAME=CHOICE, as in mask=true-keeps"),
        ("mast=true-keeps", "no convention 'mast'"),
        ("mask=keeps", "no choice of mask 'keeps': there are true-keeps, true-drops"),
    ],
)
def test_what_cannot_be_prescribed_is_said(tmp_path, word, said):
    done = attnconf("run", "--impl=reference", "--convention", word)
    assert done.returncode == 2
    assert said in done.stderr + done.stdout


def test_the_adapter_that_bind_writes_gives_the_same(tmp_path):
    path = write(tmp_path, HEAD + CLASS.format(**{**CROSS, "mask": KEEPS}))
    adapter = tmp_path / "adapter.py"
    assert attnconf("bind", str(path), "-o", str(adapter)).returncode == 0
    text = adapter.read_text(encoding="utf-8")
    assert "def multi_head_attention(config, weights):" in text
    assert '"wq.weight": weights["q.weight"],' in text
    outcomes = [
        [(r["component"], r["requirement"], r["outcome"]) for r in record(tmp_path, p)[1]["results"]]
        for p in (path, adapter)
    ]
    assert outcomes[0] == outcomes[1]


UNBOUND = {
    "nothing": ("x = 1\n", "nothing in it looks like a component"),
    "constructor": (
        multi_head().replace("d_model, n_heads):", "d_model, n_heads):\n        raise ValueError('not today')"),
        "ValueError: not today",
    ),
    "call": (multi_head().replace("def split(x):", "raise KeyError('x')\n        def split(x):"), "KeyError: 'x'"),
}


@pytest.mark.parametrize("case", UNBOUND)
def test_what_cannot_be_bound_says_why(tmp_path, case):
    text, said = UNBOUND[case]
    done = attnconf("run", f"--impl={write(tmp_path, text)}")
    assert "NOT-GRADABLE" in done.stdout
    assert said in done.stdout
    assert done.returncode == 1


def test_a_stub_is_a_failure_not_a_refusal(tmp_path):
    stub = multi_head(mask="raise NotImplementedError('todo')")
    done = attnconf("run", f"--impl={write(tmp_path, stub)}")
    assert "todo" in done.stdout
    assert done.returncode == 1


def test_what_bind_cannot_do_is_said_in_one_line(tmp_path):
    done = attnconf("bind", str(write(tmp_path, "x = 1\n")))
    assert done.returncode == 2
    assert "nothing in it looks like a component" in done.stderr


PLAIN_FUNCTION = """
def attention(q, k, v):
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
"""


@pytest.mark.parametrize("words", ["equal to the textbook on fresh weights", "a guess: nothing confirmed it"])
def test_a_run_and_bind_say_in_the_same_words_how_far_to_believe_a_binding(tmp_path, words):
    path = write(tmp_path, PLAIN_FUNCTION if "textbook" in words else PLAIN_FUNCTION.replace("@ v", "@ v.tanh()"))
    assert f"    binding      {words}\n" in attnconf("run", f"--impl={path}").stdout
    written = attnconf("bind", str(path)).stdout
    assert f"attention, {words}:" in written
    adapter = write(tmp_path, written, "adapter.py")
    assert (f"    binding      {words}\n" in attnconf("run", f"--impl={adapter}").stdout) == ("guess" in words)


def test_an_added_mask_of_ones_is_no_bias(tmp_path):
    """(1 - mask)·-1e9 hides for a mask of -inf as well."""
    path = write(
        tmp_path, HEAD + CLASS.format(**{**CROSS, "mask": "s = s if mask is None else s + (1.0 - mask) * -1e9"})
    )
    _, content = record(tmp_path, path)
    assert content["implementations"][0]["conventions"]["mask"] == "1-keeps"
    assert not [r for r in content["results"] if r["requirement"] == "MASK-BIAS-1" and r["outcome"] == "fail"]
