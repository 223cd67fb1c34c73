"""``attnconf demo``: one picture, or one line and exit code 2."""

import sys

import pytest
from command_line import attnconf

from attnconf import cli

PNG = b"\x89PNG\r\n\x1a\n"
OWN = """
import torch
declares = {"fourier-factor": "pi", "fourier-order": "frequency", "fourier-input": "kept"}


def fourier(config, weights):
    def forward(x):
        features = [x]
        for f in config.frequencies:
            features += [torch.sin(torch.pi * f * x), torch.cos(torch.pi * f * x)]
        return torch.cat(features, dim=-1)

    return forward
"""
LACKING = "def rotary(config, weights):\n    return lambda x: x\n"
FAILING = (
    "def fourier(config, weights):\n    def forward(x):\n        raise ValueError('no luck')\n    return forward\n"
)
BROKEN = "def fourier(config, weights)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("own", OWN), ("lacking", LACKING), ("failing", FAILING), ("broken", BROKEN)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_picture_is_written_with_a_progress_bar_and_the_figures(folder):
    done = attnconf("demo", "rose", "--impl", "own.py", "--steps", "3", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "rose.png").read_bytes().startswith(PNG)
    assert done.stdout.startswith("rose.png: ")
    assert "dB with the features of own.py" in done.stdout
    assert "with bare coordinates: 100%" in done.stderr
    assert sorted(p.name for p in folder.glob("*.png")) == ["rose.png"]


def test_conventions_do_not_matter(folder, capsys):
    said = []
    for name in ("own.py", "reference"):
        assert cli.main(["demo", "rose", "--impl", name, "--steps", "2", "-o", "some.png"]) == cli.OK
        said.append(capsys.readouterr().out.replace(name, "X"))
    assert said[0] == said[1]


WRONG = {
    "unknown": (["--impl", "referense"], "nearest: reference"),
    "without": (["--impl", "lacking.py"], "lacking.py has no component fourier (it has rotary)"),
    "failing": (["--impl", "failing.py"], "failing.py gives no features: raised ValueError: no luck"),
    "broken": (["--impl", "broken.py"], "broken.py cannot be used: line 1: SyntaxError"),
    "missing folder": (["--impl", "reference", "-o", "no/rose.png"], "there is no folder"),
    "another form": (["--impl", "reference", "-o", "rose.pdf"], "a picture's name must end in .png or .svg"),
    "a folder": (["--impl", "reference", "-o", "."], "it is a folder, want a file"),
    "no steps": (["--impl", "reference", "--steps", "0"], "--steps 0: want at least 1"),
    "no implementation": ([], "the following arguments are required: --impl"),
}


@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG)
def test_bad_input_is_answered_in_one_line(folder, arguments, words, capsys):
    assert cli.main(["demo", "rose", *arguments]) == cli.USAGE
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not list(folder.glob("**/*.png"))


def test_what_there_is_to_see_is_named(capsys):
    assert cli.main(["demo", "rise", "--impl", "reference"]) == cli.USAGE
    assert "nearest: rose" in capsys.readouterr().err


def test_without_matplotlib_the_way_to_get_it_is_told(folder, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["demo", "rose", "--impl", "reference"]) == cli.USAGE
    assert "pip install 'attention-conformance[plots]'" in capsys.readouterr().err


def test_an_interrupt_leaves_nothing_behind(folder, monkeypatch):
    from attnconf import demo

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "learn", interrupted)
    assert cli.main(["demo", "rose", "--impl", "reference"]) == cli.INTERRUPTED
    assert not list(folder.glob("*.png")) + list(folder.glob(".rose*"))


def test_a_folder_that_may_not_be_written_to(folder, monkeypatch, capsys):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # chmod does not stop a superuser
    assert cli.main(["demo", "rose", "--impl", "reference"]) == cli.USAGE
    assert "nothing may be written" in capsys.readouterr().err
