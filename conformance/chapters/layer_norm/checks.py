"""Checks of the chapter spec/layer_norm.md. What both norms have in common is in chapters/shared/norms.py.

Most look at the norm with gain 1 and shift 0, and on rows so large that ε is nothing.
"""

import torch
from torch import Tensor

from attnconf.adapters.contract import LayerNormConfig
from attnconf.conformance.chapters.layer_norm import stimuli
from attnconf.conformance.chapters.shared import norm_numbers, norms
from attnconf.conformance.chapters.shared.norms import (
    LARGE,
    Evidence,
    ask,
    bare,
    divisor_of,
    eps_of,
    gain_of,
    shift_of,
    spread_out,
    standard,
    stored,
    tokens,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import divisor
from attnconf.reference.layer_norm import layer_norm

OFFSET = 1e4
# The mean of numbers about 1e4 is off by four of their units at most, summed in float32 in some order.
OFFSET_SOURCE = "offset of 1e4 in float32: 4·eps·1e4"


# -- the call


@requirement("LN-LEAD-1", stimuli.USUAL, any_weights=True)
def any_leading_axes_are_taken(subject: Subject, case: Case) -> Evidence:
    return norms.takes_any_leading_axes(subject, case)


@requirement("LN-MISFIT-1", stimuli.ONE)
def other_widths_are_refused(subject: Subject, case: Case) -> Evidence:
    return norms.refuses_other_widths(subject, case)


@requirement("LN-MISFIT-2", stimuli.ONE)
def a_width_of_one_is_not_broadcast(subject: Subject, case: Case) -> Evidence:
    return norms.refuses_what_would_broadcast(subject, case)


# -- what is normalized


@requirement("LN-TOKEN-1", stimuli.USUAL, stimuli.BATCHES, any_weights=True)
def a_token_depends_on_no_other(subject: Subject, case: Case) -> Evidence:
    return norms.keeps_tokens_apart(subject, case)


@requirement("LN-MEAN-1", stimuli.USUAL)
def the_mean_becomes_zero(subject: Subject, case: Case) -> Evidence:
    mean = bare(subject, tokens(case)).out.mean(dim=-1)
    yield close(mean, torch.zeros_like(mean), "mean of out over the features", unit=1.0)


@requirement("LN-VAR-1", stimuli.USUAL)
def the_variance_becomes_one(subject: Subject, case: Case) -> Evidence:
    """On rows of mean 0, so that how a mean is subtracted is no matter here."""
    declared = divisor_of(subject).variance
    out = bare(subject, LARGE * standard(subject, tokens(case))).out
    variance = out.var(dim=-1, unbiased=declared == "unbiased")
    yield close(variance, torch.ones_like(variance), f"{declared} variance of out over the features")


@requirement("LN-LINE-1", stimuli.USUAL)
def deviations_keep_their_proportions(subject: Subject, case: Case) -> Evidence:
    return norms.stays_in_line(subject, case)


@requirement("LN-SHIFT-1", stimuli.USUAL, any_weights=True)
def a_number_added_to_all_features_changes_nothing(subject: Subject, case: Case) -> Evidence:
    x = tokens(case)
    want = bare(subject, x).out
    for by in (1.0, -3.0):
        yield close(bare(subject, x + by).out, want, f"out of x + {by:g}, against that of x,")


@requirement("LN-SCALE-1", stimuli.USUAL)
def the_scale_of_large_rows_does_not_matter(subject: Subject, case: Case) -> Evidence:
    return norms.ignores_large_scales(subject, case)


@requirement("LN-WIDE-1", stimuli.WIDE)
def a_wide_row_is_normalized_as_one(subject: Subject, case: Case) -> Evidence:
    return norms.takes_a_wide_row_whole(subject, case)


# -- ε


@requirement("LN-EPS-1", stimuli.USUAL)
def eps_is_added_where_it_is_declared(subject: Subject, case: Case) -> Evidence:
    return norms.has_eps_in_its_place(subject, case)


@requirement("LN-EPS-2", stimuli.USUAL)
def eps_is_that_of_the_configuration(subject: Subject, case: Case) -> Evidence:
    return norms.obeys_eps(subject, case)


def constant(case: Case) -> Tensor:
    """Return tokens whose features are all the same: 0, 2, -0.5, 3, …, which sums and means keep exactly."""
    values = torch.tensor([0.0, 2.0, -0.5, 3.0], dtype=case.dtype, device=case.device)
    each = values[torch.arange(case.B * case.L, device=case.device) % len(values)]
    return each.reshape(case.B, case.L, 1).expand(-1, -1, case.features).contiguous()


@requirement("LN-CONST-1", stimuli.USUAL, stimuli.NARROW)
def a_constant_row_becomes_the_shift(subject: Subject, case: Case) -> Evidence:
    shift = shift_of(subject, case)
    got = ask(subject, constant(case), gain_of(case), shift).out
    yield close(got, shift.expand_as(got), "out of rows of one number, against the shift,", unit=1.0)


@requirement("LN-CONST-2", stimuli.USUAL)
def a_constant_row_has_a_finite_gradient(subject: Subject, case: Case) -> Evidence:
    yield norm_numbers.is_finite(subject, case, constant(case))


# -- gain and shift


@requirement("LN-GAIN-1", stimuli.USUAL)
def each_feature_has_a_gain(subject: Subject, case: Case) -> Evidence:
    return norms.multiplies_by_the_gain(subject, case)


@requirement("LN-BIAS-1", stimuli.USUAL)
def each_feature_has_a_shift(subject: Subject, case: Case) -> Evidence:
    got = ask(subject, tokens(case), gain_of(case), shift_of(subject, case)).out
    want = ask(subject, tokens(case), gain_of(case)).out + shift_of(subject, case)
    yield close(got, want, "out with a shift, against out without it plus the shift,")


def ask_without(subject: Subject, case: Case, **weights: Tensor) -> Tensor:
    """Return out with these weights and no others."""
    config = LayerNormConfig(
        (case.features,), eps_of(subject, case.dtype), affine=bool(weights), bias=False, **divisor(subject.choice)
    )
    return subject.ask(config, {"x": tokens(case)}, (case.B, case.L, case.features), weights).out


@requirement("LN-PLAIN-1", stimuli.USUAL)
def without_weights_it_only_normalizes(subject: Subject, case: Case) -> Evidence:
    want = bare(subject, tokens(case)).out
    yield close(ask_without(subject, case), want, "out without weights, against out with gain 1 and shift 0,")


@requirement("LN-NOBIAS-1", stimuli.USUAL)
def without_a_bias_the_gain_stays(subject: Subject, case: Case) -> Evidence:
    want = ask(subject, tokens(case), gain_of(case)).out
    got = ask_without(subject, case, weight=stored(subject, gain_of(case)))
    yield close(got, want, "out without a bias, against out with shift 0,")


# -- several axes


@requirement("LN-AXES-1", stimuli.AXES)
def several_axes_are_normalized_together(subject: Subject, case: Case) -> Evidence:
    x = spread_out(case, "x", case.B, case.L, case.rows, case.columns, case.features)
    for axes in (2, 3):
        want = bare(subject, x.flatten(-axes)).out
        what = f"out over {axes} axes, against that of one axis with all their features,"
        yield close(bare(subject, x, axes=axes).out.flatten(-axes), want, what)


@requirement("LN-AXES-2", stimuli.AXES)
def each_place_in_several_axes_has_its_gain_and_shift(subject: Subject, case: Case) -> Evidence:
    x = spread_out(case, "x", case.B, case.L, case.rows, case.columns, case.features)
    for axes in (2, 3):
        gain, shift = gain_of(case, *x.shape[-axes:]), shift_of(subject, case, *x.shape[-axes:])
        x = LARGE * x
        want = gain * bare(subject, x, axes=axes).out + shift
        what = f"out over {axes} axes, against gain times out without weights plus shift,"
        yield close(ask(subject, x, gain, shift).out, want, what)


# -- numbers


@requirement("LN-OFFSET-1", stimuli.ONE, stimuli.WIDE)
def a_large_mean_does_not_drown_the_variance(subject: Subject, case: Case) -> Evidence:
    x = (standard(subject, tokens(case)) + OFFSET).float()
    want, bound = norms.formula(subject, x), 4 * torch.finfo(torch.float32).eps * OFFSET
    yield close(bare(subject, x).out, want, "out, against the formula,", bound=bound, unit=1.0, source=OFFSET_SOURCE)


@requirement("LN-PREC-1", stimuli.WIDE)
def float32_is_kept(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_right_in_float32(subject, case)


@requirement("LN-PREC-2", stimuli.USUAL)
def float64_is_kept(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_right_in_float64(subject, case)


@requirement("LN-HALF-1", stimuli.ONE, stimuli.LONG)
def half_precision_does_not_stagnate(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_right_in_half_precision(subject, case, 1.0)


@requirement("LN-HALF-3", stimuli.ONE, stimuli.LONG)
def half_precision_does_not_overflow(subject: Subject, case: Case) -> Evidence:
    """300² is more than float16 holds."""
    return norm_numbers.is_right_in_half_precision(subject, case, 300.0, 1000.0)


@requirement("LN-HALF-2", stimuli.WIDE)
def half_precision_is_rounded_after_the_norm(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_rounded_after_the_norm(subject, case)


# -- gradients


@requirement("LN-GRAD-1", stimuli.USUAL)
def the_gradient_of_the_shift_is_summed_over_tokens(subject: Subject, case: Case) -> Evidence:
    cotangent = case.draw("cotangent", case.B, case.L, case.features)
    reply = ask(subject, tokens(case), gain_of(case), shift_of(subject, case), cotangent=cotangent, wrt=("bias",))
    yield close(reply.grads["bias"], cotangent.flatten(0, 1).sum(dim=0), "gradient of the bias, against the sum,")


@requirement("LN-GRAD-2", stimuli.USUAL)
def the_gradient_of_the_gain_is_summed_over_tokens(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.weight_gradient_sums_over_tokens(subject, case)


@requirement("LN-GRAD-3", stimuli.USUAL)
def the_gradient_of_a_token_sums_to_zero(subject: Subject, case: Case) -> Evidence:
    x = tokens(case)
    mean = norm_numbers.slope(subject, case, x).mean(dim=-1)
    what, unit = "mean of the gradient of x over the features", norm_numbers.steepness(subject, case, x)
    yield close(mean, torch.zeros_like(mean), what, unit=unit)


@requirement("LN-GRAD-4", stimuli.USUAL)
def the_gradient_of_a_token_has_nothing_along_it(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.nothing_along_the_normalized(subject, case)


@requirement("LN-GRAD-5", stimuli.USUAL)
def the_gradient_of_a_token_agrees_with_differences(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.agrees_with_differences(subject, case)


# -- all together


@requirement("LN-ORACLE-1", stimuli.USUAL, stimuli.NARROW, stimuli.WIDE)
def output_and_gradients_are_the_references(subject: Subject, case: Case) -> Evidence:
    def reference(x: Tensor, gain: Tensor, shift: Tensor, eps: float) -> Tensor:
        return layer_norm(x, tuple(gain.shape), gain, shift, eps, divisor_of(subject))

    return norm_numbers.equals(subject, case, reference, ("x", "weight", "bias"))
