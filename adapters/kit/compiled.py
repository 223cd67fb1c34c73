"""What adapters that compile share: on what it is worth the seconds, and what it takes."""

import os
import shutil

WORTH = 2**16  # numbers in the largest input; what is smaller is computed as written


def demand_compiler(device):
    """Raise NotImplementedError where torch.compile has no compiler for a device."""
    known = (os.environ.get("CXX", "c++"), "g++", "clang++")
    if device.type == "cpu" and not any(shutil.which(name) for name in known):
        raise NotImplementedError("not run: torch.compile needs a C++ compiler on the CPU, and there is none")
