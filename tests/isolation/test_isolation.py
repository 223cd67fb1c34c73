"""Whatever code does in the process of its own: what is said of it, and that the next call is as ever."""

import os
import re
import time

import pytest
import torch
from made_up import CASE, NAMES

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine import child
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Implementation, Request, Unjudgeable
from attnconf.conformance.loading import isolated

pytestmark = pytest.mark.skipif(os.name != "posix", reason="--isolate needs sockets and sessions of POSIX systems")
INPUTS = dict(zip(NAMES, (CASE.q, CASE.k, CASE.v), strict=True))
RIGHT = torch.softmax(CASE.q @ CASE.k.mT / CASE.E**0.5, -1) @ CASE.v
ADAPTER = """
import atexit, ctypes, gc, math, os, signal, socket, sys, threading, time
import torch
{at_import}
calls = 0
def attention(config, weights):
    def forward(query, key, value, **options):
        global calls
        calls += 1
        out = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1) @ value
        {in_call}
        return out
    return forward
"""


@pytest.fixture(autouse=True)
def _end():
    yield
    child.end_all()


@pytest.fixture
def adapter(write):
    """Return a function that returns an implementation in a process of its own."""

    def adapter(in_call="", at_import="", seconds=60.0):
        path = write(ADAPTER.format(at_import=at_import, in_call=in_call.replace("\n", "\n        ")), "mine.py")
        (found,) = isolated.load(str(path), {}, isolated.Terms(seconds))
        return found

    return adapter


def ask(implementation, **changes):
    request = {"component": "attention", "config": AttentionConfig(), "weights": {}, "inputs": INPUTS,
               "out_shape": tuple(RIGHT.shape)} | changes  # fmt: skip
    return call(implementation, Request(**request))


def failure(implementation, **changes):
    """Return (reason, message) of the failure of a call."""
    with pytest.raises(Failure) as found:
        ask(implementation, **changes)
    return found.value.reason, found.value.message


def is_right(implementation):
    return torch.allclose(ask(implementation).out, RIGHT)


# -- the end of the process


def test_an_end_at_import_is_told(adapter):
    found = adapter(at_import="os._exit(0)")
    assert isinstance(found, Unjudgeable)
    assert found.reason == "importing it ended its process (exit code 0)"


def test_an_import_without_end_is_ended(adapter, monkeypatch):
    monkeypatch.setattr(child, "LOADING", 8.0)
    assert adapter(at_import="while True: pass").reason == "importing it gave no answer within 8 s"


@pytest.mark.parametrize(
    ("deed", "reason", "message"),
    [
        ("os._exit(0)", "crashed", r"ended its process \(exit code 0\)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "crashed", r"ended its process \(SIGKILL\)"),
        ("ctypes.string_at(0)", "crashed", r"ended its process \(SIGSEGV\)"),
        ("os.closerange(3, 4096)", "crashed", "ended its process .*"),
        ("os.fork() and os._exit(7)", "crashed", r"ended its process \(exit code 7\)"),
        ("while True: pass", "timeout", "gave no answer within 2 s"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "timeout", "gave no answer within 2 s"),
        ("[socket.socket(fileno=n).shutdown(2) for n in range(3, 64) if sockets(n)]; time.sleep(9)", "protocol",
         "closed the connection to the process that judges it"),
        ("[os.write(n, b'PASSED' * 99) for n in range(3, 64) if sockets(n)]", "protocol", "a message of .* bytes.*"),
    ],
)  # fmt: skip
def test_what_ends_or_breaks_the_connection_fails_the_call_alone(adapter, deed, reason, message):
    sockets = (
        "import stat\ndef sockets(n):\n    try: return stat.S_ISSOCK(os.fstat(n).st_mode)\n    except OSError: pass"
    )
    deed = f"if key.shape[-2] == {CASE.S}: {deed}" if "while" not in deed else f"while key.shape[-2] == {CASE.S}: pass"
    one = adapter(deed, sockets, seconds=2.0)
    got, words = failure(one)
    assert (got, bool(re.fullmatch(message, words))) == (reason, True), words
    shorter = {name: x[..., :2, :] for name, x in INPUTS.items()}
    assert ask(one, inputs=shorter, out_shape=(2, 3, 2, 6)).out.shape == (2, 3, 2, 6)


def test_after_some_ends_nothing_more_is_called(adapter, monkeypatch):
    monkeypatch.setattr(child, "DEATHS", 2)
    one = adapter("os._exit(0)")
    for _ in range(2):
        assert failure(one) == ("crashed", "ended its process (exit code 0)")
    start = time.monotonic()
    words = "ended its process (exit code 0); not called again after 2 such ends"
    assert [failure(one) for _ in range(50)] == [("crashed", words)] * 50
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    ("error", "want"),
    [
        ("SystemExit(0)", ("exited", "called exit(0)")),
        ("KeyboardInterrupt", ("raised", "raised KeyboardInterrupt")),
        ("GeneratorExit", ("raised", "raised GeneratorExit")),
    ],
)
def test_exceptions_that_end_programs_are_failures(adapter, error, want):
    one = adapter(f"if calls == 1: raise {error}")
    assert failure(one) == want
    assert is_right(one)


