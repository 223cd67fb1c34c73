"""What a name leads to: a file, a notebook, a module, and a class or function in it."""

import pytest
from command_line import in_process

from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.loading.find import LoadError, Name
from attnconf.conformance.run.implementations import load


def test_a_layer_that_cannot_work_is_not_forgotten(write, inferred, monkeypatch):
    path = write(
        "import no_such as n\nclass Lost:\n    def forward(self, x): return n.g(x)\nclass Kept: ...\nprint(Kept())\n"
    )
    said = (
        "line 1, `import no_such as n`, raised ModuleNotFoundError: No module named 'no_such'; Lost (line 2) needs it"
    )
    (lost,) = load(str(path))
    assert (lost.name, lost.reason) == (str(path), said)
    (lost,) = load(f"{path}:Lost")
    assert lost.reason == f"Lost has no value: {said}"
    kept = Implementation("Kept", {})
    monkeypatch.setattr("attnconf.conformance.run.implementations.infer", lambda *asked: [kept])
    assert [i.name for i in load(str(path))] == ["Kept", f"{path}:Lost"]


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("homework.py", ("homework.py", None, None)),
        ("a/homework.ipynb:MyAttention", ("a/homework.ipynb", "MyAttention", None)),
        ("homework.py@encoder_layer", ("homework.py", None, "encoder_layer")),
        ("pkg.module:f@layer-norm", ("pkg.module", "f", "layer_norm")),
        ("masks.py:Masks.causal", ("masks.py", "Masks.causal", None)),
        ("a:x.py", ("a:x.py", None, None)),
        ("me@home/x.py:f", ("me@home/x.py", "f", None)),
        (r"C:\x.py", (r"C:\x.py", None, None)),
    ],
)
def test_a_name_is_taken_apart(typed, parts):
    name = Name.of(typed)
    assert (name.target, name.chosen, name.component) == parts


def test_an_unknown_component_is_the_callers_mistake():
    told = r"--impl x\.py@atention: no component 'atention': there are attention, causal_mask, "
    with pytest.raises(LoadError, match=told):
        Name.of("x.py@atention")
    with pytest.raises(LoadError, match=r"; nearest: attention$"):
        Name.of("x.py@atention")


@pytest.fixture
def inferred(monkeypatch):
    """Return what inference was asked."""
    asked = []

    def infer(source, label, chosen, component, prescribed=None):
        asked.append((source.module.__name__, label, chosen, component))
        return [Unjudgeable(label, str(source.path), "nothing")]

    monkeypatch.setattr("attnconf.conformance.run.implementations.infer", infer)
    return asked


def test_what_is_no_adapter_is_inferred(write, inferred):
    path = write("def attention(q, k, v): ...\nclass A: ...\nprint(1)\n", "plain.py")
    (found,) = load(f"{path}:A@attention")
    assert inferred == [("plain", f"{path}:A@attention", "A", "attention")]
    assert (found.name, found.reason) == (f"{path}:A@attention", "nothing (not run: line 3, `print(1)`)")
    load(str(path))
    assert inferred[1][2:] == (None, None)


def test_a_class_beside_adapter_functions_is_inferred(write, inferred):
    path = write("class A: ...\ndef attention(config, weights): ...\ndef layer_norm(config, weights): ...\n")
    load(f"{path}:A")
    assert inferred[0][2] == "A"
    assert list(load(str(path))[0].components) == ["attention", "layer_norm"]
    (found,) = load(f"{path}@layer_norm")
    assert (found.name, list(found.components)) == (f"{path}@layer_norm", ["layer_norm"])
    with pytest.raises(LoadError, match=r"has no component 'rms_norm' \(it has attention, layer_norm\)"):
        load(f"{path}@rms_norm")


@pytest.mark.parametrize("typed", ["torch.nn.MultiheadAttention", "torch.nn:MultiheadAttention"])
def test_a_class_of_a_library_is_reached_by_dot_or_colon(typed, inferred):
    load(typed)
    assert inferred == [("torch.nn", typed, "MultiheadAttention", None)]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("torch.nn.MultiheadAtention",
         "no implementation 'torch.nn.MultiheadAtention': the module torch.nn has no 'MultiheadAtention'; "
         "nearest: torch.nn.MultiheadAttention"),
        ("no_such_library.layers.Attention", "; there is no module 'no_such_library'"),
    ],
)  # fmt: skip
def test_a_dotted_name_that_leads_nowhere(typed, message):
    with pytest.raises(LoadError) as error:
        load(typed)
    assert message in str(error.value)


