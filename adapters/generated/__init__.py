"""What adapters written by ``attnconf bind`` import: a line of their text may use any of these names."""

from attnconf.adapters.generated.batches import each_apart, each_query, each_sequence, singly
from attnconf.adapters.generated.broken_arguments import BrokenArgument
from attnconf.adapters.generated.function_module import functional, initial, of_function, paired
from attnconf.adapters.generated.held_objects import held
from attnconf.adapters.generated.log_probabilities import before_log_softmax
from attnconf.adapters.generated.masks import (
    additive,
    allowed,
    everywhere,
    for_each_head,
    last_rows,
    lengths,
    not_hidden,
    one_for_all_heads,
    one_for_all_queries,
    one_for_all_samples,
    shown,
)
from attnconf.adapters.generated.modules import (
    anew,
    awake,
    chosen,
    definitions,
    dropping,
    exact,
    handed,
    holding,
    in_single,
    layered,
    registered,
    settle,
    unpadded,
    untrained,
    with_eps,
    without,
    written,
)
from attnconf.adapters.generated.one_length import for_each_length
from attnconf.adapters.generated.padding_ids import after_padding, beside_padding
from attnconf.adapters.generated.positions import (
    cosines,
    counted,
    evenly,
    image,
    in_pairs,
    octaves,
    penalties,
    pixels,
    rotations,
    rows,
    sines,
    turns,
    twice_the_last,
)
from attnconf.adapters.generated.tokens import (
    byte_merges,
    byte_pairs,
    byte_tokens,
    glued,
    in_bytes,
    letters_of,
    marked_by,
    merges_of_bytes,
    numbered,
    of_bytes,
    pairs,
    spelt,
    strange_in,
    symbols_of,
    tallied,
    to_ours,
    to_own,
    unglued,
    unknown_in,
)
from attnconf.adapters.generated.weights import fitted, floored, full, heads_last, in_order, in_rows, kernel, lacking
from attnconf.adapters.kit.weight_names import under

__all__ = [
    "BrokenArgument", "additive", "after_padding", "allowed", "anew", "awake", "before_log_softmax",
    "beside_padding", "byte_merges", "byte_pairs", "byte_tokens", "chosen", "cosines", "counted", "definitions",
    "dropping", "each_apart", "each_query", "each_sequence", "evenly", "everywhere", "exact", "fitted", "floored",
    "for_each_head", "for_each_length", "full", "functional", "glued", "handed", "heads_last", "held",
    "holding", "image", "in_bytes", "in_order", "in_pairs", "in_rows", "in_single", "initial", "kernel",
    "lacking", "last_rows", "layered", "lengths", "letters_of", "marked_by", "merges_of_bytes", "not_hidden",
    "numbered", "octaves", "of_bytes", "of_function", "one_for_all_heads", "one_for_all_queries",
    "one_for_all_samples", "paired", "pairs", "penalties", "pixels", "registered", "rotations", "rows",
    "settle", "shown", "sines", "singly", "spelt", "strange_in", "symbols_of", "tallied", "to_ours", "to_own",
    "turns", "twice_the_last", "under", "unglued", "unknown_in", "unpadded", "untrained", "with_eps", "without",
    "written",
]  # fmt: skip