# -- what goes on beside the call


def test_a_copy_of_the_process_gives_no_second_reply(adapter):
    one = adapter("os.fork()")
    assert is_right(one)
    assert is_right(one)


def test_what_is_printed_goes_nowhere(adapter, capfd):
    assert is_right(adapter("print('PASSED'); os.write(1, b'PASSED'); sys.stderr.write('PASSED')", "print('PASSED')"))
    assert capfd.readouterr() == ("", "")


def test_threads_and_what_is_left_for_the_end_never_run_on(adapter, tmp_path):
    late = tmp_path / "late"
    forever = "def forever():\n    while True: time.sleep(0.01)\n"
    end = f"def late(*_): open({str(late)!r}, 'w')\natexit.register(late)\nclass Late: __del__ = late\n"
    one = adapter("threading.Thread(target=forever).start(); forever.late = Late()", f"{forever}{end}")
    assert is_right(one)
    start = time.monotonic()
    child.end_all()
    assert time.monotonic() - start < 5
    assert not late.exists()


# -- what comes back


def test_large_and_misshapen_outputs_are_no_outputs(adapter):
    assert failure(adapter("out = torch.zeros(1).expand(2**40)")) == (
        "shape", f"out has shape (1099511627776,), want {tuple(RIGHT.shape)}",
    )  # fmt: skip


def test_nan_comes_back_as_it_is(adapter):
    assert ask(adapter("out = out * math.nan")).out.isnan().all()


LYING = """
class Lying(torch.Tensor):
    shape = property(lambda self: (2, 3, 5, 6))
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if "clone" in str(function) or "numpy" in str(function):
            return torch.full((2, 3, 5, 6), 7.0, dtype=torch.float64)
        return super().__torch_function__(function, types, args, kwargs or {})
    __sub__ = __rsub__ = lambda self, other: torch.zeros(())
"""


def test_a_class_of_tensors_counts_for_its_numbers(adapter):
    got = ask(adapter("out = (out + 1).as_subclass(Lying)", LYING)).out
    assert type(got) is torch.Tensor
    assert torch.allclose(got, RIGHT + 1)


def test_what_a_class_says_of_its_shape_is_not_believed(adapter):
    assert failure(adapter("out = torch.zeros(7, dtype=torch.float64).as_subclass(Lying)", LYING)) == (
        "protocol", "its reply has an output of another shape or dtype",
    )  # fmt: skip


def test_what_it_does_to_torch_is_done_to_its_own(adapter):
    patched = "torch.equal = torch.allclose = lambda *a, **k: True\ntorch.Tensor.__sub__ = lambda a, b: torch.zeros(1)"
    one = adapter("out = out + 1", patched)
    assert not torch.equal(ask(one).out, RIGHT)
    assert not is_right(one)


