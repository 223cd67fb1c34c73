"""An exception of foreign code as Refused."""

import dis
import re
import traceback
from pathlib import Path
from typing import NoReturn

import torch

from attnconf.adapters import contract
from attnconf.adapters.generated.broken_arguments import BrokenArgument
from attnconf.conformance.source.exception_words import deed, first_line
from attnconf.conformance.source.reader import was_read, where
from attnconf.conformance.worker.order import Held
from attnconf.conformance.worker.refused import UNSUPPORTED, Refused

_GENERATED = Path(contract.__file__).with_name("generated")  # what written bindings call


def raised(error: BaseException, where: str = "", signature: str = "") -> Refused:
    """Return the refusal for an exception of foreign code; that of a binding reads as its words.

    ``signature``: the contract's, if the exception says that foreign code does not take such a call.
    """
    if isinstance(error, BrokenArgument):
        return Refused("raised", str(error), str(error))
    reason = "exited" if isinstance(error, SystemExit) else "out-of-memory" if _lacks_memory(error) else "raised"
    want = f"; want forward({signature}) and NotImplementedError, in words, for what is not supported"
    return Refused(reason, f"{where}{deed(error)}{want if signature and isinstance(error, TypeError) else ''}")


def _lacks_memory(error: BaseException) -> bool:
    """Return whether Python, or PyTorch, got no more memory."""
    on_cpu = isinstance(error, RuntimeError) and "can't allocate memory" in first_line(error)
    return on_cpu or isinstance(error, MemoryError | torch.OutOfMemoryError)


def refused_keyword(error: BaseException, signature: str) -> bool:
    """Return whether the exception says that a keyword of the contract is unknown to the callable."""
    refused = re.search(r"unexpected keyword argument '(\w+)'", str(error)) if isinstance(error, TypeError) else None
    return refused is not None and f"{refused[1]}=" in signature


def place(error: BaseException, source: str) -> str:
    """Return the last line of the implementation's own file in the traceback, as "homework.py:12"; "" without one."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(name, line) for name, line in frames if name == source or was_read(name)]
    return where(*own[-1]) if own else ""


def meant(error: BaseException) -> bool:
    """Return whether somebody's own code raised an exception, by ``raise`` or ``assert``, and not what it calls."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if error.__traceback__ is None or not was_read(frames[-1][0].f_code.co_filename):
        return False
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    here = (one for one in dis.get_instructions(last.tb_frame.f_code) if one.offset == last.tb_lasti)
    return any(one.opname == "RAISE_VARARGS" for one in here)


def not_implemented(held: Held, error: NotImplementedError) -> NoReturn:
    """Raise Refused: unsupported, or a failure where somebody's own code says so, or no words are given."""
    words = first_line(error)
    if not words:
        want = 'NotImplementedError("what is not supported, in words")'
        raise Refused("raised", f"raised NotImplementedError without words, want {want}") from None
    frames = list(traceback.walk_tb(error.__traceback__))
    file = frames[-1][0].f_code.co_filename if frames else ""
    # an inferred binding itself may have no way to ask for an option
    if held.binding is None or file == held.binding or Path(file).parent == _GENERATED:
        raise Refused(UNSUPPORTED, words) from None
    raise Refused("raised", f"raised NotImplementedError: {words}") from None
