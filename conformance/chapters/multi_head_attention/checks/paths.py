"""Checks of the chapter spec/multi_head_attention.md: self-attention: one object as query, key and value."""

from itertools import product

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import SINGLE, SINGLE_SOURCE, Evidence
from attnconf.conformance.chapters.multi_head_attention.stimuli import as_declared, draw_self, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("MHA-PERM-1", stimuli.SELF, any_weights=True)
def permuting_the_tokens_permutes_the_output(subject: Subject, case: Case) -> Evidence:
    layer, order = draw_self(case), case.permutation("tokens", case.L)
    x, positions = layer.inputs["query"], case.draw("positions", case.L, case.embed)

    def attend(x: Tensor) -> Tensor:
        copies = {"query": x, "key": x, "value": x} if subject.offers("cross") else {"query": x}
        return run(subject, layer.with_inputs(**copies)).out

    want = attend(x)
    yield close(attend(x[:, order]), want[:, order], "out of permuted tokens, against permuted out,")
    moved = float((attend(x[:, order] + positions) - attend(x + positions)[:, order]).abs().max())
    yield holds(moved > 0.01 * float(want.abs().max()), "adding positions to the tokens makes no difference")


@requirement("MHA-SELF-1", stimuli.SELF, any_weights=True)
def one_object_is_as_good_as_three_copies(subject: Subject, case: Case) -> Evidence:
    layer = as_declared(subject, draw_self(case), case)
    x = layer.inputs["query"]
    want = run(subject, layer.with_inputs(key=x, value=x)).out
    yield close(run(subject, layer).out, want, "out of one tensor as query, key and value, against three copies,")


# training, mode, need_weights
MODES = tuple(product((True, False), ("tracked", "no_grad", "inference_mode"), (False, True)))


def paths(subject: Subject) -> list[tuple[bool, str, bool]]:
    """Return the ways through a layer, (training, mode, need_weights), that this subject has."""
    return [path for path in MODES if subject.offers("weights") or not path[2]]


def path_name(training: bool, mode: str, need_weights: bool) -> str:
    return f"{'training' if training else 'evaluation'}, {mode}, need_weights={need_weights}"


def real_tokens(case: Case) -> Tensor:
    """Return a key mask (B, S) that leaves at least three tokens of each sample, the padding at the end."""
    lengths = case.S - torch.arange(case.B, device=case.device) % (case.S - 2)
    return torch.arange(case.S, device=case.device) < lengths[:, None]


@requirement("MHA-MODE-1", stimuli.SELF)
def every_path_gives_the_same(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float64, torch.float32):
        c = case.but(dtype=dtype)
        real = real_tokens(c)
        own = as_declared(subject, draw_self(c), c)
        for layer in (own, own.with_inputs(key_mask=real)):
            want = run(subject, layer).out[real]
            masked = " with key_mask" if "key_mask" in layer.inputs else ""
            for training, mode, need_weights in paths(subject):
                out = run(subject, layer.with_config(training=training), mode=mode, need_weights=need_weights).out[real]
                path = f"{dtype}, {path_name(training, mode, need_weights)}{masked}".removeprefix("torch.")
                yield close(out, want, f"out of real tokens in {path}", bound=SINGLE, source=SINGLE_SOURCE)


@requirement("MHA-PAD-1", stimuli.SELF)
def padding_does_not_reach_real_tokens(subject: Subject, case: Case) -> Evidence:
    real = real_tokens(case)
    layer = as_declared(subject, draw_self(case), case).with_inputs(key_mask=real)
    x = layer.inputs["query"]
    other = layer.with_inputs(query=torch.where(real[..., None], x, 3 * case.draw("other padding", *x.shape)))
    for training, mode, need_weights in paths(subject):
        want, got = (
            run(subject, y.with_config(training=training), mode=mode, need_weights=need_weights).out[real]
            for y in (layer, other)
        )
        what = f"out of real tokens with other padding in {path_name(training, mode, need_weights)}"
        yield close(got, want, what)
