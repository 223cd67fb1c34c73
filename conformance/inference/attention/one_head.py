"""Whether a single head that is as wide as the model has no output projection, because the code says so."""

import ast
import re
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.state.kept_by_models import handed_text
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings
from attnconf.conformance.source.source_text import texts_reached
from attnconf.conformance.source.syntax import last_name, number, tree_of

NO_PROJECTION = {"one-head-projection": "no"}
_HOME = re.compile(r"""f?"([^"]+)": .*\["[\w.]*\bout\.(weight|bias)"\]""")


def without_projection(
    place: Place, entries: Iterable[str], several: Callable[[], Any], one: Callable[[], Any]
) -> dict[str, str]:
    """Return the convention of what has no output projection where one head is as wide as the model; else nothing.

    Its code has to compare the number of heads with 1, and ``one``, what it builds with one head, has to lack exactly
    those parameters of ``several`` that hold W_o and b_o: a projection that is there and not applied is a mistake.
    """
    homes = [home for entry in entries if (home := _HOME.search(entry))]
    if not homes or not _asks_for_one(place):
        return {}
    try:
        names, alone = ({name for name, _ in build().named_parameters()} for build in (several, one))
    except Failed:
        return {}
    pattern = "|".join(re.sub(r"\\\{[^{}]*\\\}", r"\\d+", re.escape(home[1])) for home in homes)
    held = {name for name in names if re.fullmatch(pattern, name)}
    return NO_PROJECTION if held and names - alone == held and not alone - names else {}


def of_stack(place: Place, text: LayerText, config: Any) -> dict[str, str]:
    """Return what is declared of a single head in layers: that it has no output projection."""
    if "heads" not in text.made.given or not text.known.layered:
        return {}
    entries = [*text.entries, *(entry for stack in text.stacks for entry in stack.entries)]
    made, inner = text.made, handed_text(text.made.text)
    if inner:  # vectors are put in, and its parameters are those of the whole
        made, entries = replace(made, text=inner), [entry.replace('"whole.', '"') for entry in entries]
    several, one = (partial(build, place, made, each) for each in (config, replace(config, num_heads=1)))
    return without_projection(place, entries, several, one)


def _asks_for_one(place: Place) -> bool:
    """Return whether the code of a class compares a number of heads with 1."""
    with suppress(SyntaxError, ValueError):
        trees = [tree_of(textwrap.dedent(text)) for text in texts_reached(place.thing)]
        nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Compare))
        return any(_is_one(*sides) for node in nodes if len(node.comparators) == 1 for sides in _both_ways(node))
    return False


def _both_ways(node: ast.Compare) -> tuple[tuple[ast.expr, ast.expr], ...]:
    left, right = node.left, node.comparators[0]
    return (left, right), (right, left)


def _is_one(heads: ast.expr, count: ast.expr) -> bool:
    return number(count) == 1 and "heads" in meanings(last_name(heads), SIZES)
