"""Find the line of a user's source that makes a known mistake; none if no line or several lines may be meant.

Nothing is run. A mistake is looked for by the shape of its code (patterns.py), in the judged class or function and in
the classes and functions of the same file that it names, directly or not.
"""

import ast
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from attnconf.conformance.diagnosis.late_scaling import products_scaled_later
from attnconf.conformance.diagnosis.patterns import (
    activations,
    added_to_root,
    always_dropping,
    biased,
    by_eight,
    calling,
    centred,
    changing,
    clamped,
    cutting,
    either,
    fills,
    first_element,
    fixed_small,
    from_one,
    idle,
    joined_to_input,
    kept_calls,
    keyword_given,
    literal_base,
    merged_in_place,
    narrowing,
    negated_half,
    nested_layers,
    norm_then_sum,
    normed_branch,
    nothing,
    other_base,
    over_one_more,
    over_other_axes,
    padding_on_rows,
    positions_divided,
    powers,
    products_with_transposed,
    repeated_layer,
    returned,
    returning,
    roots,
    roots_from,
    sequence_first,
    softmax_over,
    split_in_place,
    times_mask,
    triangles,
    unsummed,
    values_scored,
    weak_fills,
    wrapped,
)
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.source import source_text
from attnconf.conformance.source.syntax import Code, Find

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def locate(text: str, mutants: Iterable[str], inside: str = "") -> int | None:
    """Return the number of the line (from 1) that makes the mistake, or None.

    ``mutants``: names of the mutants that the mistake may be. ``inside``: the name of the judged class or function.
    Consecutive lines of the same shape, as for query, key and value, count as one place: the first.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    lines = shaped(Code(relevant(tree, inside)), mutants)
    first, last = min(lines, default=0), max(lines, default=0)
    together = len(lines) <= 3 and last - first == len(lines) - 1
    return first if lines and together and _alike(text.splitlines()[first - 1 : last]) else None


def shaped(code: Code, mutants: Iterable[str]) -> set[int]:
    """Return the lines whose code has the shape of one of these mistakes."""
    finders = [next((find for pattern, find in FINDERS if fnmatchcase(name, pattern)), nothing) for name in mutants]
    return {line for find in finders for node in find(code) if (line := getattr(node, "lineno", None))}


def place(implementation: Implementation, component: str, mutants: Iterable[str]) -> tuple[str, int, str] | None:
    """Return the place of a mistake in an implementation's text: (place in words, line, the line's text).

    None if no line, or more than one, may make the mistake.
    """
    source = source_text.text_of(implementation.source)
    if source is None:
        return None
    line = locate(source.text, mutants, judged_name(implementation, component))
    return (source.place(line), line, source.text.splitlines()[line - 1].strip()) if line else None


def judged_name(implementation: Implementation, component: str) -> str:
    """Return the name of the judged class or function; in an adapter, the component's."""
    return (implementation.binding.inside if implementation.binding else "") or component


def _alike(lines: list[str]) -> bool:
    """Return whether lines have one shape: they differ in names alone."""
    bare = [line.partition("#")[0] for line in lines]
    shapes = {"".join(c for c in line if not c.isalnum() and c not in "_ ") for line in bare}
    return len(shapes) == 1


def relevant(tree: ast.Module, inside: str) -> list[ast.stmt]:
    """Return the judged definition, the definitions that it names, and the top level's other statements."""
    defined = {node.name: node for node in tree.body if isinstance(node, Definition)}
    if inside not in defined:
        return tree.body
    kept, left = set(), [inside]
    while left:
        name = left.pop()
        if name not in kept:
            kept.add(name)
            left += [other for other in _names(defined[name]) if other in defined]
    return [node for node in tree.body if not isinstance(node, Definition) or node.name in kept]


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id


_PEEKING = triangles(upper=(2.0, 3.0), lower=(1.0, 2.0))
_STRICT = triangles(upper=(0.0,), lower=(-1.0,))
_TRIANGLE = calling("tril", "triu")
_HALF = narrowing("half", "float16", "bfloat16")
_SINGLE = narrowing("float", "float32")

