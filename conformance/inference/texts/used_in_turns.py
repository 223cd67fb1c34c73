"""Attentions of which one is used before the other is through: a layer may have the keys and values of both first."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from attnconf.conformance.inference.weights.naming import roles_of


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
    """Return the innermost module of each parameter that holds those of one attention; "" where none does.

    Of a module that holds two, the first word of their names may say which is whose: ``self_qkv``, ``cross_kv``.
    """
    inside = Counter[str]()
    for name, size in sizes.items():
        inside.update(dict.fromkeys(_above(name), size))
    found = {name: next((path for path in _above(name) if inside[path] == whole), "") for name in sizes}
    paths = {"": sum(sizes.values()), **inside}
    for path in (path for path, size in paths.items() if size == 2 * whole):
        names = [name for name in sizes if (not path or path in _above(name)) and not found[name]]
        for told in (_by_words(path, names), _by_letters(names), _by_roles(names)):
            sums = Counter[str]()
            for name, word in told.items():
                sums[word] += sizes[name]
            if len(told) == len(sizes.keys() & names) and set(sums.values()) == {whole}:
                found |= {name: f"{path}.{word}" for name, word in told.items()}
                break
    return found


def _by_words(path: str, names: Sequence[str]) -> dict[str, str]:
    """Return the first word of each name within a module."""
    return {name: name.removeprefix(f"{path}.").split("_")[0] for name in names}


def _by_letters(names: Sequence[str]) -> dict[str, str]:
    """Return the letter before, or the number behind, that of a projection: ``ck`` and ``k``, ``q2`` and ``q1``."""
    found = {
        name: re.fullmatch(r"([a-z]?)(?:qkv|kv|q|k|v|o)(\d?)", name.split(".")[-2]) for name in names if "." in name
    }
    return {name: f"{m[1]}{m[2]}" for name, m in found.items() if m}


def _by_roles(names: Sequence[str]) -> dict[str, str]:
    """Return which of two attentions each parameter is of, by the projections that their names say, in order of use.

    What an attention has already belongs to the other one, and an output to the first that has all else.
    """
    has: list[set[str]] = [set(), set()]
    of_modules: dict[str, str] = {}
    for name in names:
        module, roles = name.rpartition(".")[0], set(roles_of(name))
        if module in of_modules:
            continue
        free = (at for at in (0, 1) if not roles & has[at] and (roles != {"out"} or has[at] >= {"q", "k", "v"}))
        at = next(free, None) if roles != {""} else None
        if at is None:
            return {}
        has[at] |= roles
        of_modules[module] = str(at)
    return {name: of_modules[name.rpartition(".")[0]] for name in names}


def _above(name: str) -> list[str]:
    """Return the paths of the modules around a parameter, the innermost first, without the one of all."""
    parts = name.split(".")[:-1]
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
