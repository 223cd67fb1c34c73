"""Whatever is handed in: one clear line that names what was expected, a failure or exit code 2, and no traceback."""

import json
import os
import sys

import pytest
from command_line import attnconf

from attnconf import cli

HEAD = "import sys, numpy, torch\nfrom attnconf.adapters import reference\n"
BUILD = """
def attention(config, weights):
    right = reference.attention(config, weights)
    def forward(query, key, value, **given):
        out = right(query, key, value, **given)
        {forward}
    return forward
"""

# What a forward does with the right output (or the right pair), and what must be said of it.
FORWARDS = {
    "none": ("return None", "protocol", "returned None as out, want a torch.Tensor"),
    "array": (
        "return out.numpy(force=True)",
        "protocol",
        "returned a numpy.ndarray of shape (2, 3, 5, 13) as out, want",
    ),
    "list": ("return out.tolist()", "protocol", "returned a list as out, want a torch.Tensor"),
    "pair": (
        "return out, None",
        "protocol",
        "returned a tuple as out, want a torch.Tensor alone, as need_weights was not",
    ),
    "shape": ("return out[..., :1]", "shape", "out has shape (2, 3, 5, 1), want (2, 3, 5, 13)"),
    "dtype": ("return out.half()", "dtype", "out is torch.float16 where all that goes in is torch.float64"),
    "integer": ("return out.long()", "dtype", "out is torch.int64, want float64, float32, bfloat16 or float16"),
    "complex": (
        "return out.to(torch.complex128)",
        "dtype",
        "out is torch.complex128, want float64, float32, bfloat16 or float16",
    ),
    "device": ("return out.to('meta')", "protocol", "out is on meta, want cpu"),
    "sparse": ("return out.to_sparse()", "protocol", "out is nested or sparse, want a dense tensor"),
    "raising": ("raise ValueError('no luck')", "raised", "raised ValueError: no luck"),
    "lines": ("raise ValueError('one\\ntwo')", "raised", "raised ValueError: one"),
    "mute": ("raise ValueError", "raised", "raised ValueError"),
    "unprintable": ("raise type('E', (Exception,), {'__str__': lambda e: 1 / 0})", "raised", "raised E"),
    "exiting": ("sys.exit(0)", "exited", "called exit(0)"),
    "skipping": ("__import__('pytest').skip('x')", "raised", "raised Skipped: x"),
    "wordless": (
        "raise NotImplementedError",
        "raised",
        "raised NotImplementedError without words, want NotImplementedError(",
    ),
    "warning": ("import warnings; warnings.warn('careful'); return None", "protocol", "returned None as out"),
}
# Whole files that are loaded and then fail.
FILES = {
    "uncallable": ("def attention(config, weights):\n    return 5\n", "protocol",
                   "attention(config, weights) returned an int, want a callable"),
    "narrow": ("def attention(config, weights):\n    return lambda query: query\n", "raised",
               "want forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False)"),
    "backward": (HEAD + """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g): sys.exit(3)
""" + BUILD.format(forward="return tuple(F.apply(x) for x in out) if given.get('need_weights') else F.apply(out)"),
                 "exited", "backward called exit(3)"),
}  # fmt: skip
# Whole files that cannot be judged, and why.
UNJUDGEABLE = {
    "raises": ("x = 1\nraise RuntimeError('at import')\n", "importing it raised RuntimeError: at import (line 2)"),
    "syntax": ("x = 1\ndef f(:\n", "line 2: SyntaxError: invalid syntax"),
    "exits": ("import sys\nsys.exit(0)\n", "importing it called exit(0) (line 2)"),
    "skips": ("import pytest\npytest.skip('no', allow_module_level=True)\n", "it raised Skipped: no (line 2)"),
    "missing": ("import nonexistent_module\n", "raised ModuleNotFoundError: No module named 'nonexistent_mod"),
    "empty": ("", "the file is empty"),
    "nothing": ("x = 1\n", "nothing in it looks like a component"),
    "signature": ("def attention(config, weights, value): ...\n",
                  "attention must be a function (config, weights), found (config, weights, value)"),
    "misspelt": ("def atention(config, weights): ...\n",
                 "it defines atention, which is no component; nearest: attention"),
    "constant": ("attention = 5\n", "attention must be a function (config, weights), found 5"),
    "declares": ("declares = {'fully-masked-rows': 'nan'}\ndef attention(config, weights): ...\n",
                 "declares names 'fully-masked-rows', which is no convention"),
    "declared": ("declares = {'fully-masked-row': 'ones'}\ndef attention(config, weights): ...\n",
                 "declares 'fully-masked-row' as 'ones', want one of zeros, nan, mean"),
    "declaring": ("declares = ['nan']\ndef attention(config, weights): ...\n", "declares must be a dict of"),
    "profiled": ("profile = 3\ndef attention(config, weights): ...\n", "profile must be a name, found 3"),
    "variants": ("variants = {'a': 1}\n", "variants must be a non-empty dict: name -> dict of component functions"),
}  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad")
    files = {name: HEAD + BUILD.format(forward=body) for name, (body, *_) in FORWARDS.items()}
    files |= {name: content for name, (content, *_) in {**FILES, **UNJUDGEABLE}.items()}
    files["right"] = "from attnconf.adapters.reference import attention, declares\n"
    for name, content in files.items():
        (path / f"{name}.py").write_text(content, encoding="utf-8")
    (path / "notes.txt").write_text("no Python", encoding="utf-8")
    (path / "homeworks").mkdir()
    (path / "package").mkdir()
    (path / "package" / "__init__.py").write_text("raise SystemExit(4)\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def bad(folder):
    """Return one run over everything that can be found but is bad: the process, and what it wrote."""
    names = [*FORWARDS, *FILES, *UNJUDGEABLE]
    selection = "CALL-SHAPE-1 or CALL-DTYPE-1 or ATT-GRAD-1"
    done = attnconf(
        "run", *(f"--impl={name}.py" for name in names), "--impl=package.part", "--results=bad.json", "-k", selection,
        cwd=folder,
    )  # fmt: skip
    return done, json.loads((folder / "bad.json").read_text(encoding="utf-8"))


def test_bad_implementations_do_not_end_the_run(bad):
    done, record = bad
    assert done.returncode == 1, done.stdout + done.stderr
    assert record["complete"]
    assert "Traceback" not in done.stdout + done.stderr
    assert {r["outcome"] for r in record["results"]} <= {"pass", "fail"}, "a fault of the suite"


@pytest.mark.parametrize("name", [*FORWARDS, *FILES])
def test_what_a_bad_implementation_does_is_said_in_one_line(bad, name):
    done, record = bad
    *_, reason, message = {**FORWARDS, **FILES}[name]
    failed = [r for r in record["results"] if r["implementation"] == f"{name}.py" and r["outcome"] == "fail"]
    said = [r["message"] for r in failed if r["reason"] == reason and message in r["message"]]
    assert said, [r["message"] for r in failed]
    assert len(said[0].splitlines()) == 1
    printed = " ".join(done.stdout.split())  # however it is broken into lines
    assert name in ("dtype", "integer", "complex") or said[0] in printed  # those may be folded under another root


@pytest.mark.parametrize("name", UNJUDGEABLE)
def test_what_cannot_be_loaded_is_not_gradable_with_the_reason(bad, name):
    done, record = bad
    (verdict,) = [v for v in record["verdicts"] if v["implementation"] == f"{name}.py"]
    assert verdict["verdict"] == "not-gradable"
    assert UNJUDGEABLE[name][1] in verdict["reason"]
    assert f"{name}.py: NOT-GRADABLE; {verdict['reason']}" in done.stdout


def test_a_package_that_exits_is_not_gradable(bad):
    _, record = bad
    (verdict,) = [v for v in record["verdicts"] if v["implementation"] == "package.part"]
    assert (verdict["verdict"], verdict["reason"]) == ("not-gradable", "importing it called exit(4)")


# -- usage errors, in this process: torch is loaded already


@pytest.fixture
def refuse(folder, capfd, monkeypatch):
    """Return a function that runs the command line, asserts that it was refused in one line, and returns the line."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    def run(*arguments):
        code = cli.main(arguments)
        out, err = capfd.readouterr()
        assert code == 2, out + err
        assert "Traceback" not in out + err
        lines = [line for line in (out + err).splitlines() if "ERROR: " in line]
        assert len(lines) == 1
        assert [line for line in err.splitlines() if line] == lines
        return lines[0].removeprefix("ERROR: ")

    return run


@pytest.mark.parametrize(
    ("impl", "message"),
    [
        ("referense", "no implementation 'referense'; nearest: reference; it is neither an adapter ("),
        ("rigth.py", "no file 'rigth.py'; nearest: right.py"),
        ("nowhere/x.py", f"no file '{os.path.join('nowhere', 'x.py')}'"),
        (".", "'.' is a folder, want a .py, .ipynb or .onnx file"),
        ("right.py:", "--impl right.py:: behind the colon stands no name of a class or function"),
        ("./", "is a folder, want a .py, .ipynb or .onnx file or a dotted module"),
        ("homeworks", "'homeworks' is a folder, want a .py, .ipynb or .onnx file or a dotted module"),
        ("notes.txt", "'notes.txt' is no file that can be read: its name must end in .py, .ipynb or .onnx"),
        (
            "right.py:flash",
            "is an adapter (attention), which is judged as a whole; it has no variant 'flash' (variants: none)",
        ),
        ("no.such.module", "no implementation 'no.such.module'"),
        ("", "no implementation ''"),
    ],
)
def test_an_implementation_that_is_not_there(refuse, impl, message):
    assert message in refuse("run", f"--impl={impl}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile=fulll"], "unknown profile 'fulll': there are "),
        (["--profile=fulll"], "; nearest: full-2"),
        (["--device=gpu"], "--device gpu: "),
        (["--device=meta"], "--device meta: "),
        (["-k", "ATT-SCALE-1 and"], "-k 'ATT-SCALE-1 and': "),
        (["-k", "(("], "-k '((': "),
        (["-k", "ATT-NOTHING-1"], "-k 'ATT-NOTHING-1' selects nothing"),
        (["-k", "ATT-SCLAE-1"], "-k 'ATT-SCLAE-1' selects nothing; nearest: ATT-SCALE-1"),
        (["-k", "ROPE-PAIR-1"], "selects nothing: ROPE-PAIR-1 is not judged on attention"),
        (["--results=nowhere/out.json"], "--results nowhere/out.json: there is no folder "),
        (["--results=package"], "--results package is a folder, want a file"),
    ],
)
def test_an_option_that_makes_no_sense(refuse, options, message):
    assert message in refuse("run", "--impl=right.py", *options)


def test_an_adapter_has_no_binding_to_write(refuse):
    assert refuse("bind", "right.py") == "right.py is an adapter already: attnconf run --impl right.py judges it"


def test_an_implementation_that_claims_an_unknown_profile(refuse, folder):
    (folder / "claims.py").write_text("profile = 'core-0'\ndef attention(config, weights): ...\n", encoding="utf-8")
    assert refuse("run", "--impl=claims.py").startswith("claims.py claims an unknown profile 'core-0': there are ")


def test_a_profile_that_judges_nothing_of_an_implementation(refuse, tmp_path, monkeypatch):
    (tmp_path / "narrow-1.toml").write_text(
        'title = "heads only"\n[multi_head_attention.heads]\nrequired = ["CALL-SHAPE-1"]\n', encoding="utf-8"
    )
    monkeypatch.setattr("attnconf.spec.profiles.FOLDER", tmp_path)
    said = refuse("run", "--impl=right.py", "--profile=narrow-1")
    assert said == "the profile narrow-1 judges nothing that right.py has: attention"


ENTRY = '[[deviation]]\nrequirement = "ATT-SCALE-1"\ncomponent = "attention"\nreason = "r"\nlink = "https://l"\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[deviation", "known.deviations.toml is not TOML: "),
        ("x = 1\n", "known.deviations.toml may hold nothing but tables [[deviation]], found 'x'"),
        ("deviation = 3\n", "may hold nothing but tables [[deviation]], found 3"),
        (
            ENTRY + 'because = "r"\n',
            "entry 1 has 'because', which is none of requirement, component, reason, link, variant",
        ),
        (ENTRY.replace("link =", "variant ="), "entry 1 has no 'link'"),
        (ENTRY.replace('"r"', '" "'), "entry 1: reason is ' ', want words"),
        (ENTRY.replace('"https://l"', "5"), "entry 1: link is 5, want words"),
        (
            ENTRY.replace("https://l", "somewhere"),
            "entry 1: link is 'somewhere', want an address that begins with https",
        ),
        (ENTRY.replace('"attention"', '"attn"'), "entry 1: component is 'attn', want one of attention, causal_mask"),
        (ENTRY + ENTRY.replace("SCALE-1", "SCALE-9"), "entry 2: unknown requirement 'ATT-SCALE-9'"),
    ],
)
def test_a_malformed_deviations_file(refuse, folder, content, message):
    (folder / "known.py").write_text((folder / "right.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "known.deviations.toml").write_text(content, encoding="utf-8")
    assert message in refuse("run", "--impl=known.py")


def test_a_stale_deviation_fails_the_run(folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "stale.py").write_text((folder / "right.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "stale.deviations.toml").write_text(ENTRY, encoding="utf-8")
    assert cli.main(["run", "--impl=stale.py", "-q"]) == 1
    assert "stale.py: the known deviation ATT-SCALE-1 on attention does not fail any more" in capfd.readouterr().out


def test_a_deviation_of_what_is_not_supported_is_not_stale(folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    text = "def attention(config, weights):\n    raise NotImplementedError('what this machine has not')\n"
    (folder / "unable.py").write_text(text, encoding="utf-8")
    (folder / "unable.deviations.toml").write_text(ENTRY, encoding="utf-8")
    cli.main(["run", "--impl=unable.py", "-q"])
    printed = capfd.readouterr().out
    assert "what this machine has not" in printed
    assert "does not fail any more" not in printed


def test_a_deviation_that_is_only_seen_on_some_machines_is_never_stale(folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "sometimes.py").write_text((folder / "right.py").read_text(encoding="utf-8"), encoding="utf-8")
    entry = f'{ENTRY}\nsometimes = "on other machines it is right"\n'
    (folder / "sometimes.deviations.toml").write_text(entry, encoding="utf-8")
    assert cli.main(["run", "--impl=sometimes.py", "-q"]) == 0
    assert "any more" not in capfd.readouterr().out


def test_no_file_of_another_kind_is_overwritten(refuse, folder):
    homework = (folder / "right.py").read_text(encoding="utf-8")
    said = refuse("run", "--impl=right.py", "--results=right.py")
    assert said == "--results right.py: there is a file of this name that holds no results; it is left alone"
    assert (folder / "right.py").read_text(encoding="utf-8") == homework


def test_what_was_written_and_may_be_edited_is_not_overwritten(tmp_path):
    path, adapter = tmp_path / "mine.py", tmp_path / "adapter.py"
    path.write_text("def relu(x):\n    return x.clamp(min=0)\n", encoding="utf-8")
    adapter.write_text("# my edit\n", encoding="utf-8")
    assert cli.main(["bind", str(path), "-o", str(adapter)]) == cli.USAGE
    assert adapter.read_text(encoding="utf-8") == "# my edit\n"