# (names of mutants, finder): the first pattern that a name matches counts.
FINDERS: tuple[tuple[str, Find], ...] = (
    ("ATT-unscaled", products_with_transposed),
    ("ATT-scale-for-eight", by_eight),
    ("ATT-scaled-twice", nothing),
    ("ATT-scaled-by-keys", roots_from),
    ("ATT-scaled-by-value-width", roots_from),
    ("ATT-scale*", roots),
    ("ATT-multiplied-by-root", roots),
    ("ATT-product-before-scale", products_scaled_later),
    ("*-scaled-by-model*", roots),
    ("ATT-softmax-over-queries", softmax_over(-2, 1, 2)),
    ("ATT-softmax-over-heads", softmax_over(1, -3)),
    ("ATT-softmax-over-batch", softmax_over(0, -4, -3)),
    ("ATT-sigmoid", calling("sigmoid")),
    ("ATT-clamped", clamped),
    ("ATT-no-maximum", calling("exp")),
    ("ATT-cosine", calling("normalize", "norm", "cosine_similarity")),
    ("ATT-queries-normalised", calling("normalize", "norm")),
    ("ATT-relu-on-*", calling("relu")),
    ("ATT-magnitudes", calling("abs")),
    ("ATT-distances", calling("cdist")),
    ("ATT-half-inside", _HALF),
    ("ATT-single*", _SINGLE),
    ("MASK-fill-*", weak_fills),
    ("MASK-lowered-*", weak_fills),
    ("MASK-scores-multiplied", times_mask),
    ("MASK-after-softmax", either(times_mask, fills)),
    ("MASK-times-inf", times_mask),
    ("MASK-causal-peeking", either(_PEEKING, _TRIANGLE)),
    ("*-one-ahead", either(_PEEKING, _TRIANGLE)),
    ("MASK-causal-strict", either(_STRICT, _TRIANGLE)),
    ("*-strictly-earlier", either(_STRICT, _TRIANGLE)),
    ("ROPE-itself-hidden", either(_STRICT, _TRIANGLE)),
    ("DEC-not-itself", either(_STRICT, _TRIANGLE)),
    ("MASK-causal-other-corner", _TRIANGLE),
    ("MASK-causal-future", _TRIANGLE),
    ("DEC-only-later", _TRIANGLE),
    ("MASK-padding-on-queries", padding_on_rows),
    ("*-padding-on-queries", padding_on_rows),
    ("*-key-mask-on-queries", padding_on_rows),
    ("MASK-empty-nan*", either(calling("nan_to_num", "nan_to_num_"), fills)),
    ("MASK*-inverted", fills),
    ("MASK-ones-added", fills),
    ("*mask-inverted", fills),
    ("*-padding-inverted", fills),
    ("*-causal-ignored", idle("causal", "mask", "tril", "triu", "subsequent")),
    ("*-not-causal", idle("causal", "mask", "tril", "triu", "subsequent")),
    ("*-never-causal", idle("causal", "mask", "tril", "triu", "subsequent")),
    ("*mask*ignored", idle("mask", "pad")),
    ("*-padding-ignored", idle("mask", "pad")),
    ("MHA-split-without-transpose", split_in_place),
    ("MHA-heads-last*", merged_in_place),
    ("MHA-merge-without-transpose", merged_in_place),
    ("MHA-no-output-projection", returning(idle("linear"))),
    ("MHA-k-and-v-*", values_scored),
    ("DEC-keys-for-values", values_scored),
    ("MHA-sequence-first", sequence_first),
    ("ENC-batch-second", sequence_first),
    ("*-float32-out", returned(_SINGLE)),
    ("*-in-place", changing),
    ("*-overwritten", changing),
    ("*-zeroed-in-place", changing),
    ("*-detached", cutting),
    ("*-zero-frozen", keyword_given("padding_idx")),
    ("LRN-padding-frozen", keyword_given("padding_idx")),
    ("*-frozen", cutting),
    ("*-no-gradient", cutting),
    ("*-without-grad", cutting),
    ("*-not-learn", cutting),
    ("*-always-dropping", always_dropping),
    ("*-dropout-in-evaluation", always_dropping),
    ("*-drops-always", always_dropping),
    ("*-dropout-always", always_dropping),
    ("*-not-rescaled", calling("bernoulli", "rand", "rand_like", "bernoulli_")),
    ("LN-unbiased", biased),
    ("LN-annotated-transformer", nothing),
    ("RMS-standard-deviation", calling("std", "var")),
    ("*-eps-outside", added_to_root),
    ("*-eps-fixed", fixed_small),
    ("ENC-eps-*", either(fixed_small, sequence_first)),
    ("LN-over-*", over_other_axes),
    ("LN-ax*", over_other_axes),
    ("RMS-over-*", over_other_axes),
    ("ENC-norm-over-tokens", over_other_axes),
    ("RMS-mean-subtracted*", centred),
    ("*-gain-of-one-number", first_element),
    ("RMS-mean-magnitude", calling("abs")),
    ("RMS-length", calling("normalize", "norm")),
    ("ENC-norm-of-the-branch", normed_branch),
    ("DEC-sublayer-normed", normed_branch),
    ("*-residual*-from-norm", norm_then_sum),
    ("DEC-residual-normed", norm_then_sum),
    ("*-no-*residual", unsummed),
    ("*-no-last-norm", returning(idle("norm", "ln"))),
    ("*-norm-missing", returning(idle("norm", "ln"))),
    ("*-shared-layer", repeated_layer),
    ("*-layer-shared", repeated_layer),
    ("*-no-activation", nested_layers),
    ("*-not-activated", nested_layers),
    ("FF-*relu*", activations),
    ("FF-*gelu*", activations),
    ("FF-*tanh*", activations),
    ("FF-*sigmoid*", activations),
    ("FF-silu-overflows", either(over_one_more, calling("exp"))),
    ("*-always-relu", activations),
    ("*-always-gelu", activations),
    ("*-undeclared-gelu", activations),
    ("*-eps=*", fixed_small),
    ("*-activation=*", activations),
    ("*-from-one", from_one),
    ("*-undeclared-offset", from_one),
    ("SIN-base-1000", other_base),
    ("ROPE-base-1000", other_base),
    ("*-base-ignored", literal_base),
    ("*-base-fixed", literal_base),
    ("SIN-double-step", powers),
    ("SIN-half-*", powers),
    ("SIN-multiplied-by-power", either(positions_divided, powers)),
    ("SIN-inverted-twice", either(positions_divided, powers)),
    ("SIN-integer-exponent", powers),
    ("*-exponent*", powers),
    ("SIN-concatenated", joined_to_input),
    ("LRN-concatenated", joined_to_input),
    ("ROPE-sign-lost", negated_half),
    ("ROPE-mirrored", negated_half),
    ("*-wrapped*", wrapped),
    ("*-clamped", clamped),
    ("*-positions-in-float16", _HALF),
    ("*-in-half*", _HALF),
    ("*bfloat16*", _HALF),
    ("*-cached-by-length", kept_calls),
    ("EMB-max-norm", keyword_given("max_norm")),
    ("*-zero-is-padding", keyword_given("padding_idx")),
    ("EMB-scaled-by-vocabulary", roots),
    ("EMB-undeclared-scale", roots),
    ("TRF-scaled-*", roots),
)  # fmt: skip
