"""Checks of the chapter spec/transformer.md.

Most compare the model with itself: other tokens where they must not matter, or layers that add nothing.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import endings, masked_if_taken, orders, run
from attnconf.conformance.chapters.shared.learning import LEARNED, TRANSLATING_STEPS, reverse, translated_accuracy
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.stimuli import (
    TABLES,
    alike,
    averaging,
    depths,
    gain,
    has_torch,
    in_double,
    model,
    models,
    one_by_one,
    other,
    plain_norms,
    reads_ids,
    run_in_torch,
    silent,
    ties,
    transparent,
    vocabulary,
    wanted,
)
from attnconf.conformance.engine.boundary import slopes
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.evidence import SEMANTIC, SINGLE, SINGLE_SOURCE, Failure, Measure, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


def most(x: Tensor) -> float:
    return float(x.abs().max())


def padded_source(case: Case) -> Tensor:
    """Return a mask (B, S) whose samples end in padding, of different lengths; the first has none."""
    counts = (case.S - torch.arange(case.B, device=case.device) % case.S)[:, None]
    return torch.arange(case.S, device=case.device) < counts


def hollow_target(case: Case) -> Tensor:
    """Return a mask (B, L) with padding at the second place: what is at the end is hidden by causality already."""
    mask = torch.ones(case.B, case.L, dtype=torch.bool, device=case.device)
    mask[:, 1:2] = False
    return mask


# -- the call


@requirement("TRF-BATCH-1", stimuli.BATCHES)
def samples_do_not_meet(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    last = {name: x[-1:] for name, x in block.inputs.items()}
    yield close(
        run(subject, block.with_inputs(**last)).out, want[-1:], "out of the last sample alone, against in its batch,"
    )


# -- which output reads what


def moved(out: Tensor) -> Tensor:
    """Return how far outputs (1 + T, L, …) move with each token that is another: (T, L), in units of max|out|."""
    return (out[1:] - out[:1]).abs().flatten(2).amax(dim=2) / most(out[0])


def targets_changed(subject: Subject, case: Case, mask: Tensor | None = None) -> Tensor:
    """Return how far the first sample's outputs move with each target token that is another, (L, L)."""
    block = model(subject, case, depths(subject, case, (1, 2)))
    target = one_by_one(case, block.inputs["target"])
    inputs = {"source": alike(block.inputs["source"], len(target)), "target": target}
    if mask is not None:
        inputs["target_mask"] = alike(mask, len(target))
    return moved(run(subject, block.with_inputs(**inputs)).out)


def later(case: Case) -> Tensor:
    """Return which outputs come before which target token, (L, L)."""
    return torch.ones(case.L, case.L, dtype=torch.bool, device=case.device).tril(-1)


@requirement("TRF-CAUSAL-1", stimuli.USUAL)
def no_output_depends_on_a_later_target(subject: Subject, case: Case) -> Evidence:
    reached = targets_changed(subject, case)[later(case)]
    yield close(reached, torch.zeros_like(reached), "move of an earlier output, over max|out|,", unit=1.0)


@requirement("TRF-CAUSAL-2", stimuli.USUAL)
def nor_where_targets_are_padded(subject: Subject, case: Case) -> Evidence:
    reached = targets_changed(subject, case, hollow_target(case))[later(case)]
    yield close(reached, torch.zeros_like(reached), "move of an earlier output, over max|out|,", unit=1.0)


@requirement("TRF-TARGET-1", stimuli.USUAL)
def an_output_depends_on_every_target_so_far(subject: Subject, case: Case) -> Evidence:
    reached = targets_changed(subject, case)
    missing = (~later(case) & ~(reached > SEMANTIC)).nonzero().tolist()
    words = "; ".join(f"output {at} does not depend on target {token}" for token, at in missing[:3])
    yield holds(not missing, words)


