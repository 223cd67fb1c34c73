"""Checks of the chapter spec/rms_norm.md. What both norms have in common is in chapters/shared/norms.py.

Most look at the norm with gain 1, whether that is a weight of 1 or of 0, and on rows so large that ε is nothing.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.rms_norm import stimuli
from attnconf.conformance.chapters.shared import norm_numbers, norms
from attnconf.conformance.chapters.shared.norms import (
    HALF,
    LARGE,
    Evidence,
    ask,
    bare,
    divisor_of,
    formula,
    gain_of,
    tokens,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, Observed, close, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.rms_norm import rms_norm

# Of elements in half precision; of the others float32 may round to the other side.
ALIKE = 0.99


# -- the call


@requirement("RMS-LEAD-1", stimuli.USUAL, any_weights=True)
def any_leading_axes_are_taken(subject: Subject, case: Case) -> Evidence:
    return norms.takes_any_leading_axes(subject, case)


@requirement("RMS-MISFIT-1", stimuli.ONE)
def other_widths_are_refused(subject: Subject, case: Case) -> Evidence:
    return norms.refuses_other_widths(subject, case)


@requirement("RMS-MISFIT-2", stimuli.ONE)
def a_width_of_one_is_not_broadcast(subject: Subject, case: Case) -> Evidence:
    return norms.refuses_what_would_broadcast(subject, case)


# -- what is normalized


@requirement("RMS-TOKEN-1", stimuli.USUAL, stimuli.BATCHES, any_weights=True)
def a_token_depends_on_no_other(subject: Subject, case: Case) -> Evidence:
    return norms.keeps_tokens_apart(subject, case)


@requirement("RMS-LINE-1", stimuli.USUAL, stimuli.NARROW)
def nothing_is_subtracted(subject: Subject, case: Case) -> Evidence:
    return norms.stays_in_line(subject, case)


@requirement("RMS-SQUARE-1", stimuli.USUAL, stimuli.NARROW)
def the_mean_square_becomes_one(subject: Subject, case: Case) -> Evidence:
    square = bare(subject, LARGE * tokens(case)).out.square().mean(dim=-1)
    yield close(square, torch.ones_like(square), "mean square of out over the features")


@requirement("RMS-SCALE-1", stimuli.USUAL, any_weights=True)
def the_scale_of_large_rows_does_not_matter(subject: Subject, case: Case) -> Evidence:
    return norms.ignores_large_scales(subject, case)


@requirement("RMS-WIDE-1", stimuli.WIDE)
def a_wide_row_is_normalized_as_one(subject: Subject, case: Case) -> Evidence:
    return norms.takes_a_wide_row_whole(subject, case)


# -- ε


@requirement("RMS-EPS-1", stimuli.USUAL)
def eps_is_added_to_the_mean_square(subject: Subject, case: Case) -> Evidence:
    return norms.has_eps_in_its_place(subject, case)


@requirement("RMS-EPS-2", stimuli.USUAL)
def eps_is_that_of_the_configuration(subject: Subject, case: Case) -> Evidence:
    return norms.obeys_eps(subject, case)


def zeros(case: Case) -> Tensor:
    return torch.zeros(case.B, case.L, case.features, dtype=case.dtype, device=case.device)


@requirement("RMS-ZERO-1", stimuli.USUAL)
def a_row_of_zeros_stays_zero(subject: Subject, case: Case) -> Evidence:
    yield identical(ask(subject, zeros(case), gain_of(case)).out, zeros(case), "out of zeros")


@requirement("RMS-ZERO-2", stimuli.USUAL)
def a_row_of_zeros_has_a_finite_gradient(subject: Subject, case: Case) -> Evidence:
    yield norm_numbers.is_finite(subject, case, zeros(case))


# -- gain


@requirement("RMS-GAIN-1", stimuli.USUAL)
def each_feature_has_a_gain(subject: Subject, case: Case) -> Evidence:
    return norms.multiplies_by_the_gain(subject, case)


# -- numbers


@requirement("RMS-PREC-1", stimuli.WIDE)
def float32_is_kept(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_right_in_float32(subject, case)


@requirement("RMS-PREC-2", stimuli.USUAL)
def float64_is_kept(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_right_in_float64(subject, case)


@requirement("RMS-HALF-1", stimuli.ONE, stimuli.LONG)
def half_precision_does_not_stagnate(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_right_in_half_precision(subject, case, 1.0)


@requirement("RMS-HALF-3", stimuli.ONE, stimuli.LONG)
def half_precision_does_not_overflow(subject: Subject, case: Case) -> Evidence:
    """300² is more than float16 holds."""
    return norm_numbers.is_right_in_half_precision(subject, case, 300.0, 1000.0)


@requirement("RMS-HALF-2", stimuli.WIDE)
def half_precision_is_rounded_after_the_norm(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.is_rounded_after_the_norm(subject, case)


@requirement("RMS-CAST-1", stimuli.WIDE)
def the_cast_stands_where_it_is_declared(subject: Subject, case: Case) -> Iterator[Measure | Observed]:
    """Two roundings or one: a third of the elements tell which."""
    for dtype in HALF:
        c = case.but(dtype=dtype)
        x, gain = tokens(case).to(dtype), gain_of(c)
        normalized = formula(subject, x)
        orders = {
            "after": (gain.double() * normalized).to(dtype),
            "before": gain * normalized.to(dtype),
        }
        got = ask(subject, x, gain).out
        alike = {order: float((got == want).double().mean()) for order, want in orders.items()}
        found = max(alike, key=alike.__getitem__)
        declared = subject.declares.get("rms-norm-cast", found)
        if alike[declared] < ALIKE:
            shares = ", ".join(f"{100 * share:.1f} % as if cast {order}" for order, share in alike.items())
            name = str(dtype).removeprefix("torch.")
            raise Failure("property", f"in {name} {shares}; want {100 * ALIKE:g} % as if cast {declared}")
        yield Measure()
        yield Observed("rms-norm-cast", found)


# -- gradients


@requirement("RMS-GRAD-1", stimuli.USUAL)
def the_gradient_of_the_weight_is_summed_over_tokens(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.weight_gradient_sums_over_tokens(subject, case)


@requirement("RMS-GRAD-2", stimuli.USUAL)
def the_gradient_of_a_token_has_nothing_along_it(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.nothing_along_the_normalized(subject, case)


@requirement("RMS-GRAD-3", stimuli.USUAL)
def the_gradient_of_a_token_agrees_with_differences(subject: Subject, case: Case) -> Evidence:
    return norm_numbers.agrees_with_differences(subject, case)


# -- all together


@requirement("RMS-ORACLE-1", stimuli.USUAL, stimuli.NARROW, stimuli.WIDE)
def output_and_gradients_are_the_references(subject: Subject, case: Case) -> Evidence:
    def reference(x: Tensor, gain: Tensor, shift: Tensor, eps: float) -> Tensor:
        return rms_norm(x, gain, eps, divisor_of(subject).eps)

    return norm_numbers.equals(subject, case, reference, ("x", "weight"))
