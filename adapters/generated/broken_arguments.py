"""What a binding raises where it is asked for what an argument of the user's promises, and does not do."""


class BrokenArgument(RuntimeError):
    """It says in words what is wrong: "the argument `offset` of forward has no effect"."""
