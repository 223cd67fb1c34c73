"""Pictures in the terminal, and files of their own: error against length, and the kill matrix."""

import json
import sys
from xml.etree import ElementTree

import pytest
from made_records import record, result

from attnconf import cli
from attnconf.reports import drawn
from attnconf.reports.comparison.accuracy import Share
from attnconf.spec import registry

POINTS = [
    ("good", {1: Share(0.0, "ATT-A-1"), 16: Share(0.1, "ATT-A-1")}),
    ("bad", {16: Share(1e3, "ATT-B-1")}),
]


def test_each_implementation_is_a_letter_at_its_length_and_share():
    lines = drawn.lengths(POINTS, 80)
    at = {line.split()[0]: line for line in lines if line.strip()}
    assert at["1e3"].endswith("b")
    assert at["1e-1"].endswith("a")
    assert at["1e-6"].split()[-1] == "a"
    assert set(at["the"].split()[-1]) == {"─"}
    assert len(at["1e3"]) == len(at["1e-1"]) == 80
    assert lines[-2:] == ["a = good", "b = bad"]


def test_of_one_length_nothing_is_drawn():
    assert drawn.lengths(POINTS[1:], 80) == [
        "error against length: there are no two lengths to compare in these results"
    ]


def test_the_kill_matrix_has_a_shade_where_a_chapter_catches_mutants():
    content = {
        "chapters": ["attention", "masks", "alibi"],
        "requirements": [{"id": "ATT-A-1", "chapter": "attention"}, {"id": "MASK-A-1", "chapter": "masks"}],
        "mutants": [{"id": "m2", "chapter": "masks"}, {"id": "m1", "chapter": "attention"}],
        "rows": [{"mutant": "m1", "roots": ["ATT-A-1"]}, {"mutant": "m2", "roots": ["ATT-A-1", "MASK-A-1"]}],
    }
    _, _, first, second = drawn.kills(content, 80)
    assert (first.split(), second.split()) == (["attention", "██"], ["masks", "█"])
    assert second.index("█") == first.index("█") + 1  # m2 is the second: mutants are in the order of the chapters


def test_the_kept_matrix_is_drawn_in_the_terminal_and_into_a_file(tmp_path, capsys):
    assert cli.main(["report", "--draw", "kill-matrix"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{len(registry.requirements())} requirements by chapter, and ")
    assert "multi head attention" in told
    assert "█" in told
    assert cli.main(["report", "--draw", "kill-matrix", "-o", str(tmp_path / "k.svg")]) == 0
    assert len(ElementTree.parse(tmp_path / "k.svg").getroot()) > 20


@pytest.fixture
def results(tmp_path):
    made = [result("one", "ATT-ONE-1"), result("one", "ATT-ONE-2")]
    for r, described in zip(made, ("a: q(1, 2, 4, 3) float64", "b: 64 tokens float32"), strict=True):
        r["cases"][0] |= {"described": described, "error": 2e-7, "bound": 1e-6}
    path = tmp_path / "one.json"
    path.write_text(json.dumps(record("one", made, verdict="conformant")))
    return path


def test_lengths_are_drawn_in_the_terminal_and_into_a_file(results, tmp_path, capsys):
    assert cli.main(["report", str(results), "--draw", "lengths"]) == 0
    assert "a = one" in capsys.readouterr().out
    assert cli.main(["report", str(results), "--draw", "lengths", "-o", str(tmp_path / "l.svg")]) == 0
    titles = [e.text for e in ElementTree.parse(tmp_path / "l.svg").getroot().iter("{http://www.w3.org/2000/svg}title")]
    assert titles[1:] == ["one, 4: 0.2 ATT-ONE-1", "one, 64: 0.2 ATT-ONE-2"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--draw", "lengths"], "which results?"),
        (["RESULTS", "--draw", "kill-matrix"], "reads no results"),
        (["RESULTS", "--draw", "lengths", "-o", "l.pdf"], "its name must end in .png or .svg"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_line(given, words, results, capsys):
    assert cli.main([str(results) if one == "RESULTS" else one for one in ["report", *given]]) == 2
    assert words in capsys.readouterr().err


PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("given", [["--draw", "kill-matrix"], ["RESULTS", "--draw", "lengths"]])
def test_a_picture_is_svg_or_png_by_the_end_of_its_name(given, results, tmp_path, capsys):
    words = [str(results) if one == "RESULTS" else one for one in ["report", *given]]
    for name, beginning in (("p.png", PNG), ("p.PNG", PNG), ("p.SVG", b"<svg")):
        assert cli.main([*words, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(beginning)
        assert (tmp_path / name).stat().st_size < 300_000
    assert capsys.readouterr().out.count("written: ") == 3


@pytest.mark.parametrize("name", ["l.svg", "l.png"])
def test_of_one_length_no_file_is_written(name, tmp_path, capsys):
    made = result("one", "ATT-ONE-1")
    made["cases"][0] |= {"described": "b: 64 tokens float32"}
    (tmp_path / "one.json").write_text(json.dumps(record("one", [made], verdict="conformant")))
    assert cli.main(["report", str(tmp_path / "one.json"), "--draw", "lengths", "-o", str(tmp_path / name)]) == 2
    said = "ERROR: report --draw lengths: there are no two lengths to compare in these results\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / name).exists()


def test_without_matplotlib_a_png_is_refused_in_a_line_and_an_svg_is_drawn(tmp_path, capsys, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    for name, code in (("k.png", 2), ("k.svg", 0)):
        assert cli.main(["report", "--draw", "kill-matrix", "-o", str(tmp_path / name)]) == code
    assert "pip install 'attention-conformance[plots]'; .svg needs nothing" in capsys.readouterr().err