FORGED = """
from attnconf.conformance.worker import wire
def forge(out):
    frame = sys._getframe()
    while "connection" not in frame.f_locals: frame = frame.f_back
    nonce, told = frame.f_locals["header"]["nonce"], {"weights": False, "grads": [], "changed": [], "counts": None}
    told |= {"trained": 0, "seen": {}}
    frame.f_locals["connection"].sendall(wire.message({"made": told, "nonce": nonce}, [out]))
"""


def test_a_forged_reply_gives_its_own_numbers_and_no_more(adapter):
    one = adapter("if calls == 1: forge(out * 0)", FORGED)
    assert not ask(one).out.any()
    assert failure(one) == ("protocol", "a reply to nothing that was asked")


def test_a_forged_verdict_is_none(adapter):
    one = adapter("forge(out)", FORGED.replace('"made": told', '"verdict": "conformant"'))
    assert failure(one) == ("protocol", "its reply has not the entries that a reply has")


# -- what it knows, and what it is told


def test_the_process_knows_nothing_that_judges(adapter):
    may = r"|\.adapters(\.contract|\.kit.*|\.generated.*)?|\.spec(\.nearest)?|\.conformance(\.(worker|source).*)?"
    known = f"[m for m in sys.modules if m.startswith('attnconf') and not re.fullmatch({f'attnconf({may})'!r}, m)]"
    assert failure(adapter(f"raise KeyError(*{known}, len(sys.modules) > 100)", "import re")) == (
        "raised", "raised KeyError: True",
    )  # fmt: skip


@pytest.mark.parametrize("module", ["reference.attention", "conformance.engine.case", "adapters.reference"])
def test_what_judges_cannot_be_imported_by_its_name(adapter, module):
    found = adapter(at_import=f"import attnconf.{module}")
    assert "No module named" in found.reason


def test_the_adapter_of_the_reference_is_labelled():
    (found,) = isolated.load("reference")
    assert isinstance(found, Implementation)
    assert "which imports the reference: it is this adapter" in found.notes[-1]
    assert is_right(found)


def test_it_cannot_pass_for_another_file(adapter):
    one = adapter(at_import="import attnconf.adapters.torch_nn as other\n__file__ = other.__file__")
    assert one.source.endswith("mine.py")


def test_an_adapter_is_not_imported_in_the_process_that_judges(adapter):
    one = adapter(at_import="os.environ['SEEN_HERE'] = '1'")
    assert is_right(one)
    assert "SEEN_HERE" not in os.environ
    with pytest.raises(AssertionError, match="not in this process"):
        one.components["attention"](AttentionConfig(), {})


# -- what is asked of it


def test_changes_gradients_modes_and_words_are_told(adapter):
    assert ask(adapter("query.add_(1)")).changed == ("query",)
    cotangent = CASE.draw("cotangent", *RIGHT.shape)
    one = adapter("if options: raise NotImplementedError('masks')")
    reply = ask(one, cotangent=cotangent, wrt=("query", "value"))
    leaves = [x.clone().requires_grad_() for x in (CASE.q, CASE.k, CASE.v)]
    q, k, v = leaves
    wanted = torch.autograd.grad((torch.softmax(q @ k.mT / CASE.E**0.5, -1) @ v * cotangent).sum(), (q, v))
    assert all(torch.allclose(reply.grads[n], g) for n, g in zip(("query", "value"), wanted, strict=True))
    assert ask(one, mode="tracked").trained == 0
    assert ask(one, counted=True).counts.forward.operations
    with pytest.raises(Unsupported, match="masks"):
        ask(one, inputs={**INPUTS, "key_mask": torch.ones(2, 4, dtype=torch.bool)})


def test_a_process_whose_device_is_lost_answers_and_is_replaced(adapter):
    lose = "from attnconf.conformance.worker import device\ndevice.is_lost = lambda: True"
    found = adapter(in_call=f"if calls > 1:\n    {lose.replace(chr(10), chr(10) + '    ')}")
    assert is_right(found)
    first = found.apart.child._process.pid
    assert is_right(found)  # the call that loses the device is answered
    assert is_right(found)
    assert found.apart.child._process.pid != first
