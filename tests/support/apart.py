"""The same implementation judged in this process and in a child of it: the two records, without times."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch

from attnconf.conformance.engine import child
from attnconf.conformance.loading import isolated
from attnconf.conformance.pictures import illustrate, smallest
from attnconf.conformance.run import implementations
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.run.record import record


def both(name: str, **settings: Any) -> Iterator[dict[str, Any]]:
    """Yield the record of a run in this process, and of one in a child."""
    with contextlib.redirect_stdout(io.StringIO()), _as_run(), _without_haste():
        try:
            for load in (implementations.load, isolated.load):
                run = judge_all(make_plan(load(name, settings.get("prescribed")), Settings(**settings)))
                explain_failures(run)
                yield record(run)
        finally:
            child.end_all()


@contextlib.contextmanager
def _as_run() -> Iterator[None]:
    """Compute as a run from the command line does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def _without_haste() -> Iterator[None]:
    """Let no picture depend on how long it takes to draw."""
    with (
        mock.patch.object(smallest.Deadline, "over", property(lambda deadline: False)),
        mock.patch.object(illustrate, "process_time", return_value=0.0),
    ):
        yield


def differences(name: str, **settings: Any) -> list[str]:
    """Return what differs between the two records of an implementation, a line for each entry."""
    here, apart = map(plain, both(name, **settings))
    return list(_differences("", here, apart))


def plain(content: dict[str, Any]) -> dict[str, Any]:
    """Return a record without times, and without words on where it ran."""
    for one in content["implementations"]:
        assert one.pop("isolation")[:1] in ([], ["process"])
        one["bound"] = [line for line in one["bound"] if not line.startswith("isolation ")]
    for result in content["results"]:
        del result["seconds"]
    return content


def _differences(where: str, here: Any, apart: Any) -> Iterator[str]:
    if type(here) is type(apart) and isinstance(here, dict) and here.keys() == apart.keys():
        for key in here:
            yield from _differences(f"{where}.{key}", here[key], apart[key])
    elif isinstance(here, list) and isinstance(apart, list) and len(here) == len(apart):
        for i, (one, other) in enumerate(zip(here, apart, strict=True)):
            yield from _differences(f"{where}[{i}]", one, other)
    elif here != apart:
        yield f"{where}: {here!r:.300} here, {apart!r:.300} apart"
