"""A kernel that refuses some calls to the processes that hold somebody's code."""

from functools import partial

from attnconf.conformance.engine import child
from attnconf.conformance.loading import isolated

NAMESPACES, LANDLOCK, SECCOMP = "unshare", "landlock_create_ruleset", "seccomp"
WORKER = """
import runpy
from attnconf.conformance.worker import kernel
def call(name, *arguments, given=kernel.call):
    name = "seccomp" if name == "prctl" and arguments[0] == 22 else name
    return -1 if name in {refused!r} else given("prctl" if name == "seccomp" else name, *arguments)
kernel.call = call
runpy.run_module("attnconf.conformance.worker.holding", run_name="__main__")
"""


def refuse(monkeypatch, folder, *calls):
    """Let the processes that are started from now on be refused these calls; ``folder`` is a new one."""
    folder.mkdir()
    (folder / "refused_worker.py").write_text(WORKER.format(refused=set(calls)), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(isolated, "Child", partial(child.Child, runs="refused_worker"))
