"""What each layer alone keeps from the code in a process of its own, and that without any it reaches all of that."""

import socket
import subprocess
import sys

import pytest
import torch
from refusing import LANDLOCK, NAMESPACES, SECCOMP, refuse

import attnconf.reference.attention
from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine import child
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.loading import isolated
from attnconf.conformance.worker import confinement

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="these layers are Linux's"),
    pytest.mark.usefixtures("as_a_user"),
]
QUERY = torch.ones(1, 1, 2, 3, dtype=torch.float64)
HOSTILE = """
import ctypes, os, socket, subprocess, sys
import torch
LIBRARY = ctypes.CDLL(None, use_errno=True)
def refused(result):
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
SEIZE = 0x4206
deeds = {{
    "read another's file": lambda: open({secret!r}).read(),
    "read what is hidden beside it": lambda: open(os.path.join(os.path.dirname(__file__), ".secret")).read(),
    "read the reference": lambda: open({reference!r}).read(),
    "write another's file": lambda: open({secret!r}, "a").close(),
    "change another's rights": lambda: os.chmod({secret!r}, 0o644),
    "write beside itself": lambda: open(os.path.join(os.path.dirname(__file__), "new"), "w").close(),
    "connect": lambda: socket.create_connection(("127.0.0.1", {port}), 5).close(),
    "open a socket of the system": lambda: socket.socket(socket.AF_UNIX).close(),
    "signal": lambda: os.kill({victim}, 0),
    "trace": lambda: refused(LIBRARY.ptrace(SEIZE, {victim}, None, None)),
    "see": lambda: os.stat("/proc/{victim}"),
    "read its command line": lambda: open("/proc/{victim}/cmdline").read(),
    "read its memory": lambda: open("/proc/{victim}/mem", "rb").close(),
    "trace what it started": lambda: refused(LIBRARY.ptrace(SEIZE, subprocess.Popen(["sleep", "60"]).pid, None, None)),
    "gain a namespace": lambda: subprocess.run(["unshare", "-r", "true"], check=True),
    "mount": lambda: refused(LIBRARY.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
}}
def done(deed):
    try:
        deed()
    except Exception:
        return False
    return True
class Told(Exception): pass
def attention(config, weights):
    def forward(query, key, value, **options):
        raise Told(" ".join(str(n) for n, deed in enumerate(deeds.values()) if done(deed)))
    return forward
"""
DEEDS = [line.partition('"')[2].partition('"')[0] for line in HOSTILE.splitlines() if '": lambda' in line]
FILES = {DEEDS[n] for n in (0, 1, 2, 3, 5)}
OF_OTHERS = {"signal", "trace", "read its memory"}
KEPT_FROM = {  # by what the kernel does not refuse: the deeds that are then in vain
    NAMESPACES: OF_OTHERS | {"write another's file", "change another's rights", "write beside itself", "connect", "see",
                             "read its command line"},
    LANDLOCK: FILES | OF_OTHERS | {"connect", "read its command line", "mount"},
    SECCOMP: {"connect", "open a socket of the system", "trace", "trace what it started", "gain a namespace", "mount"},
}  # fmt: skip
LISTED = {NAMESPACES: "network-namespace", LANDLOCK: "landlock", SECCOMP: "seccomp"}


@pytest.fixture(autouse=True)
def _end():
    yield
    child.end_all()


@pytest.fixture
def hostile(write, tmp_path):
    """Yield a file that tries to reach another process, a listener and files that are not its own."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / ".secret").write_text("secret")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as victim,
    ):
        yield write(HOSTILE.format(
            secret=str(tmp_path / "secret"), reference=attnconf.reference.attention.__file__, victim=victim.pid,
            port=listener.getsockname()[1],
        ), "theirs/mine.py")  # fmt: skip
        victim.kill()


def ask(implementation):
    inputs = dict.fromkeys(("query", "key", "value"), QUERY)
    return call(implementation, Request("attention", AttentionConfig(), {}, inputs, out_shape=tuple(QUERY.shape)))


def reached(path):
    """Return the deeds that a file did, and the layers of its process."""
    (found,) = isolated.load(str(path))
    with pytest.raises(Failure) as told:
        ask(found)
    words = told.value.message.removeprefix("raised Told").removeprefix(": ")
    return {DEEDS[int(n)] for n in words.split()}, found.apart.layers


def has(layer):
    return layer in child.layers_here()


def test_with_all_layers_nothing_is_reached(hostile):
    done, layers = reached(hostile)
    if confinement.lacking(layers):
        pytest.skip(f"this kernel, or this container, lacks {', '.join(confinement.lacking(layers))}")
    assert done == set()


@pytest.mark.parametrize("had", KEPT_FROM)
def test_each_layer_alone_keeps_its_part(hostile, tmp_path, monkeypatch, had):
    if not has(LISTED[had]):
        pytest.skip(f"this kernel, or this container, has no {LISTED[had]}")
    refuse(monkeypatch, tmp_path / "refusing", *({NAMESPACES, LANDLOCK, SECCOMP} - {had}))
    done, layers = reached(hostile)
    assert done & KEPT_FROM[had] == set()
    assert {layer for layer in LISTED.values() if layer in layers} == {LISTED[had]}


def test_without_layers_all_is_reached_and_said(hostile, tmp_path, monkeypatch):
    refuse(monkeypatch, tmp_path / "refusing", NAMESPACES, LANDLOCK, SECCOMP)
    done, layers = reached(hostile)
    by_rights = {"mount", "gain a namespace", "trace", "read its memory"}  # of root, or where the system is lenient
    assert done >= set().union(*KEPT_FROM.values()) - by_rights
    assert confinement.lacking(layers) == ["mount-namespace", "network-namespace", "landlock", "seccomp"]


def test_what_takes_all_memory_fails_for_it(write):
    text = HOSTILE.partition("LIBRARY")[0] + (
        "def attention(config, weights):\n"
        "    def forward(query, key, value, **options):\n"
        "        return torch.empty(10**12) if query.shape[-2] == 2 else bytearray(10**12)\n"
        "    return forward\n"
    )
    (found,) = isolated.load(str(write(text, "mine.py")))
    for shape in ((1, 1, 2, 3), (1, 1, 4, 3)):
        inputs = dict.fromkeys(("query", "key", "value"), torch.ones(shape))
        with pytest.raises(Failure) as failure:
            call(found, Request("attention", AttentionConfig(), {}, inputs, out_shape=shape))
        assert failure.value.reason == "out-of-memory"
