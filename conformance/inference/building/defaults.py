"""A constructor's arguments: the defaults that a binding does not use have to run, dropout has to drop, and an order of
axes that can be chosen has to matter."""

import ast
import contextlib
import inspect
import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from attnconf.conformance.engine.boundary import blamed
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.building.building import space_for
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.spied import Seen
from attnconf.conformance.inference.trials.trial import gap, reply
from attnconf.conformance.inference.words.records import entries_of, records_made
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import only_others_have
from attnconf.conformance.source.syntax import tree_of
from attnconf.conformance.worker.foreign_errors import meant, place, raised

AXES = r"(batch|seq(uence)?|time|tokens?|heads?|channels?|features?)_?(first|last|major)"  # whose order a flag chooses


def broken_defaults(bound: Bound, asked: Request, seen: Seen) -> Iterator[tuple[str, Failure]]:
    """Yield the arguments of a constructor whose defaults raise, and with what: None, or a width of each head.

    ``asked``: a call that succeeds; ``seen``: what it hands over. Another number need not go with the sizes that are
    asked for, nor need any that the code itself refuses. A whole configuration that is left out has sizes of its own:
    then the class has to be built, and is not called.
    """
    made = _construction(bound)
    if made is None:
        return
    defaults = {p.name: p.default for p in parameters_of(bound.place.thing)}
    values = {word.arg: word.value for word in made.keywords if word.arg}
    texts = {name: ast.unparse(value) for name, value in values.items()}
    for name, text in texts.items():
        free = "head_dim" in text or "embed_dim // config.num_heads" in text
        free = free and "config.num_heads" in texts.values() and isinstance(defaults.get(name), int)
        if name in defaults and (defaults[name] is None or free):
            others = [word for word in made.keywords if word.arg != name]
            given = None if _has_sizes(values[name]) else seen.given
            failure = _raises(bound, asked, ast.unparse(ast.Call(made.func, made.args, others)), given)
            if failure is not None:
                yield name, failure


def _has_sizes(value: ast.expr) -> bool:
    """Return whether an argument is a configuration that names the sizes of the model."""
    return isinstance(value, ast.Dict | ast.Call) and "config.embed_dim" in ast.unparse(value)


def idle_dropout(bound: Bound, asked: Request, base: Reply) -> str:
    """Return the name of an argument for dropout that a binding gives and that drops nothing; "" where none is.

    An entry of a configuration that only other code of the file reads is none of the class.

    ``base``: what ``asked`` answers, without dropout.
    """
    named = re.search(r"\b(\w+)=config\.dropout\b", bound.draft.body)
    if named is None or not {"dropout", "training"} <= vars(asked.config).keys() or _of_others(bound, named[1]):
        return ""
    implementation = bound.draft.implementation(bound.place.module)
    dropping = replace(asked.config, dropout=0.5, training=True)
    given = reply(implementation, asked.asked(config=dropping, seed=0))
    return named[1] if gap(given, base) == 0 else ""


def _of_others(bound: Bound, name: str) -> bool:
    """Return whether a name is an entry of a configuration that the class does not read, and other code does."""
    thing, asked = bound.place.thing, rf"[.\"']{name}\b"
    own = not isinstance(thing, type) or name in {p.name for p in parameters_of(thing)}
    return not own and only_others_have(asked, thing, bound.place.module)


def idle_axes(bound: Bound, asked: Request, base: Reply) -> str:
    """Return the name of a flag for the order of axes with which all stays as it was; "" where none is.

    ``base``: what ``asked`` answers with the flag as the binding has it.
    """
    for name, _, body in turned(bound, AXES):
        other = replace(bound.draft, body=body).implementation(bound.place.module)
        if gap(reply(other, asked), base) == 0:
            return name
    return ""


