"""Ways to get the laws of every call wrong: what comes out."""

from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Forward
from attnconf.conformance.chapters.calls.mutants.shared import (
    BIT_FOR_BIT,
    FREE_IN_HALF,
    GIVEN_LENGTHS,
    POINTS,
    around,
    leaving,
)
from attnconf.conformance.chapters.shared.backward import right_alone_in
from attnconf.conformance.engine.mutant import Mutant

first_only = Mutant(
    "CALL-first-only",
    story="only what comes first along the first axis comes out: the first sample",
    breaks={"CALL-SHAPE-1"},
    hint="keep the batch axis: x[0] and x[:1] are one sample of it",
    replace=leaving(lambda out: out[:1]),
)

axes_swapped = Mutant(
    "CALL-axes-swapped",
    story="the first two axes of the output have changed places: tokens first, then the batch",
    breaks={"CALL-SHAPE-1"},
    hint="batch comes first in what goes in, and so in what comes out",
    replace=leaving(lambda out: out.transpose(0, 1), "causal_mask"),  # it has no batch
)

squeezed = Mutant(
    "CALL-squeezed",
    story="squeeze() takes away every axis of size 1: that of one sample, of one head, of one token",
    breaks={"CALL-SHAPE-1"},
    hint="squeeze(dim) takes one axis, and so does an index; the others may have size 1 too",
    replace=leaving(torch.squeeze, *POINTS),
)

flattened = Mutant(
    "CALL-flattened",
    story="the output is left as a list of tokens, (N, D)",
    breaks={"CALL-SHAPE-1"},
    hint="give the output the axes of the input again: out.view(B, L, -1)",
    replace=leaving(lambda out: out.reshape(out.shape[:-1].numel(), out.shape[-1]), *POINTS, "causal_mask"),
)

single_out = Mutant(
    "CALL-single-out",
    story="half precision comes out as float32",
    breaks={"CALL-DTYPE-2"},
    hint="cast the output back to the dtype of what came in",
    replace=leaving(
        lambda out: out.float() if out.dtype in (torch.bfloat16, torch.float16) else out,
        *FREE_IN_HALF,
        "rms_norm",  # whose gain multiplies in float32, too: its own RMS-float32-out
    ),
    rounding=4e-2,  # that of bfloat16: what is not cast back may never have been rounded
)

float32_out = Mutant(
    "CALL-float32-out",
    story="the output is float32, whatever goes in",
    breaks={"CALL-DTYPE-1"},
    hint="cast the output back to the dtype of what came in, or compute in it",
    replace=leaving(Tensor.float, "alibi", "coordinate_mlp", *BIT_FOR_BIT),
)

float64_out = Mutant(
    "CALL-float64-out",
    story="the output is float64, whatever goes in, as NumPy's numbers are",
    breaks={"CALL-DTYPE-1"},
    hint="math.sqrt instead of np.sqrt, and .to(x.dtype) for what comes from NumPy",
    replace=leaving(Tensor.double, "alibi"),
)


gradients_of_float32 = Mutant(
    "CALL-gradients-wrong-in-float32",
    story="a backward pass of its own is right in float64 alone, in which it was tested",
    breaks={"CALL-FLOAT-1"},
    hint="compare gradients in the dtype in which the model will run",
    replace=leaving(lambda out: right_alone_in(out, torch.float64), *GIVEN_LENGTHS, "random_fourier"),
    source="TransformerEngine#3216, in bfloat16",
)


def refusing_empty(config: Any, weights: Any, forward: Forward) -> Forward:
    def called(*x, **more):
        if any(isinstance(each, Tensor) and not each.numel() for each in x):
            raise ValueError("empty input")
        return forward(*x, **more)

    return called


empty_refused = Mutant(
    "CALL-empty-refused",
    story="an empty batch is refused",
    breaks={"CALL-EMPTY-1"},
    hint="return an empty tensor of the right shape",
    replace=around(refusing_empty, *GIVEN_LENGTHS),
    raises={"CALL-EMPTY-1"},
)

empty_is_flat = Mutant(
    "CALL-empty-is-flat",
    story="nothing gives (0, D), without the other axes",
    breaks={"CALL-EMPTY-1"},
    hint="keep all axes: the empty one has size 0, the others what they have elsewhere",
    replace=leaving(lambda out: out if out.numel() else out.new_zeros(0, out.shape[-1]), *GIVEN_LENGTHS, *POINTS),
)

one_for_none = Mutant(
    "CALL-one-for-none",
    story="nothing gives a row of zeros",
    breaks={"CALL-EMPTY-1"},
    hint="as many samples and tokens come out as go in, none too",
    replace=leaving(
        lambda out: out if out.numel() else out.new_zeros([max(size, 1) for size in out.shape]), *GIVEN_LENGTHS
    ),
)
