"""The verbs that read files only, the doctor, and where `attnconf run` may be started."""

import ast
import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from command_line import attnconf

from attnconf import __version__, adapters, cli, doctor, run_verb
from attnconf.adapters import contract
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine import catalogue, contract_texts
from attnconf.conformance.source.syntax import tree_of
from attnconf.spec import profiles, registry


@pytest.fixture
def ask(capsys, monkeypatch):
    """Return a function that runs the command line in this process: (exit code, output, errors)."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments):
        code = cli.main(arguments)
        return code, *capsys.readouterr()

    return run


def test_help_names_every_verb_and_the_exit_codes(ask):
    code, out, _ = ask("--help")
    assert code == 0
    assert all(
        verb in out
        for verb in ("run", "list", "explain", "mutate", "rubric", "doctor", "report", "diff", "demo", "exit codes")
    )
    for verb in ("run", "list", "explain", "mutate", "rubric", "doctor", "report", "diff", "demo"):
        assert ask(verb, "--help")[0] == 0


def test_the_commands_that_help_shows_are_commands(ask):
    shown = re.findall(r"^  (attnconf .+?)(?:  |$)", ask("--help")[1], flags=re.MULTILINE)
    assert len(shown) == 14
    for command in shown:
        assert cli.parser().parse_args(shlex.split(command)[1:]).act


def test_version(ask):
    assert ask("--version") == (0, f"attnconf {__version__}\n", "")


def test_list_has_everything_under_headings(ask):
    code, out, _ = ask("list")
    assert code == 0
    for name in ("implementations", "chapters", "requirements", "mutants", "profiles"):
        assert f"\n{name}\n" in f"\n{out}"
    for name in (*catalogue.adapter_names(), *registry.requirements(), *catalogue.mutant_texts(), *profiles.names()):
        assert f"\n  {name} " in out, name
    assert max(map(len, out.splitlines())) <= 120


def test_list_of_one_kind_has_a_line_for_each(ask):
    code, out, _ = ask("list", "requirements")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(registry.requirements())
    assert ["ATT-LINEAR-1", "MUST", "The", "output", "MUST", "be", "linear", "in", "V."] in map(
        str.split, out.splitlines()
    )
    assert ask("list", "implementations")[1].startswith(catalogue.adapter_names()[0])


def test_explain_a_requirement_in_any_case(ask):
    code, out, _ = ask("explain", "att-scale-1")
    assert code == 0
    assert out.startswith("ATT-SCALE-1  (MUST, chapter attention)\n  When no scale is given")
    assert "Note. E is the width of one head" in out
    for name in ("ATT-SCORE-1", "ATT-DUPL-1", "proportional to q·(k_i"):  # what it presupposes, and why
        assert name in out
    for field in (
        "core-1: attention (direct), multi_head_attention (heads)", "ATT-scaled-by-model-width",
        "the_default_scale_is_one_over_root_e (conformance/chapters/attention/checks/scores.py:",
        "spec/attention.md#att-scale-1", "attnconf run --impl NAME -k ATT-SCALE-1",
    ):  # fmt: skip
        assert field in out
    assert "ATT-SCALE-2" not in out


def test_explain_says_what_a_requirement_needs(ask):
    assert "  needs        scale\n" in ask("explain", "ATT-SCALE-3")[1]


def test_explain_a_mutant(ask):
    code, out, _ = ask("explain", "ATT-SCALED-BY-E")
    assert code == 0
    assert out.startswith("ATT-scaled-by-E  (mutant, chapter attention)\n  the scores are divided by E instead of √E")
    for field in ("breaks       ATT-SCALE-1", "hint         take the square root", "seen in      kornia#4165"):
        assert field in out
    assert "file         conformance/chapters/attention/mutants/scale.py:" in out


def test_explain_shows_the_reference_beside_what_is_asked(ask):
    lines = ask("explain", "ATT-SCALE-1")[1].splitlines()
    at = next(n for n, line in enumerate(lines) if "# reference/attention.py:" in line)
    assert [line.partition(" | ")[2] for line in lines[at + 1 : at + 3]] == [
        "def default_scale(q: Tensor) -> float:",
        "    return float(q.shape[-1] ** -0.5)",
    ]
    assert lines[at].startswith("  When no scale is given, an implementation")
    assert "  example      spec/attention.md:" in "\n".join(lines)


def test_explain_leaves_the_sentence_out_where_there_is_no_room_beside_the_code(ask, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert "\n   | def default_scale(q: Tensor) -> float:\n" in ask("explain", "ATT-SCALE-1")[1]


def test_explain_a_component_that_is_a_chapter_too(ask):
    _, out, _ = ask("explain", "Rotary")
    for field in (
        "rotary  (component, judged by spec/rotary.md, spec/calls.md, spec/throughput.md)",
        "forward(x, *, positions=None)",
        "head_dim: int",
        "can declare  rope-pairing: interleaved, half", "core-3: ", "rotary  (chapter ROPE: ", "ROPE-PAIR-1",
    ):  # fmt: skip
        assert field in out
    assert ask("explain", "rope")[1] in out


def test_explain_a_component_with_weights_and_conventions(ask):
    _, out, _ = ask("explain", "multi_head_attention")
    for field in (
        "def multi_head_attention(config, weights):", "  weights      with W = num_heads · head_dim", "`q.weight`",
        "num_heads: int", "fully-masked-row: zeros, nan, mean", "causality: optional, always", "self-attention-1: ",
    ):  # fmt: skip
        assert field in out
    assert "gives        ids" in ask("explain", "tokenizer")[1]
    assert "num_layers: int = 2" in ask("explain", "encoder")[1]


def test_explain_a_convention(ask):
    _, out, _ = ask("explain", "norm-order")
    for field in (
        "norm-order  (convention)", 'declares = {"norm-order": "post"}', "taken to be both", "spec/encoder.md",
        "`post` (norm(x + f(x)))", "encoder_layer, encoder, decoder_layer",
    ):  # fmt: skip
        assert field in out


def test_explain_a_profile(ask):
    _, out, _ = ask("explain", "core-3")
    for field in ("core-3  (profile, the default)", "rotary (direct): ", 'profile = "core-3"', "--profile core-3"):
        assert field in out


def test_explain_a_case(ask):
    _, out, _ = ask("explain", "Readable-1")
    for field in ("readable-1  (case)", "sizes        q(2, 3, 5, 7) k(2, 3, 4, 7) ", "ATT-SCALE-1", "-k readable-1"):
        assert field in out
    assert "CALL-SHAPE-1" in ask("explain", "uniform-1")[1]  # a law of every call


def test_the_reference_of_every_requirement_is_found():
    for requirement in registry.requirements().values():
        functions = catalogue.references(requirement)
        assert functions, requirement.id
        assert all(f.source.startswith("def ") and '"""' not in f.source for f in functions)


