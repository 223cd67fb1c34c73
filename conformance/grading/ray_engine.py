"""The same on a Ray cluster (extra ``ray``): chunks of submissions, placed by Ray, each examined as in the pool.

The files travel with their chunk. A chunk whose node dies is examined again elsewhere; records come out byte for byte
as those of the pool.
"""

import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnconf.conformance.grading import examine, pool
from attnconf.conformance.grading.batch import BatchError
from attnconf.conformance.grading.examine import Record, Task
from attnconf.conformance.grading.rubric import Rubric
from attnconf.spec import courses

CHUNK = 8  # submissions: few are lost with a node, and few messages are needed
RETRIES = 10  # of a chunk whose node dies
ANSWER = 10.0  # seconds for a cluster to be there
_kept: list["tempfile.TemporaryDirectory[str]"] = []  # with a course, until this process ends
EXTRA = "ray is not installed: pip install 'attention-conformance[ray]'"


class NoRay(BatchError):
    """Ray is not installed, or no cluster answers; the message says which."""


@dataclass(frozen=True)
class Packed:
    """A task with its files, by their names in its folder."""

    task: Task
    files: dict[str, bytes]


def examined(tasks: Sequence[Task], rubric: Rubric, seed: int, address: str | None) -> Iterator[tuple[Task, Record]]:
    """Yield each task with its record, as they come. Raises NoRay."""
    ray = _connected(address)
    work = ray.remote(max_retries=RETRIES, num_cpus=1)(examined_there)
    chunks = [tasks[n : n + CHUNK] for n in range(0, len(tasks), CHUNK)]
    course = courses.files(Path(rubric.course)) if rubric.course else {}
    under_way = {work.remote([packed(task) for task in chunk], rubric, seed, course): chunk for chunk in chunks}
    try:
        while under_way:
            (done,), _ = ray.wait(list(under_way), num_returns=1)
            yield from zip(under_way.pop(done), ray.get(done), strict=True)
    finally:
        ray.shutdown()


def _connected(address: str | None) -> Any:
    """Return the module of Ray, connected to a cluster, or to one that it starts here. Raises NoRay."""
    try:
        import ray
    except ModuleNotFoundError:
        raise NoRay(EXTRA) from None
    _demand_somebody(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise NoRay(f"no Ray cluster at {address}: {error}") from None
    return ray


def _demand_somebody(address: str | None) -> None:
    """Raise NoRay where nobody listens at HOST:PORT, for which Ray itself would wait for minutes."""
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), ANSWER).close()
    except (OSError, OverflowError) as error:
        raise NoRay(f"no Ray cluster at {address}: {error}") from None


def packed(task: Task) -> Packed:
    folder = Path(task.folder)
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    return Packed(task, files)


def examined_there(chunk: Sequence[Packed], rubric: Rubric, seed: int, course: Mapping[str, bytes]) -> list[Record]:
    """Return the records of a chunk, in a process of a node. ``course``: the files of the rubric's."""
    if course and courses.used() is None:
        _kept.append(tempfile.TemporaryDirectory(prefix="attnconf-"))
        folder = Path(_kept[0].name, Path(rubric.course).name)
        _unpack(course, folder)
        courses.use(folder, folder.name)
    pool.keep_warm()
    return [_examined(one, rubric, seed) for one in chunk]


def _examined(one: Packed, rubric: Rubric, seed: int) -> Record:
    with tempfile.TemporaryDirectory(prefix="attnconf-") as folder:
        _unpack(one.files, Path(folder))
        return examine.examined(replace(one.task, folder=folder), rubric, seed)


def _unpack(files: Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
