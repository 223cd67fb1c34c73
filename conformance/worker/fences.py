"""What a process can import once it runs foreign code: it needs little of the suite."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

NEEDED = (  # of this package: the contract, what written bindings call, and how a file is read
    "attnconf", "attnconf.adapters", "attnconf.spec", "attnconf.spec.nearest", "attnconf.conformance",
    "attnconf.conformance.source", "attnconf.conformance.worker",
)  # fmt: skip
BELOW = ("attnconf.adapters.", "attnconf.conformance.source.", "attnconf.conformance.worker.")
OF_THE_REFERENCE = ("attnconf.adapters.reference", "attnconf.adapters.torch_compile")  # adapters that import it


class Fence:
    """Refuses the import of what the worker does not need. It is no lock: the files lie where they lie."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None, for other finders to find it. Raises ModuleNotFoundError for the rest of this package."""
        ours = name == "attnconf" or name.startswith("attnconf.")
        if not ours or ((name in NEEDED or name.startswith(BELOW)) and name not in OF_THE_REFERENCE):
            return None
        raise ModuleNotFoundError(f"No module named {name!r} where submissions run", name=name)


def put_up() -> None:
    sys.meta_path.insert(0, Fence())