def test_a_law_of_every_call_points_to_what_computes_the_component():
    (found,) = catalogue.reference_of("encoder_layer")
    assert (found.chapter, found.name) == ("encoder", "encoder_layer")
    assert catalogue.reference_of("tokenizer") == []  # its functions have other names


def test_what_is_told_of_the_contract_is_what_it_says():
    told = contract_texts.component_texts()
    assert list(told) == list(contract.COMPONENTS)
    for name, component in told.items():
        known = contract.COMPONENTS[name]
        assert (component.config, component.signature) == (known.config.__name__, known.forward)
        assert component.returns == known.returns
        assert (component.made_of, component.conventions) == (known.made_of, known.conventions)
        assert [line.partition(":")[0] for line in component.fields] == [field.name for field in fields(known.config)]
    assert {name: c.choices for name, c in contract_texts.convention_texts().items()} == contract.CONVENTIONS


def test_an_adapter_is_listed_with_the_first_line_of_its_docstring():
    for name, line in catalogue.adapter_texts().items():
        source = (Path(adapters.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        assert ast.get_docstring(tree_of(source)).partition("\n")[0] == line


def test_everything_can_be_explained(ask):
    there = (registry.requirements(), catalogue.mutant_texts(), registry.CHAPTERS, registry.CHAPTERS.values(),
             contract_texts.component_texts(), contract_texts.convention_texts(), profiles.names())  # fmt: skip
    for name in (name for kind in there for name in kind):
        code, out, err = ask("explain", name)
        assert (code, err) == (0, ""), name
        assert name in out


def test_every_requirement_has_a_check_that_explain_finds():
    found = {name for chapter in registry.CHAPTERS.values() for name in catalogue.check_texts(chapter)}
    assert found == set(registry.requirements())


def test_every_mutant_is_listed_as_it_is():
    listed = {m.id: (m.chapter, m.story, set(m.breaks), m.hint, m.source) for m in catalogue.mutant_texts().values()}
    mutants = all_mutants().values()
    assert listed == {m.id: (m.chapter, m.story, set(m.breaks), m.hint, m.source) for m in mutants}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "ATT-SCALE-9"], "profile or case 'ATT-SCALE-9'; nearest: ATT-SCALE-"),
        (["explain", "readable-9"], "nearest: readable-"),
        (
            ["explain", "scale"],
            "there is no requirement, mutant, chapter, component, convention, profile or case 'scale'",
        ),
        (["explain", "rotery"], "nearest: rotary"),
        (["explain", "norm-ordre"], "nearest: norm-order"),
        (["explain", "ATT-unscalde"], "nearest: ATT-unscaled"),
        (["explain", "qqqq"], "attnconf list shows all"),
        (["lst"], "invalid choice: 'lst'"),
        (["list", "requirement"], "nearest: requirements"),
        (["run"], "which implementation? give --impl NAME"),
        (["run", "--implementation", "x"], "unrecognized arguments: --implementation"),
        (["run", "--imp=x"], "unrecognized arguments: --imp=x; nearest: --impl"),
        (["run", "right.py", "-q", "too.py"], "unrecognized arguments: too.py; to judge something: --impl too.py"),
        (["run", "--impl", "reference", "--seed", "many"], "argument --seed: invalid int value: 'many'"),
        (["report"], "which results? want files written by `attnconf run --results`, or --spec"),
        ([], "the following arguments are required: verb"),
    ],
)
def test_a_mistake_is_answered_in_one_line(ask, arguments, message):
    code, out, err = ask(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ERROR: ")
    assert len(err.splitlines()) == 1
    assert message in err


def test_what_is_judged_needs_no_option():
    arguments = cli.parser().parse_args(["run", "a.py", "b.py:C", "--seed", "1", "--impl", "c"])
    handed = [word for word in run_verb.pytest_arguments(arguments) if word.startswith("--impl")]
    assert handed == ["--impl=a.py", "--impl=b.py:C", "--impl=c"]


def test_nothing_heavy_is_imported_to_read_files():
    code = (
        "import sys\nfrom attnconf.cli import main\n"
        "explained = (['explain', name] for name in ('ATT-SCALE-1', 'rotary', 'norm-order', 'core-3', 'x'))\n"
        "for verb in (['--help'], ['--version'], ['list'], *explained, ['run']):\n"
        "    main(verb)\n"
        "print(sorted({'torch', 'numpy', 'pytest', 'hypothesis', 'tabulate', 'rich'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_doctor_finds_the_suite_sound(ask):
    code, out, _ = ask("doctor")
    assert code == 0
    for name in ("attnconf", "python", "torch", "numpy", "pytest", "devices", "threads"):
        assert f"\n{name} " in f"\n{out}"
    assert "suite      sound" in out


def test_doctor_blames_the_suite(ask, monkeypatch):
    monkeypatch.setattr(
        doctor, "apply", lambda mutants: doctor.Implementation("blank", {"attention": lambda c, w: None})
    )
    code, out, _ = ask("doctor")
    assert code == 1
    assert "FAULT      the reference gives 'fail' on ATT-SCALE-1, want 'pass'" in out
    assert "NOT SOUND" in out


def test_doctor_sees_a_blind_check(ask, monkeypatch):
    real = doctor.apply
    monkeypatch.setattr(doctor, "apply", lambda mutants: real([]))
    code, out, _ = ask("doctor")
    assert code == 1
    assert "FAULT      the mistake ATT-unscaled gives 'pass' on ATT-SCALE-1, want 'fail'" in out


HOSTILE = {
    "pytest.ini": "[pytest]\naddopts = --nonsense\n",
    "conftest.py": "raise RuntimeError('a conftest that must not be read')\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--nonsense'\n",
    "test_mine.py": "raise RuntimeError('a test that must not be collected')\n",
    "random.py": "raise RuntimeError('a module that must not stand in for another')\n",
    "numpy.py": "raise RuntimeError('a module that must not stand in for another')\n",
}
RIGHT = "from attnconf.adapters.reference import attention, declares\n"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """Return a run in a folder that is full of traps: the process, and what it wrote."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in HOSTILE.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "homework.py").write_text(RIGHT, encoding="utf-8")
    done = attnconf(
        "run", "--impl=homework.py", "--impl=homework", "--results=out.json", "-k", "CALL-SHAPE-1 or ATT-SCALE",
        cwd=folder, PYTEST_ADDOPTS="--nonsense", PYTEST_PLUGINS="nonsense", PYTHONIOENCODING="ascii",
    )  # fmt: skip
    return done, json.loads((folder / "out.json").read_text(encoding="utf-8"))


def test_run_works_in_a_folder_full_of_traps(hostile):
    done, record = hostile
    assert done.returncode == 0, done.stdout + done.stderr
    assert "homework.py: attention (adapter; profile core-3)" in done.stdout
    assert [i["name"] for i in record["implementations"]] == ["homework.py", "homework"]
    assert {r["outcome"] for r in record["results"]} == {"pass"}


def test_a_selection_is_never_conformant(hostile):
    done, record = hostile
    assert record["suite"]["selected"]
    assert {(v["verdict"], v["reason"]) for v in record["verdicts"]} == {("incomplete", "only a selection was judged")}
    assert "INCOMPLETE" in done.stdout
