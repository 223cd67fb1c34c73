"""Attentions of which one is used before the other is through: a layer may have the keys and values of both first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence


def one_after_another(order: Sequence[str], sizes: Mapping[str, int], whole: int) -> Iterator[str]:
    """Yield names of parameters in their order, those of an attention where its last one is, if others' lie between.

    ``sizes``: of each parameter of an attention, 0 where it is no matrix; ``whole``: what those of one are together.
    """
    owners = _owners(sizes, whole)
    ours = [name for name in order if name in sizes]
    held: dict[str, list[str]] = {}
    for owner in dict.fromkeys(filter(None, owners.values())):
        own = [name for name in ours if owners[name] == owner]
        if ours.index(own[-1]) - ours.index(own[0]) >= len(own):
            held[owner] = own
    last = {own[-1]: owner for owner, own in held.items()}
    for name in order:
        if name in last:
            yield from held[last[name]]
        elif owners.get(name) not in held:
            yield name


def _owners(sizes: Mapping[str, int], whole: int) -> dict[str, str]:
    """Return the innermost module of each parameter that holds those of one attention; "" where none does."""
    inside = Counter[str]()
    for name, size in sizes.items():
        inside.update(dict.fromkeys(_above(name), size))
    return {name: next((path for path in _above(name) if inside[path] == whole), "") for name in sizes}


def _above(name: str) -> list[str]:
    """Return the paths of the modules around a parameter, the innermost first, without the one of all."""
    parts = name.split(".")[:-1]
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
