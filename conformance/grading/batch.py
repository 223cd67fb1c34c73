"""A batch of submissions: begun, gone on with after an interruption, and closed.

``batch.json`` in the folder of the results holds what is the same for all: the rubric's text, the seed, the plan, and
what was handed in. Each submission's record is a file of its own, written when it is done, so that nothing is lost and
nothing is done twice. The seed is secret until the batch is closed: a table of known answers earns nothing.
"""

import contextlib
import json
import secrets
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import attnconf
from attnconf.conformance.grading.rubric import Rubric
from attnconf.conformance.grading.scoring import Planned
from attnconf.conformance.grading.submissions import Submission
from attnconf.reports.grades.writing import FOLDERS
from attnconf.reports.record import write_bytes
from attnconf.spec import courses

SCHEMA = "attnconf-batch/1"
PAGE, RECORDS, LOCK = "batch.json", "records", ".lock"
SEEDS = 2**31


class BatchError(ValueError):
    """A folder of results cannot be used; the message says why, in one line."""


@dataclass(frozen=True)
class Batch:
    """What is the same for all submissions of a batch."""

    out: Path
    rubric: Rubric
    seed: int
    plan: tuple[Planned, ...]
    isolation: tuple[str, ...]  # the layers around the code of each submission
    submissions: tuple[Submission, ...]

    def page(self, closed: bool) -> dict[str, Any]:
        """Return what is written of the batch: what one that goes on must have in common with it, and what came in."""
        handed_in = [{"name": s.name, "key": s.key, "file": s.shown, "digest": s.digest} for s in self.submissions]
        return {
            "schema": SCHEMA, "suite": attnconf.__version__, "rubric": self.rubric.text,
            "rubric_source": self.rubric.source, "course": _course(), "seed": self.seed, "closed": closed,
            "isolation": list(self.isolation), "plan": [asdict(p) for p in self.plan], "submissions": handed_in,
        }  # fmt: skip

    def write(self, closed: bool) -> None:
        """Write that page; only its owner may read it while the batch is open. Raises OSError."""
        (self.out / RECORDS).mkdir(parents=True, exist_ok=True)
        path = self.out / PAGE
        write_bytes(path, (json.dumps(self.page(closed), indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
        path.chmod(0o644 if closed else 0o600)

    def path(self, submission: Submission) -> Path:
        return self.out / RECORDS / f"{submission.key}.json"

    def record(self, submission: Submission) -> dict[str, Any] | None:
        """Return the record of a submission that was examined as it is now; None where there is none."""
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self.path(submission).read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("digest") == submission.digest and "status" in found:
                return found
        return None

    def keep(self, submission: Submission, record: dict[str, Any]) -> None:
        """Write the record of a submission, all of it or nothing. Raises OSError."""
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
        write_bytes(self.path(submission), (text + "\n").encode("utf-8", errors="backslashreplace"))

    def left(self) -> list[Submission]:
        """Return the submissions that are to be examined: what is refused is not."""
        return [s for s in self.submissions if s.file is not None and self.record(s) is None]


def begun(out: Path) -> dict[str, Any] | None:
    """Return what was written of a batch in a folder; None where none was begun. Raises BatchError."""
    path = out / PAGE
    try:
        page = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BatchError(f"cannot read {str(path)!r}: {error}") from None
    if not isinstance(page, dict) or page.get("schema") != SCHEMA or not isinstance(page.get("seed"), int):
        raise BatchError(f"{str(path)!r} is none of a batch, want {SCHEMA}")
    return page


def continued(page: dict[str, Any], rubric: Rubric, seed: int | None) -> int:
    """Return the seed of a batch that was begun. Raises BatchError where something else is asked for now."""
    if page.get("rubric") != rubric.text:
        raise BatchError("it was begun with another rubric: give another --out, or --anew to begin again")
    if page.get("course") != _course():
        raise BatchError("it was begun with another course: give another --out, or --anew to begin again")
    if page.get("suite") != attnconf.__version__:
        raise BatchError(
            f"it was begun with attnconf {page.get('suite')}: give another --out, or --anew to begin again"
        )
    if seed is not None and seed != page["seed"]:
        raise BatchError("it was begun with another seed: leave --seed out, or --anew to begin again")
    return int(page["seed"])


def _course() -> str | None:
    """Return the digest of the course that is used; None where none is."""
    own = courses.used()
    return own.digest if own else None


def agreed(page: dict[str, Any]) -> tuple[tuple[str, ...], tuple[Planned, ...]]:
    """Return the layers and the plan of a batch that was begun. Raises BatchError."""
    try:
        return tuple(map(str, page["isolation"])), tuple(Planned(**one) for one in page["plan"])
    except (KeyError, TypeError) as error:
        raise BatchError(f"its {PAGE} is none of a batch ({error}): --anew begins again") from None


def drawn() -> int:
    """Return a seed that nobody can foresee."""
    return secrets.randbelow(SEEDS)


def remove(out: Path, keys: Collection[str] = ()) -> None:
    """Forget a batch, but what there is of the submissions with these keys."""
    for folder in (RECORDS, *FOLDERS):
        for path in (out / folder).glob("*.*"):
            if path.stem not in keys:
                path.unlink()


@contextlib.contextmanager
def alone(out: Path) -> Iterator[None]:
    """Keep other graders out of a folder in this context. Raises BatchError where one is at work there."""
    import fcntl

    out.mkdir(parents=True, exist_ok=True)
    with open(out / LOCK, "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BatchError("another attnconf grade is at work there") from None
        yield  # the file stays: whoever removed it could leave two with a lock