def test_a_name_that_the_file_does_not_have(write):
    path = write("from torch import nn\nclass MyAttention: ...\ndef helper(): ...\nx = helper()\nn = 3\n")
    said = {
        f"{path}:MyAtention": "'MyAtention': it has MyAttention, helper; nearest: MyAttention",
        f"{path}:x": "x is of type NoneType, want a class or a function",
        f"{path}:n": "n is of type int, want a class or a function",
        "torch.nn:MultiheadAtention": "nearest: MultiheadAttention",
    }
    for typed, message in said.items():
        with pytest.raises(LoadError) as error:
            load(typed)
        assert str(error.value).startswith(f"--impl {typed}: ")
        assert str(error.value).endswith(message)


def test_what_was_not_run_is_said_where_nothing_else_explains(write, inferred):
    path = write("class C:\n    def f(): return 1 / 0\n    f()\nprint(C)\nprint(C())\nprint(1)\nprint(2)\n")
    (found,) = load(str(path))
    assert (
        found.reason
        == "reading its definitions, line 1, `class C:`, raised ZeroDivisionError: division by zero (line 2)"
    )
    path = write("class C: ...\nprint(C)\nprint(C())\nprint(1)\nprint(2)\n", "other.py")
    (found,) = load(str(path))
    assert found.reason == "nothing (not run: line 2, `print(C)`; line 3, `print(C())`; line 4, `print(1)` and 1 more)"


def test_a_name_whose_statement_failed(write):
    path = write("def build(): return 1 / 0\nmodel = build()\nprint(model)\n")
    (found,) = load(f"{path}:model")
    want = "model has no value: line 2, `model = build()`, raised ZeroDivisionError: division by zero (line 1)"
    assert found.reason == want


def test_a_definition_that_failed_is_told(write, inferred):
    path = write("def helper(): ...\nclass C:\n    size = helper().size\nprint(C)\n")
    (found,) = load(str(path))
    assert found.name == str(path)
    assert found.reason == (
        "reading its definitions, line 2, `class C:`, raised AttributeError: 'NoneType' object has no attribute 'size' "
        "(line 3)"
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return one run over files that cannot be judged."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "loud.py").write_text("print('LOUD')\ndef f(): ...\ninput()\n", encoding="utf-8")
    (folder / "bad.ipynb").write_text("no notebook", encoding="utf-8")
    (folder / "needs.py").write_text(
        "import no_such\nprint('LOUD')\ndef f(): return no_such.x\n",
        encoding="utf-8",
    )
    names = ["loud.py", "bad.ipynb", "needs.py"]
    return in_process("run", *(f"--impl={name}" for name in names), cwd=folder)


def test_every_file_gets_its_reason_once(run):
    assert run.returncode == 1
    assert "Traceback" not in run.stdout + run.stderr
    assert "LOUD'" not in run.stdout.replace("`print('LOUD')`", "")
    for line in (
        "bad.ipynb: NOT-GRADABLE; it is not a notebook: line 1 is not JSON: Expecting value",
        "needs.py: NOT-GRADABLE; line 1, `import no_such`, raised ModuleNotFoundError: No module named 'no_such'; "
        "f (line 3) needs it",
    ):
        assert run.stdout.splitlines().count(line) == 1, run.stdout
        assert run.stdout.count(line.partition("; ")[2]) == 1, run.stdout


@pytest.mark.parametrize("name", ["bad.ipyn", "x.py@atention", "torch.nn.Nothing", "loud.py:g"])
def test_a_wrong_name_is_a_usage_error(tmp_path, name):
    (tmp_path / "bad.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "loud.py").write_text("print('LOUD')\ndef f(): ...\n", encoding="utf-8")
    done = in_process("run", f"--impl={name}", cwd=tmp_path)
    assert done.returncode == 2
    assert len([line for line in done.stderr.splitlines() if line]) == 1


def test_the_line_is_the_users_own_where_a_library_has_a_file_of_the_same_name(tmp_path, monkeypatch):
    for folder, text in (("a_library", "\n\n\ndef make():\n    raise ValueError('no')\n"), ("of_mine", OF_MINE)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "layers.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = load("of_mine.layers")
    assert found.reason == "importing it raised ValueError: no (line 3)"


OF_MINE = "from a_library.layers import make\n\nlayer = make()\n"
