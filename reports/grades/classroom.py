"""What GitHub Classroom's reporter reads: ``python -m attnconf.reports.grades.classroom OUT FAILED.json``.

https://github.com/classroom-resources/autograding-grading-reporter: the output of a step, in JSON and base64. There is
no hidden test: what is not visible is left out.
"""

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def result(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the reporter reads, made of what Gradescope reads."""
    tests = [test for test in results["tests"] if test["visibility"] == "visible"]
    passed = all(test["status"] == "passed" for test in tests)
    return {
        "version": 1,
        "status": "pass" if passed and tests else "fail",
        "max_score": sum(test["max_score"] for test in tests),
        "tests": [
            {
                "name": test["name"], "status": "pass" if test["status"] == "passed" else "fail",
                "score": test["score"], "message": test["output"], "test_code": "", "filename": "", "line_no": 0,
                "duration": 0,
            }
            for test in tests
        ],
    }  # fmt: skip


def output(out: Path, failed: Path) -> str:
    """Return the line that a step writes: of the one submission that was graded, or of none."""
    made = list((out / "gradescope").glob("*.json"))
    found = json.loads((made[0] if len(made) == 1 else failed).read_text("utf-8"))
    return f"result={base64.b64encode(json.dumps(result(found)).encode()).decode()}"


if __name__ == "__main__":
    print(output(Path(sys.argv[1]), Path(sys.argv[2])))
