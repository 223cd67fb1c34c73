"""For adapters that use torch.compile: the size from which compiling is worth its seconds, and a check of compilers."""

import os
import shutil

WORTH = 2**16  # numbers in the largest input; smaller calls are not compiled


def demand_compiler(device):
    """Raise NotImplementedError if torch.compile has no compiler for the device."""
    known = (os.environ.get("CXX", "c++"), "g++", "clang++")
    if device.type == "cpu" and not any(shutil.which(name) for name in known):
        raise NotImplementedError("not run: torch.compile needs a C++ compiler on the CPU, and there is none")