def turned(bound: Bound, names: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the flags of these names, of a constructor or a configuration, with their other value and the body then."""
    body, made = bound.draft.body, _construction(bound)
    given = list(re.finditer(rf"""\b(?P<name>{names})(=|["']: )(?P<value>True|False)\b""", body))
    for one in given:
        other = one["value"] == "False"
        yield one["name"], other, body[: one.start("value")] + str(other) + body[one.end("value") :]
    yield from _of_entries(bound, names)
    said = ast.get_source_segment(body, made) if made else None
    if made is None or said is None:
        return
    for p in parameters_of(bound.place.thing):
        if isinstance(p.default, bool) and re.fullmatch(names, p.name) and p.name not in {one["name"] for one in given}:
            words = [*made.keywords, ast.keyword(p.name, ast.Constant(not p.default))]
            yield p.name, not p.default, body.replace(said, ast.unparse(ast.Call(made.func, made.args, words)))


def _of_entries(bound: Bound, names: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the flags among the entries of the records that a binding makes and leaves at their defaults."""
    body = bound.draft.body
    for kind in records_made(bound.place.module, body):
        made = f"theirs.{kind.__name__}("
        for f in entries_of(kind):
            if isinstance(f.default, bool) and re.fullmatch(names, f.name) and f"{f.name}=" not in body:
                yield f.name, not f.default, body.replace(made, f"{made}{f.name}={not f.default}, ", 1)


def worded(bound: Bound) -> Iterator[tuple[str, str, Callable[[str], str]]]:
    """Yield the options of a class or function that are words, as they are, and what makes the body with another word.

    Those of a configuration that it is built with, and that the file defines, are options of it, too.
    """
    body, made = bound.draft.body, _call(bound)
    for call in (n for n in ast.walk(made) if isinstance(n, ast.Call)) if made else ():
        thing = bound.place.thing if call is made else _of_the_file(bound, call)
        said = ast.get_source_segment(body, call)
        handed = {word.arg: word.value for word in call.keywords}
        for p in parameters_of(thing) if thing is not None and said else ():
            now = handed.get(p.name, ast.Constant(p.default))
            if isinstance(now, ast.Constant) and isinstance(now.value, str) and said:
                yield p.name, now.value, partial(_with_word, body, said, call, p.name)


def _of_the_file(bound: Bound, call: ast.Call) -> Any:
    """Return the class that a call builds, where the judged file defines it."""
    found = vars(bound.place.module).get(ast.unparse(call.func).removeprefix("theirs."))
    own = inspect.isclass(found) and found.__module__ == bound.place.module.__name__
    return found if own else None


def _with_word(body: str, said: str, made: ast.Call, name: str, word: str) -> str:
    words = [*(each for each in made.keywords if each.arg != name), ast.keyword(name, ast.Constant(word))]
    return body.replace(said, ast.unparse(ast.Call(made.func, made.args, words)))


def _construction(bound: Bound) -> ast.Call | None:
    """Return the expression in a binding's text that builds its class, or None."""
    return _call(bound) if inspect.isclass(bound.place.thing) else None


def _call(bound: Bound) -> ast.Call | None:
    """Return the expression in a binding's text that calls its class or function, or None."""
    if bound.place.in_arrays:
        return None
    calls = (node for node in ast.walk(tree_of(bound.draft.body)) if isinstance(node, ast.Call))
    return next((c for c in calls if ast.unparse(c.func) == bound.place.name_in_text), None)


def _raises(
    bound: Bound, asked: Request, made: str, given: tuple[tuple[object, ...], dict[str, object]] | None
) -> Failure | None:
    """Return what building a class, and calling it with ``given``, raises, unless its own code says so, or None."""
    space = space_for(asked.config, bound.place.module, weights=dict(asked.weights), **asked.inputs)
    try:
        with (
            torch.random.fork_rng(devices=[]), torch.no_grad(), warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
        ):  # fmt: skip
            module = eval(made, space).double().eval()
            if given is not None:
                module(*given[0], **given[1])
    except Exception as error:
        failure = blamed(raised(error))
        failure.at = place(error, str(getattr(bound.place.module, "__file__", "")))
        return None if meant(error) or not failure.at else failure
    return None