@requirement("TRF-PREFIX-1", stimuli.USUAL)
def one_pass_is_as_good_as_many_steps(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    for length in sorted({1, max(1, case.L - 2)}):
        got = run(subject, block.with_inputs(target=block.inputs["target"][:, :length])).out
        yield close(got, want[:, :length], f"out of the first {length} targets alone, against those of all,")


@requirement("TRF-SOURCE-1", stimuli.USUAL, stimuli.SQUARE)
def every_output_depends_on_every_source_token(subject: Subject, case: Case) -> Evidence:
    """In an encoder that adds nothing: otherwise every token of the memory tells of all."""
    block = model(subject, case)
    block = block.with_weights(silent(block, "decoder."))
    source = one_by_one(case, block.inputs["source"])
    target = alike(block.inputs["target"], len(source))
    out = run(subject, block.with_inputs(source=source, target=target)).out
    missing = (~(moved(out) > SEMANTIC)).nonzero().tolist()
    words = "; ".join(f"output {at} does not depend on source token {token}" for token, at in missing[:3])
    yield holds(not missing, words)


@requirement("TRF-ORDER-1", stimuli.USUAL)
def the_order_of_source_vectors_does_not_matter(subject: Subject, case: Case) -> Evidence:
    order, mask = case.permutation("source", case.S), padded_source(case)
    block = masked_if_taken(subject, model(subject, case), source_mask=mask)
    moved = block.with_inputs(source=block.inputs["source"][:, order])
    if "source_mask" in block.inputs:
        moved = moved.with_inputs(source_mask=mask[:, order])
    yield close(run(subject, moved).out, run(subject, block).out, "out of permuted source tokens")


# -- the memory


def sources_that_differ(subject: Subject, case: Case, block: Call) -> Tensor:
    """Return how far the outputs move with another source, over max|out|."""
    source = block.inputs["source"][:1]
    another = other(case, source, torch.ones(source.shape[:2], dtype=torch.bool, device=source.device))
    inputs = {"source": torch.cat([source, another]), "target": alike(block.inputs["target"], 2)}
    return moved(run(subject, block.with_inputs(**inputs)).out)


@requirement("TRF-MEMORY-1", stimuli.USUAL)
def the_decoder_reads_the_output_of_the_encoder(subject: Subject, case: Case) -> Evidence:
    """Where the encoder's last norm multiplies by 0, every source gives the same memory."""
    for block in models(subject, case, depths(subject, case, (2, 1))):
        last = "encoder.norm" if block.config.final_norm else "encoder.layers.1.norm2"
        if block.config.final_norm or not block.config.norm_first:
            weight = block.weights[f"{last}.weight"]
            reached = sources_that_differ(
                subject, case, block.with_weights({f"{last}.weight": gain(subject, weight, 0.0)})
            )
            what = f"move of an output with another source where {last}.weight is 0, over max|out|,"
            yield close(reached, torch.zeros_like(reached), what, unit=1.0)
        else:  # there is no last norm, but a last layer
            down = {n: 0 * w for n, w in block.weights.items() if n.startswith("encoder.layers.1.ff.down.")}
            got, want = run(subject, block.with_weights(down)).out, run(subject, block).out
            yield holds(most(got - want) > SEMANTIC * most(want), "the encoder's last layer has no effect")


@requirement("TRF-MEMORY-2", stimuli.USUAL)
def every_decoder_layer_reads_the_memory(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, depths(subject, case, (1, 2)))
    for i in range(2):
        alone = {n: 0 * w for n, w in block.weights.items() if n.startswith(f"decoder.layers.{1 - i}.cross.out.")}
        reached = sources_that_differ(subject, case, block.with_weights(alone))
        message = f"no output depends on the source where decoder layer {i} alone reads the memory"
        yield holds(most(reached) > SEMANTIC, message)


@requirement("TRF-MEMORY-3", stimuli.USUAL)
def every_decoder_layer_reads_the_same_memory(subject: Subject, case: Case) -> Evidence:
    """A layer that adds nothing may as well stand before another: once or twice where it normalizes."""
    order = orders(subject)[-1]
    few, many = (1, 2) if order else (2, 3)
    got, want = (run(subject, with_silent_layers(subject, case, order, n)).out for n in (many, few))
    yield close(got, want, f"out of {many} decoder layers, against {few}, where all but the last add nothing,")


def with_silent_layers(subject: Subject, case: Case, norm_first: bool, layers: int) -> Call:
    """Return a model whose decoder's last layer is preceded by layers that add nothing."""
    block = model(subject, case, (1, layers), norm_first).with_config(eps=1e-12)
    last = f"decoder.layers.{layers - 1}."
    first = {name: block.weights[name.replace(last, "decoder.layers.0.")] for name in block.weights if last in name}
    block = block.with_weights(first)
    kept = ("encoder.", "decoder.norm", last)
    norms = {name: w for name, w in plain_norms(subject, block).items() if not name.startswith(kept)}
    return block.with_weights({**silent(block, *kept), **norms})


# -- layers and norms


def parts(block: Call) -> list[str]:
    """Return a weight of every part of every layer, and of the last norms."""
    return [name for name in block.weights if name.endswith(("out.weight", "down.weight")) or "norm" in name]


@requirement("TRF-LAYERS-1", stimuli.USUAL)
def every_part_of_every_layer_has_an_effect(subject: Subject, case: Case) -> Evidence:
    for layers in dict.fromkeys(depths(subject, case, some) for some in ((1, 2), (2, 1))):
        block = model(subject, case, layers, final_norm=endings(subject)[-1])
        for name in without_slope(subject, case, block, parts(block)):
            want = run(subject, block).out
            changed = block.with_weights({name: block.weights[name] + case.draw(name, *block.weights[name].shape)})
            felt = most(run(subject, changed).out - want) > SEMANTIC * most(want)
            yield holds(felt, f"{name} has no effect in a model of {layers[0]} + {layers[1]} layers")
        yield Measure()


def without_slope(subject: Subject, case: Case, block: Call, names: list[str]) -> list[str]:
    """Return those of the weights to which no gradient flows."""
    try:
        grads = gradients(subject, case, block, tuple(names))
    except Failure as failure:
        if failure.reason != "property":
            raise
        return names
    return [name for name, grad in grads.items() if not most(grad) > 0]


def gradients(subject: Subject, case: Case, block: Call, wrt: tuple[str, ...]) -> dict[str, Tensor]:
    """Return the gradients of <cotangent, out>."""
    return dict(run(subject, block, cotangent=cotangent(subject, case), wrt=wrt).grads)


def cotangent(subject: Subject, case: Case) -> Tensor:
    return case.draw("cotangent", case.B, case.L, vocabulary(case) if reads_ids(subject) else case.width)


def through_head(subject: Subject, block: Call, x: Tensor) -> Tensor:
    """Return what the output is where the decoder's is x: x itself, or its logits."""
    if not reads_ids(subject):
        return x
    return x @ block.weights.get("head.weight", block.weights["target.weight"]).T


@requirement("TRF-FINAL-1", stimuli.USUAL)
def with_last_norms_the_output_is_normalized(subject: Subject, case: Case) -> Evidence:
    """Where its gain is 0 the output is its shift."""
    for order in orders(subject):
        block = model(subject, case, norm_first=order, final_norm=True)
        weight = block.weights["decoder.norm.weight"]
        shift = block.weights.get("decoder.norm.bias", torch.zeros_like(weight))
        out = run(subject, block.with_weights({"decoder.norm.weight": gain(subject, weight, 0.0)})).out
        want = through_head(subject, block, shift).expand_as(out)
        yield close(out, want, "out where the gain of the decoder's last norm is 0", unit=1.0)


@requirement("TRF-FINAL-2", stimuli.USUAL)
def without_last_norms_it_is_not(subject: Subject, case: Case) -> Evidence:
    """Then the output is linear in what is added, or multiplied, last."""
    order = orders(subject)[-1]
    block = model(subject, case, norm_first=order, final_norm=False)
    last = "decoder.layers.0." + ("ff.down." if order else "norm3.")
    own = {name: w for name, w in block.weights.items() if name.startswith(last)}
    none, once, twice = (run(subject, block.with_weights({n: k * w for n, w in own.items()})).out for k in (0, 1, 2))
    yield close(twice - once, once - none, f"the second step with {last}* once more, against the first,")


# -- padding


@requirement("TRF-PAD-1", stimuli.USUAL)
def padded_source_tokens_do_not_matter(subject: Subject, case: Case) -> Evidence:
    mask = padded_source(case)
    block = model(subject, case, depths(subject, case, (2, 1))).with_inputs(source_mask=mask)
    source = other(case, block.inputs["source"], ~mask, size=1e4)
    want = run(subject, block).out
    yield close(run(subject, block.with_inputs(source=source)).out, want, "out with other padding of the source")


@requirement("TRF-PAD-2", stimuli.USUAL)
def padding_is_as_good_as_its_absence(subject: Subject, case: Case) -> Evidence:
    block, length = model(subject, case), max(1, case.S - 2)
    mask = torch.arange(case.S, device=case.device).expand(case.B, case.S) < length
    got = run(subject, block.with_inputs(source_mask=mask)).out
    want = run(subject, block.with_inputs(source=block.inputs["source"][:, :length])).out
    yield close(got, want, f"out of {length} source tokens and padding, against those tokens alone,")


@requirement("TRF-PAD-3", stimuli.SQUARE)
def padded_target_tokens_do_not_matter(subject: Subject, case: Case) -> Evidence:
    """Neither what stands among targets, nor that padding follows them."""
    block, mask = model(subject, case), alike(hollow_target(case), 2)
    target = alike(block.inputs["target"], 2)
    target = torch.cat([target[:1], other(case, target[:1], ~mask[:1], size=1e4)])
    inputs = {"source": alike(block.inputs["source"], 2), "target": target, "target_mask": mask}
    out = run(subject, block.with_inputs(**inputs)).out[:, mask[0]]
    yield close(out[1], out[0], "out of real targets with other padding among them")
    ended = torch.arange(case.L, device=case.device).expand(case.B, case.L) < case.L - 1
    got, want = (run(subject, b).out[:, :-1] for b in (block.with_inputs(target_mask=ended), block))
    yield close(got, want, "out before a target that is padding, against that with a token in its place,")


# -- from ids to logits


def placing(subject: Subject, case: Case, blank: bool) -> Call:
    """Return a model that hands vectors on: layers add nothing, and norms are left out where they can be.

    The ids in it are 1, 2 and 3; with ``blank`` their rows are 0. The others, or unit vectors in a head of its own, are
    for reading.
    """
    block = transparent(subject, model(subject, case, norm_first=orders(subject)[-1])).with_config(max_len=512)
    block = block.with_weights({n: torch.eye(*w.shape).to(w) for n, w in block.weights.items() if n == "head.weight"})
    ids = {name: x % 3 + 1 for name, x in block.inputs.items()}
    if blank:
        rows = (torch.arange(vocabulary(case), device=case.device) > 3)[:, None]
        block = block.with_weights({n: block.weights[n] * rows for n in TABLES[:2] if n in block.weights})
    return block.with_inputs(**ids)


def handed_on(subject: Subject, case: Case, blank: bool) -> Evidence:
    """Yield what comes of targets to which the mean of the source is added, of one source token and of all."""
    block = placing(subject, case, blank)
    block = block.with_weights(averaging(block))
    for length in (1, case.S):
        some = block.with_inputs(source=block.inputs["source"][:, :length])
        want = case.once(key_of(subject, block, f"{length} {blank}"), partial(wanted, subject, some))
        yield close(run(subject, some).out, want, f"logits of the target plus the mean of {length} source tokens")


@requirement("TRF-POS-1", stimuli.USUAL)
def positions_are_added_to_source_and_target(subject: Subject, case: Case) -> Evidence:
    yield from handed_on(subject, case, blank=True)


@requirement("TRF-SCALE-1", stimuli.USUAL)
def rows_are_scaled_before_positions_are_added(subject: Subject, case: Case) -> Evidence:
    yield from handed_on(subject, case, blank=False)


@requirement("TRF-ROW-1", stimuli.USUAL)
def a_row_matters_where_its_id_stands(subject: Subject, case: Case) -> Evidence:
    """Sources have the ids 1 to 3, targets 4 to 6; what is not looked up is only read by the head."""
    block = model(subject, case)
    block = block.with_inputs(source=block.inputs["source"] % 3 + 1, target=block.inputs["target"] % 3 + 4)
    want = run(subject, block).out
    sources, targets, neither = [1, 2, 3], [4, 5, 6], [7, 8, 9]
    own = {"source.weight": sources, "target.weight": targets}
    if "source.weight" not in block.weights:
        own["target.weight"] = sources + targets
    for name, used in own.items():
        if name in block.weights:
            unused = [row for row in sources + targets + neither if row not in used]
            yield rows_matter(subject, case, block, want, name, used, True)
            yield rows_matter(subject, case, block, want, name, unused, False)


def rows_matter(
    subject: Subject, case: Case, block: Call, want: Tensor, name: str, rows: list[int], effect: bool
) -> Measure:
    """Return the measure if other rows of a table have an effect, or none, on the logits of other ids."""
    table = block.weights[name].clone()
    table[rows] += case.draw(f"other rows of {name}", vocabulary(case), table.shape[1])[rows]
    out = run(subject, block.with_weights({name: table})).out
    kept = torch.ones(vocabulary(case), dtype=torch.bool, device=case.device)
    if block.config.tying != "none":
        kept[rows] = False  # the logits of these ids are products with these rows
    what = f"rows {rows} of {name}"
    if effect:
        return holds(most((out - want)[..., kept]) > SEMANTIC * most(want), f"{what}: no effect where they are used")
    return close(out[..., kept], want[..., kept], f"logits with other {what}, which are not used,")


@requirement("TRF-IDS-1", stimuli.USUAL)
def ids_without_a_row_are_refused(subject: Subject, case: Case) -> Evidence:
    return refuses(subject, case, vocabulary(case))


@requirement("TRF-IDS-3", stimuli.USUAL)
def negative_ids_are_refused(subject: Subject, case: Case) -> Evidence:
    return refuses(subject, case, -1)


def refuses(subject: Subject, case: Case, wrong: int) -> Evidence:
    block = model(subject, case)
    for name in ("source", "target"):
        ids = block.inputs[name].clone()
        ids[-1, -1] = wrong
        try:
            run(subject, block.with_inputs(**{name: ids}))
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield Measure()
            continue
        raise Failure("property", f"id {wrong} in the {name}, of {vocabulary(case)} ids: no error was raised")


@requirement("TRF-IDS-2", stimuli.USUAL)
def an_id_means_what_its_row_says(subject: Subject, case: Case) -> Evidence:
    """Ids are renamed so that one of source and target is 0."""
    block = model(subject, case)
    source, target = (block.inputs[name].clone() for name in ("source", "target"))
    target[:, 0] = source[:, 0] = source[0, 0]
    block, shift = block.with_inputs(source=source, target=target), vocabulary(case) - int(source[0, 0])
    renamed = {name: block.weights[name].roll(shift, dims=0) for name in TABLES if name in block.weights}
    ids = {name: (x + shift) % vocabulary(case) for name, x in block.inputs.items()}
    weight, tables = cotangent(subject, case), tuple(renamed)
    want = run(subject, block, cotangent=weight, wrt=tables)
    got = run(
        subject, block.with_weights(renamed).with_inputs(**ids), cotangent=weight.roll(shift, dims=-1), wrt=tables
    )
    yield close(got.out, want.out.roll(shift, dims=-1), "logits with ids renamed, and rows with them,")
    for name in tables:
        grad = want.grads[name].roll(shift, dims=0)
        yield close(got.grads[name], grad, f"gradient of {name}, likewise,", bound=SINGLE, source=SINGLE_SOURCE)


@requirement("TRF-MAXLEN-1", stimuli.USUAL)
def the_longest_sequence_is_as_good_as_others(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    got = run(subject, block.with_config(max_len=max(case.S, case.L))).out
    yield close(got, run(subject, block).out, "logits with max_len as long as the source, against a larger one,")


@requirement("TRF-HEAD-1", stimuli.USUAL)
def a_logit_is_a_product_with_the_row_of_its_id(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, final_norm=endings(subject)[-1]).with_config(eps=1e-9)
    name, weight = "head.weight", block.weights["head.weight"]
    got, want = run(subject, block.with_weights({name: -2 * weight})).out, -2 * run(subject, block).out
    yield close(got, want, "logits with the head times -2, against logits times -2,")
    if block.config.norm_first and not block.config.final_norm:
        return
    reading = torch.eye(*weight.shape).to(weight)
    token = run(subject, block.with_weights({**plain_norms(subject, block), name: reading})).out
    size = token.square().sum(dim=2) / weight.shape[1]
    yield close(size, torch.ones_like(size), "the mean square of a normalized token, read off its logits,")


def untied(block: Call) -> Call:
    """Return the block with three tables of the numbers that it has."""
    target = block.weights["target.weight"]
    return block.with_config(tying="none").with_weights({name: block.weights.get(name, target) for name in TABLES})


def alike_tables(subject: Subject, case: Case, tying: str) -> Call:
    """Return a model whose tables, as many as there are, all have the same numbers."""
    block = model(subject, case, tying=tying)
    return block.with_weights({name: block.weights["target.weight"] for name in TABLES if name in block.weights})


@requirement("TRF-TIE-1", stimuli.USUAL)
def a_tied_table_does_what_equal_ones_do(subject: Subject, case: Case) -> Evidence:
    for tying in ties(subject):
        if tying != "none":
            block = model(subject, case, tying=tying)
            want = run(subject, untied(block)).out if "none" in ties(subject) else wanted(subject, block)
            yield close(
                run(subject, block).out, want, f'logits with tying "{tying}", against tables of the same numbers,'
            )


@requirement("TRF-TIE-2", stimuli.USUAL)
def a_tied_table_gets_the_gradients_of_all_its_uses(subject: Subject, case: Case) -> Evidence:
    free = alike_tables(subject, case, "none")
    if "none" in ties(subject):
        each = gradients(subject, case, free, TABLES)
    else:
        _, slopes_of_each = with_gradients(partial(wanted, subject), free, cotangent(subject, case), TABLES)
        each = dict(zip(TABLES, slopes_of_each, strict=True))
    for tying in ties(subject):
        if tying != "none":
            block = alike_tables(subject, case, tying)
            (got,) = gradients(subject, case, block, ("target.weight",)).values()
            want = sum((each[n] for n in TABLES if n not in block.weights), each["target.weight"])
            yield close(got, want, f'gradient of target.weight with tying "{tying}", against the sum over its uses,')


# -- training


@requirement("TRF-GRAD-1", stimuli.USUAL)
def gradients_reach_every_weight(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, final_norm=endings(subject)[-1])
    wrt = [name for name in block.weights if not name.endswith("k.bias")]  # that one has no effect
    if not reads_ids(subject):
        wrt += ["source", "target"]
    grads = gradients(subject, case, block, tuple(wrt))
    missing = [name for name, grad in grads.items() if not most(grad) > 0]
    yield holds(not missing, f"no gradient reaches {', '.join(missing[:3])}")


@requirement("TRF-DROP-1", stimuli.USUAL)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    yield close(
        run(subject, block.with_config(dropout=0.5), seed=1).out,
        want,
        "out in evaluation with dropout, against without,",
    )


@requirement("TRF-DROP-2", stimuli.USUAL)
def what_is_dropped_adds_nothing(subject: Subject, case: Case) -> Evidence:
    """With probability 1, sublayers and the vectors of tokens."""
    block = model(subject, case)
    out = run(subject, block.with_config(dropout=1.0, training=True), seed=1).out
    still = block.with_weights(silent(block))
    sizes = {"source": (case.B, case.S, case.width), "target": (case.B, case.L, case.width)}
    nothing = {name: torch.zeros(size, dtype=case.dtype, device=case.device) for name, size in sizes.items()}
    compute = partial(wanted, subject, still, nothing if reads_ids(subject) else None)
    want = case.once(key_of(subject, block, "dropped"), compute)
    yield close(out, want, "out in training with dropout 1, against that of layers that add nothing,", unit=1.0)


# -- half precision


@requirement("TRF-HALF-1", stimuli.LONG)
def half_precision_tells_positions_apart(subject: Subject, case: Case) -> Evidence:
    block = placing(subject, case.but(dtype=torch.bfloat16), blank=True)
    bound, source = 8 * torch.finfo(torch.bfloat16).eps, "eight units of bfloat16"
    want = case.once(key_of(subject, block, "half"), partial(wanted, subject, in_double(block)))
    yield close(run(subject, block).out, want, "logits", bound=bound, source=source)


@requirement("TRF-HALF-2", stimuli.USUAL)
def precision_is_that_of_a_textbook(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        block = model(subject, case.but(dtype=dtype), (2, 1))
        want, allowed = case.once(key_of(subject, block, str(dtype)), partial(textbook_error, subject, case, block))
        yield error_budget(run(subject, block).out, want, allowed, dtype, sublayers=7)


def textbook_error(subject: Subject, case: Case, block: Call) -> tuple[Tensor, tuple[float, float]]:
    """Return what is wanted, and the errors (largest, root mean square) to compare with.

    They are those of the reference with its features in two orders.
    """
    want = wanted(subject, in_double(block))
    orders = (torch.arange(block.config.embed_dim), case.permutation("features", block.config.embed_dim))
    errors = [wanted(subject, block, order=order).double() - want for order in orders]
    return want, worst(errors)


# -- everything at once


Formula = Callable[[Call], Tensor]


def key_of(subject: Subject, block: Call, what: str) -> str:
    """Return what tells apart, within a case, what is wanted of different subjects."""
    return f"{what} {block.config} {sorted(subject.declares.items())}"


def with_gradients(formula: Formula, block: Call, weight: Tensor, wrt: tuple[str, ...]) -> tuple[Tensor, list[Tensor]]:
    """Return what a formula gives for a block, and the gradients of <weight, out>."""
    leaves = {name: w.clone().requires_grad_(name in wrt) for name, w in block.weights.items()}
    out = formula(block.with_weights(leaves))
    return out.detach(), slopes([(out, weight)], [leaves[name] for name in wrt])


def compare_all(subject: Subject, case: Case) -> Evidence:
    """Yield that outputs and gradients are the reference's, and nn.Transformer's where it is such a model."""
    weight = cotangent(subject, case)
    for block in models(subject, case, depths(subject, case, (2, 1))):
        block = masked_if_taken(subject, block, source_mask=padded_source(case))
        wrt = tuple(name for name in block.weights if not name.endswith("k.bias"))
        got = run(subject, block, cotangent=weight, wrt=wrt)
        formulas: dict[str, Formula] = {"the reference": partial(wanted, subject)}
        if has_torch(subject, block):
            formulas["nn.Transformer"] = run_in_torch
        for whose, formula in formulas.items():
            compute = partial(with_gradients, formula, block, weight, wrt)
            out, grads = case.once(key_of(subject, block, whose), compute)
            yield close(got.out, out, f"out, against {whose},")
            for name, grad in zip(wrt, grads, strict=True):
                what, unit = f"gradient of {name}, against {whose},", max(1.0, most(grad))
                yield close(got.grads[name], grad, what, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("TRF-ORACLE-1", stimuli.USUAL)
def the_encoder_decoder_is_the_reference(subject: Subject, case: Case) -> Evidence:
    yield from compare_all(subject, case)


@requirement("TRF-ORACLE-2", stimuli.USUAL)
def the_transformer_is_the_reference(subject: Subject, case: Case) -> Evidence:
    yield from compare_all(subject, case)


@requirement("TRF-LEARN-1", stimuli.LEARN)
def it_learns_to_reverse(subject: Subject, case: Case) -> Evidence:
    got = translated_accuracy(subject, case, model(subject, case), reverse)
    words = f"after {TRANSLATING_STEPS} steps of reversing, {100 * got:.1f} % of new words are right"
    yield holds(got >= LEARNED, f"{words}, want {100 * LEARNED:g} %")
