"""Checks of the chapter spec/masks.md: everything at once."""

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.attention.checks.together import oracle
from attnconf.conformance.chapters.masks import stimuli
from attnconf.conformance.chapters.masks.checks.shared import Evidence
from attnconf.conformance.chapters.masks.stimuli import some
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.masks import causal


@requirement("MASK-ORACLE-1", stimuli.ONE_SQUARE, of_attention.SMALL)
def masked_attention_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    mask, padding = some(case, case.B, case.H, case.L, case.S).clone(), some(case, case.B, case.S).clone()
    mask[..., 0] = padding[:, 0] = True
    bias = case.draw("bias", *mask.shape)
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    square = case.L == case.S
    reply = subject.attend(
        case.q, case.k, case.v, attn_mask=mask, key_mask=padding, attn_bias=bias, causal=square, cotangent=cotangent
    )
    joined = mask & padding[:, None, None]
    if square:
        joined = joined & causal(case.L, case.S).to(case.device)
    want, grads = case.once("masked oracle", lambda: oracle(case, cotangent, joined, bias))
    yield close(reply.out, want)
    for name, grad in grads.items():
        unit = max(float(grad.abs().max()), 1e-3 * float(cotangent.abs().max()))
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit)
