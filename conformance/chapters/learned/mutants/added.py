"""Ways to get learned positions wrong: what is added."""

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned

input_dropped = Mutant(
    "LRN-input-dropped",
    story="the rows replace x instead of being added, and nobody says so",
    breaks={"LRN-ADD-1"},
    hint='return x + rows, or declare learned-output = "table"',
    replace={learned.add: lambda x, encoded: encoded.expand_as(x) + 0 * x},
)

input_doubled = Mutant(
    "LRN-input-doubled",
    story="x is added twice",
    breaks={"LRN-ADD-1"},
    hint="the sum has x once",
    replace={learned.add: lambda x, encoded: x + encoded + x},
)

undeclared_scale = Mutant(
    "LRN-undeclared-scale",
    story="x is multiplied by √dim",
    breaks={"LRN-ADD-1"},
    hint="leave √dim to the embedding",
    replace={learned.add: lambda x, encoded: x * x.shape[-1] ** 0.5 + encoded},
)

multiplied = Mutant(
    "LRN-multiplied",
    story="x is multiplied by the row",
    breaks={"LRN-ROW-1"},
    hint="add the row",
    replace={learned.add: lambda x, encoded: x * encoded},
)
