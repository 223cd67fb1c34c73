"""Implementations under test, one module each; ``bind`` helps to write them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnconf.adapters.kit.bind import bind

__all__ = ["bind"]


def __getattr__(name: str) -> Any:
    """Import ``bind``, and torch with it, when it is first asked for."""
    if name == "bind":
        from attnconf.adapters.kit.bind import bind

        return bind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
