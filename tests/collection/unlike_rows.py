"""What comes of submissions otherwise than reports/submissions.md says.

``python tests/collection/unlike_rows.py [PATTERN]...`` judges the files whose path has one of the patterns, all where
none is given, and ends with exit code 1 where a row differs. The gate judges a sample: whoever changes
`conformance/inference` judges all of them before it lands.
"""

import sys

from judged_submissions import Outcomes, committed, judge_all, outcomes, submissions


def unlike(rows: Outcomes, came_out: Outcomes) -> list[str]:
    """Return a line on each outcome that is not what its row says."""
    return [
        f"{file} {c}: {rows.get((file, c))} -> {new}"
        for (file, c), new in came_out.items()
        if rows.get((file, c)) != new
    ]


def main() -> int:
    patterns = sys.argv[1:] or [""]
    files = list(dict.fromkeys(s.file for s in submissions() if any(p in s.file for p in patterns)))
    rows, differ = committed(), 0
    for i, (file, judged) in enumerate(judge_all(files), 1):
        lines = unlike(rows, outcomes({file: judged}))
        differ += len(lines)
        print(*lines, sep="\n", end="\n" if lines else "", flush=True)
        if i % 50 == 0:
            print(f"{i} of {len(files)} files", file=sys.stderr, flush=True)
    print(f"{len(files)} files judged, {differ} rows differ")
    return int(differ > 0 or not files)


if __name__ == "__main__":
    sys.exit(main())
