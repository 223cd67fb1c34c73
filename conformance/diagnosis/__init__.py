"""The known mistake behind a failure: which mutant gives the same replies, and which line of the file makes it."""
