"""The study of public code: what draws its sources, what judges them, and its committed tables."""

import csv
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from attnconf.conformance.source.syntax import tree_of
from attnconf.reports.studies import public_clones, public_code, public_components, public_sources
from attnconf.reports.studies.public_clones import Clone, Limits
from attnconf.reports.studies.public_sources import Framed

STUDIES = Path(public_code.__file__).parent
NORM = """
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
"""
NOTEBOOK = """{"cells": [
    {"cell_type": "markdown", "source": ["# A course"]},
    {"cell_type": "code", "source": ["!pip install torch\\n", "import torch"]},
    {"cell_type": "code", "source": "this is no Python"},
    {"cell_type": "code", "source": ["def attention(q, k, v):\\n", "    return torch.softmax(q @ k.mT, -1) @ v"]}
]}"""
FILES = {
    "someone/layers": {"README.md": "My homework", "src/norm.py": NORM, "tests/norm.py": NORM, "src/old.py": "print 1"},
    "someone/notebook": {"attention.ipynb": NOTEBOOK},
    "someone/fork": {"norm.py": NORM.replace("eps=1e-6):", 'eps=1e-6):\n        """A copy."""')},
    "someone/website": {"index.py": "class Page:\n    pass\n"},
}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a frame of five repositories, and the clones of four of them beside it."""
    for repository, files in FILES.items():
        clone = tmp_path / "clones" / repository.replace("/", "+")
        for name, text in files.items():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_text(text, encoding="utf-8")
        git = ["git", "-C", str(clone), "-c", "user.name=A", "-c", "user.email=a@example.org"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
            subprocess.run([*git, *command], check=True)
    lines = ["phrase\trepository\tseen", *(f"attention\t{name}\t" for name in (*FILES, "someone/gone"))]
    (tmp_path / "public_frame.tsv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def draw(folder):
    public_sources.main([str(folder / "clones"), "--folder", str(folder)])
    return table(folder / "public_sources.tsv"), table(folder / "public_frame.tsv")


def test_what_is_eligible_is_drawn_once_and_the_rest_is_counted(folder, capsys):
    rows, frame = draw(folder)
    assert "2 of 2 repositories; 1 copies left out" in capsys.readouterr().out
    assert {(row["class"], row["component"]) for row in rows} == {("RMSNorm", "norms"), ("attention", "attention")}
    assert not any(row["path"].startswith("tests/") for row in rows)
    assert all(re.fullmatch(r"[0-9a-f]{40}", row["commit"]) for row in rows)
    assert Counter(row["outcome"] for row in frame) == {
        "drawn 1": 2, "only copies": 1, "nothing eligible": 1, "no snapshot": 1,
    }  # fmt: skip
    kinds = {row["repository"]: row["kind"] for row in rows}
    assert kinds.get("someone/layers", "homework") == "homework"
    again, _ = draw(folder)
    assert again == rows


def test_a_repository_that_is_not_reached_is_not_drawn_from(folder):
    public_sources.main([str(folder / "clones"), "--folder", str(folder), "--first", "0"])
    assert {row["outcome"] for row in table(folder / "public_frame.tsv")} == {"not reached"}
    assert table(folder / "public_sources.tsv") == []


def test_sources_are_judged_once_and_published_without_names(folder, capsys):
    rows, _ = draw(folder)
    (part,) = {row["part"] for row in rows if row["class"] == "RMSNorm"}
    (number,) = (row["number"] for row in rows if row["class"] == "RMSNorm")
    attnconf = str(Path(sys.executable).with_name("attnconf"))
    words = [str(folder / "clones"), str(folder / "out"), "--part", part, "--only", number, "--attnconf", attnconf]
    public_code.main([*words, "--folder", str(folder)])
    assert "norms         conformant     1" in capsys.readouterr().out
    (published,) = table(folder / "out" / "public_code.tsv")
    assert not {"kind", "frame", "reason"} & published.keys()
    assert published["verdict"] == "conformant"
    assert published["judged_as"] == "rms_norm conformant"
    assert not any("someone" in text for text in published.values())
    counts = table(folder / "out" / "public_sums.tsv")
    assert {(row["column"], row["verdict"], row["truth"], row["count"]) for row in counts} == {
        ("kind", "conformant", "right", "1"), ("frame", "conformant", "right", "1"),
    }  # fmt: skip
    words[-1] = "false"  # would leave no results if it were asked again
    public_code.main([*words, "--folder", str(folder)])
    assert table(folder / "out" / "public_code.tsv") == [published]
    assert not (folder / "public_code.tsv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "99999"], "the first part has no source 99999"),
        (["--attnconf", "no such command"], "no command no such command"),
        (["--folder", "nowhere"], "No such file or directory: 'nowhere/public_sources.tsv'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(words, said, folder, capsys):
    with pytest.raises(SystemExit):
        public_code.main([str(folder), str(folder / "out"), "--part", "first", "--attnconf", "false", *words])
    assert capsys.readouterr().err.splitlines()[-1].endswith(said)
    assert not (folder / "out").exists()


def test_what_leaves_no_results_or_has_no_clone_is_said_and_not_kept(folder, capsys):
    rows, _ = draw(folder)
    part = rows[0]["part"]
    words = [str(folder / "out"), "--part", part, "--folder", str(folder), "--attnconf", "false"]
    numbers = [row["number"] for row in rows if row["part"] == part]
    for clones, why in ((folder / "clones", "it left no results: and said nothing"), (folder, "no clone of someone/")):
        with pytest.raises(SystemExit, match=f"{len(numbers)} of {len(numbers)} were not judged"):
            public_code.main([str(clones), *words])
        said = capsys.readouterr().err.splitlines()
        assert [line.partition(": ")[0] for line in said if f": {why}" in line] == numbers
    assert not list((folder / "out").glob("*.json"))


def test_where_there_is_no_clone_nothing_is_drawn_and_no_table_is_touched(folder):
    before = (folder / "public_frame.tsv").read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="no clone of any repository"):
        public_sources.main([str(folder / "nowhere"), "--folder", str(folder)])
    assert (folder / "public_frame.tsv").read_text(encoding="utf-8") == before
    assert not (folder / "public_sources.tsv").exists()


def test_what_does_not_end_is_ended_with_all_that_it_started(tmp_path):
    said = public_clones.run(
        [sys.executable, "-c", "print('on', flush=True)\nwhile True: pass"], str(tmp_path), Limits(2)
    )
    assert said == "on\n\nnot done in 2 s"


@pytest.mark.parametrize(
    ("text", "component"),
    [
        ("class MHA:\n    def forward(self, x):\n        return x.softmax(-1)", "attention"),
        ("class MHA:\n    def attend(self, x):\n        return x.softmax(-1)", None),  # nothing that is called
        ("class LinearAttention:\n    def forward(self, x):\n        return x.softmax(-1)", None),
        ("def scaled_dot_product_attention(q, k, v):\n    return softmax(q @ k) @ v", "attention"),
        ("def test_attention(q):\n    return softmax(q)", None),
        ("class PositionalEncoding:\n    def forward(self, x):\n        return sin(x)", "positions"),
        ("class PreNorm:\n    def forward(self, x):\n        return x.mean()", None),
        ("class LlamaRMSNorm:\n    def forward(self, x):\n        return x.mean()", "norms"),
        ("class MLP:\n    def forward(self, x):\n        return x @ self.a @ self.b", "feed-forward"),
        ("class Block:\n    def forward(self, x):\n        return x + self.attn(x)", "layers"),
        ("class Block:\n    def forward(self, x):\n        return x + self.conv(x)", None),
        ("class MiniGPT:\n    def call(self, x, heads):\n        for layer in self.layers: x = layer(x)", "models"),
        ("class Decoder:\n    def call(self, x):\n        for layer in self.layers: x = layer(x)", None),
    ],
)
def test_a_definition_is_eligible_by_its_name_and_its_tree(text, component):
    assert public_components.component_of(tree_of(text).body[0]) == component


@pytest.mark.parametrize(
    ("verdict", "reason", "kind"),
    [
        ("conformant", "", ""),
        (
            "not-gradable",
            "ImportError: cannot import name 'x' from 'y'",
            "a library is missing, or a module of its own",
        ),
        ("not-gradable", "MyNorm('x') raises KeyError", "it raises, however it is built and called"),
        ("not-gradable", "AssertionError: Torch not compiled with CUDA", "it wants a GPU"),
        ("not-gradable", "it takes fewer inputs than rotary has", "another form than any component"),
        ("not-gradable", "nothing", "anything else"),
        ("nonconformant", "violates ATT-SCALE-1, MASK-ROWS-1", "ATT-SCALE-1 does not hold"),
        ("nonconformant", "the argument `mine` of forward has no effect", "an argument without effect"),
        ("incomplete", "the argument `mine` of forward was not tried", "an option that raises, or was not tried"),
    ],
)
def test_a_published_reason_says_nothing_of_whose_it_is(verdict, reason, kind):
    assert public_code.why(verdict, reason) == kind


def test_published_numbers_hang_on_the_key():
    sources = public_code.listed(STUDIES / "public_sources.tsv")
    one, same, other = (public_code.opaque(sources, key) for key in (b"1", b"1", b"2"))
    assert one == same != other
    assert sorted(one.values()) == list(range(1, len(sources) + 1))


def test_a_case_of_letters_is_no_other_repository():
    assert public_sources.hashed("A/B") == public_sources.hashed("a/b") != public_sources.hashed("a/b:C")
    assert public_sources.hashed("a/b:C") != public_sources.hashed("a/b:c")


def test_a_clone_without_a_content_has_the_others(folder):
    here = Clone(folder / "clones" / "someone+layers" / ".git")
    (blob, *_) = here.files(here.head()).values()
    assert set(here.contents([blob, "0" * 40])) == {blob}


def test_the_committed_table_is_what_the_rule_says():
    frame = {row["repository"]: row for row in table(STUDIES / "public_frame.tsv")}
    rows = table(STUDIES / "public_sources.tsv")
    assert [row["number"] for row in rows] == [str(n) for n in range(1, len(rows) + 1)]
    ranks = [public_sources.hashed(row["repository"]) for row in rows]
    assert ranks == sorted(ranks)
    for repository, n in Counter(row["repository"] for row in rows).items():
        assert frame[repository]["outcome"] == f"drawn {n}"
    for row in rows:
        one = Framed(*(frame[row["repository"]][name] for name in ("phrase", "repository", "seen")))
        assert (row["part"], row["frame"]) == (one.part, one.frame)
    assert len({(row["repository"], row["component"]) for row in rows}) == len(rows)


def test_the_page_counts_what_the_tables_have():
    page = (STUDIES / "public_code.md").read_text(encoding="utf-8")
    assert public_sources.counted(table(STUDIES / "public_frame.tsv"), table(STUDIES / "public_sources.tsv")) in page
