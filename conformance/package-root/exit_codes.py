"""The exit codes of all verbs, and the caller's mistake, which ends a verb with one of them."""

OK, FAILED, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
EXIT_CODES = (
    "exit codes: 0 all is well, 1 a MUST does not hold, or a file is not recognised, 2 bad input, "
    "3 fault of the suite, or the run was ended before its verdicts were written, 130 interrupted"
)


class UsageError(Exception):
    """The caller's mistake, in one line."""
