"""What an encoding of positions can be asked for besides: positions that are given, longer sequences."""

import ast
import inspect
import re
from dataclasses import replace
from itertools import product
from typing import Any

import torch

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.probing import longest
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import reply, same, textbook, why
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.source_text import code_reached
from attnconf.conformance.source.syntax import expression_of

LONG = 5000  # tokens, more than any check has
GIVEN = r"(token_|given_|input_)?pos(ition)?s?(_?ids|_?idx|_?index|_?indices)?|index|indices"
FORMS = ("{p}", "({p}).expand(len({x}), {x}.shape[{axis}])", "({p})[:, None]")  # (L,) as it is, (B, L), (L, 1)


def with_options(place: Place, text: Text, request: Request, axis: int = 1, like: str = "x") -> Text:
    """Return the text with positions, and with what it refuses of them; ``axis``: that of tokens in ``like``."""
    text = _with_positions(place, text, request, axis, like)
    if axis == 1 and "x" not in text.given and not text.out.startswith("rows("):
        text = text.but(out=f"rows({text.out}, x)")  # what does not see x cannot know its dtype
    if like == "x" and not {"max_len", "length"} & text.given and "table.weight" not in request.weights:
        text = _limited(place, text, request, axis)
    return text


def _with_positions(place: Place, text: Text, request: Request, axis: int, like: str) -> Text:
    """Return the text that hands positions on, where there is an argument for them."""
    tokens = request.inputs[like].shape[axis]
    one = torch.arange(tokens).flip(0) + 1
    each = torch.stack([one.roll(b) for b in range(len(request.inputs[like]))])
    if "positions" in text.given:
        return _refusing(place, text, request, one, each)
    name = _argument(place, text)
    if name is None:
        return text
    given = [
        line for line in text.limits if "an argument for positions" not in line and "positions is not None" not in line
    ]
    offset = text.declares.get("learned-offset", "0")  # what is given may be counted from 0, or be the numbers of rows
    written = []
    for p, form in product(["positions"] if offset == "0" else ["positions", f"positions + {offset}"], FORMS):
        shown = form.format(p=p, axis=axis, x=like).replace("(positions)", "positions")
        words = shown if shown == "positions" else f"None if positions is None else {shown}"
        arguments = ", ".join([*([text.arguments] if text.arguments else []), f"{name}={words}"])
        written.append(text.but(arguments=arguments, limits=tuple(given), given=text.given | {"positions"}))
    works = [t for t in written if not (_failure(place, t, request, one) or _failure(place, t, request, None))]
    works.sort(key=lambda t: offset != "0" and not _is_right(place, t, request, one))
    return _refusing(place, works[0], request, one, each) if works else text


def _is_right(place: Place, text: Text, request: Request, positions: torch.Tensor) -> bool:
    """Return whether the textbook's rows come back for given positions."""
    asked = replace(request, inputs={**request.inputs, "positions": positions})
    return same(_answer(place, text, asked), reply(in_conventions(textbook(), text.declares), asked))


def _refusing(place: Place, text: Text, request: Request, one: torch.Tensor, each: torch.Tensor) -> Text:
    """Return the text that refuses what the user's own code raises an exception for: positions of one shape.

    Code that asks how many axes they have takes one and two: an error where there is a row for each is broken.
    """
    lines: list[str] = []
    both = _asks_axes(place, text)
    for given, which in ((each, "positions of its own for every sample"), (one, "the same positions for all samples")):
        if not _failure(place, text, request, given):
            continue
        refused = refuse(f"positions is not None and positions.ndim == {given.ndim}", which)
        there = _failure(place, text, request, given - 1) if both else None
        if there is not None and not there.meant:
            words = f"positions of {given.ndim} axes, for which the code asks, raise {why(there)}"
            refused[1] = f"    raise RuntimeError({words!r})"
        lines += refused
    return text.but(limits=(*lines, *text.limits))


def _asks_axes(place: Place, text: Text) -> bool:
    """Return whether the code asks if the argument that positions are handed to has one axis, or two."""
    made = expression_of(text.call)
    if not isinstance(made, ast.Call):
        return False
    names = [p.name for p in parameters(place.thing)]
    handed = [*zip(names, made.args, strict=False), *((word.arg, word.value) for word in made.keywords)]
    given = [(name, ast.unparse(words)) for name, words in handed]
    asked = [name for name, words in given if name and re.search(r"\bpositions\b", words) and "tables" not in words]
    code = code_reached(place.thing)
    return any(re.search(rf"\b{name}\.(ndim|dim\(\)) *[=!<>]=? *[12]\b", code) for name in asked)


def _argument(place: Place, text: Text) -> str | None:
    """Return the name of an argument for positions that may be left out."""
    if not text.call.startswith(("call(", place.name_in_text)):
        return None
    return next((p.name for p in parameters(place.thing) if p.default is None and says_positions(p)), None)


def says_positions(p: inspect.Parameter) -> bool:
    """Return whether an argument is positions by its name."""
    return re.fullmatch(GIVEN, snake(p.name).strip("_")) is not None


def _answer(place: Place, text: Text, request: Request) -> Reply | Failure:
    return reply(text.implementation(place), request)


def _failure(place: Place, text: Text, request: Request, positions: torch.Tensor | None) -> Failure | None:
    inputs = dict(request.inputs) if positions is None else {**request.inputs, "positions": positions}
    answer = _answer(place, text, replace(request, inputs=inputs))
    return answer if isinstance(answer, Failure) else None


def _limited(place: Place, text: Text, request: Request, axis: int) -> Text:
    """Return the text that refuses more tokens than the file has rows for, where the number is no argument."""

    def works(tokens: int) -> bool:
        shape = [1, *request.inputs["x"].shape[1:]]
        shape[axis] = tokens
        x: Any = torch.zeros(shape, dtype=torch.float64)
        config = replace(request.config, max_len=tokens)
        return not isinstance(
            _answer(place, text, replace(request, config=config, inputs={"x": x}, out_shape=tuple(shape))), Failure
        )

    most = longest(works, 8, LONG)
    if not most:
        return text
    return text.but(limits=(*refuse(f"x.shape[{axis}] > {most}", f"more than {most} tokens"), *text.limits))
