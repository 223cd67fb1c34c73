"""``attnconf doctor``: versions, devices, and a smoke test that blames the suite, not an implementation."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import torch

import attnconf
from attnconf.conformance.chapters.contents import all_checks, all_mutants
from attnconf.conformance.engine import child
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.confinement import LAYERS
from attnconf.conformance.worker.refused import Refused

# Mutants of three kinds (scores, axis of the softmax, gradient), each with a requirement that must fail.
KNOWN = {
    "ATT-unscaled": "ATT-SCALE-1",
    "ATT-softmax-over-queries": "ATT-QUERY-1",
    "ATT-weights-detached": "ATT-GRAD-1",
}


def examine() -> bool:
    """Print versions and devices, and whether the suite tells right from wrong here; return whether it does."""
    for name, value in environment():
        print(f"{name:<10} {value}")
    faults = smoke_test()
    for fault in faults:
        print(f"FAULT      {fault}")
    print(f"{'suite':<10} " + ("NOT SOUND: do not trust its verdicts here" if faults else _sound()))
    return not faults


def _sound() -> str:
    return f"sound: the reference holds {', '.join(KNOWN.values())}; {len(KNOWN)} known mistakes are caught"


def environment() -> list[tuple[str, str]]:
    """Return versions, devices and threads."""
    devices = ["cpu"]
    devices += [f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())]
    devices += ["mps"] if torch.backends.mps.is_available() else []
    return [
        ("attnconf", f"{attnconf.__version__} in {attnconf.__path__[0]}"),
        ("python", f"{platform.python_version()} on {platform.platform()}"),
        ("torch", torch.__version__),
        *((name, _version(name)) for name in ("numpy", "pytest", "hypothesis")),
        ("devices", ", ".join(devices)),
        ("isolation", _isolation()),
        ("threads", f"{torch.get_num_threads()} of {os.cpu_count()} cores; a run uses $OMP_NUM_THREADS, or 1"),
    ]


def _isolation() -> str:
    """Return the layers that a run with --isolate has here, and those that it lacks."""
    if os.name != "posix":
        return "none: --isolate needs sockets and sessions of POSIX systems"
    try:
        found = child.layers_here()
    except Refused as refused:
        return f"none: a process of its own {refused.message}"
    lacking = [layer for layer in LAYERS if layer not in found]
    return ", ".join(found) + (f"; not to be had here: {', '.join(lacking)}" if lacking else "")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "NOT INSTALLED"


def smoke_test() -> list[str]:
    """Return the faults of the suite, in words: the reference failed a check, or a mutant passed one."""
    faults = []
    for mutant, requirement in KNOWN.items():
        try:
            right = _outcome(apply([]), requirement)
            wrong = _outcome(apply([all_mutants()[mutant]]), requirement)
        except Exception as error:
            faults.append(f"{requirement} could not be judged: {type(error).__name__}: {error}")
            continue
        if right != "pass":
            faults.append(f"the reference gives {right!r} on {requirement}, want 'pass'")
        if wrong != "fail":
            faults.append(f"the mistake {mutant} gives {wrong!r} on {requirement}, want 'fail'")
    return faults


def _outcome(implementation: Implementation, requirement: str) -> str:
    return judge_requirement(Subject(implementation, "attention", "direct"), all_checks()[requirement]).outcome
