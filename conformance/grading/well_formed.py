"""Whether a submission's record can be believed: its form, and that it does not contradict itself."""

import json
from functools import cache
from typing import Any

from attnconf.reports import contradictions, form
from attnconf.reports.record import PAGE

SCHEMA = "attnconf-grade/1"
# Why a submission could not be judged; the first is that it was.
STATUSES = ("judged", "refused", "empty", "not-gradable", "timeout", "crashed", "out-of-memory", "error")
_TEXTS = ("submission", "file", "digest", "message")


def fault(record: Any) -> str:
    """Return what is wrong with a record, in words; "" where nothing is."""
    if not isinstance(record, dict):
        return "it is no record"
    if record.get("schema") != SCHEMA:
        return f"its schema is {record.get('schema')!r:.40}, want {SCHEMA!r}"
    if lacking := [key for key in _TEXTS if not isinstance(record.get(key), str)]:
        return f"its {lacking[0]} is no text"
    if record.get("status") not in STATUSES:
        return f"its status is {record.get('status')!r:.40}, want one of {', '.join(STATUSES)}"
    notes = record.get("notes")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        return "its notes are no list of texts"
    return _of_results(record["status"], record.get("results"))


def _of_results(status: str, results: Any) -> str:
    if results is None:
        return "it was judged, and has no results" if status == "judged" else ""
    try:
        wrong = form.problem(results, _schema())
        return wrong or contradictions.contradiction(results) or ""
    except (TypeError, ValueError, RecursionError) as error:  # of what is no JSON
        return f"its results cannot be read: {type(error).__name__}"


@cache
def _schema() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(PAGE.read_text(encoding="utf-8"))
    return content
