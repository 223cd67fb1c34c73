"""Run a file without output, without input, and without traces in the settings of the process."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

_SHOWN = 20_000  # characters of what is printed


class _Kept(io.TextIOWrapper):
    """A standard output that keeps all that is written, even after the file closes or detaches it."""

    def close(self) -> None:
        pass

    def reconfigure(self, **options: object) -> None:
        pass


class _Nothing(io.StringIO):
    """A standard input without anybody to ask: ``input()`` raises RuntimeError at once."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # text, as its siblings
        raise RuntimeError("it reads from standard input, and there is nobody to ask")

    def read(self, size: int | None = -1, /) -> str:
        return self.readline()

    def __next__(self) -> str:  # type: ignore[override]
        return self.readline()


@contextlib.contextmanager
def quiet(path: Path = Path()) -> Iterator["_Printed"]:
    """Catch all output, and restore the settings of the process afterwards."""
    raw = io.BytesIO()
    out = _Kept(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
    printed = _Printed(raw)
    arguments, stdin, folder, backend = sys.argv, sys.stdin, os.getcwd(), os.environ.get("MPLBACKEND")
    default, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    sys.argv, sys.stdin = [str(path)], _Nothing()
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    try:
        with (
            warnings.catch_warnings(record=True, action="default") as printed.warned,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
        ):
            yield printed
    finally:
        sys.argv, sys.stdin = arguments, stdin
        os.chdir(folder)
        if backend is None:
            os.environ.pop("MPLBACKEND", None)
        torch.set_default_dtype(default)
        torch.set_grad_enabled(grad)


class _Printed:
    """The output and the warnings of a run."""

    def __init__(self, raw: io.BytesIO):
        self.raw = raw
        self.warned: list[warnings.WarningMessage] | None = None

    def __call__(self) -> str:
        said = [f"{w.category.__name__}: {w.message}\n" for w in self.warned or ()]
        return (self.raw.getvalue().decode("utf-8", "replace") + "".join(said))[:_SHOWN]
