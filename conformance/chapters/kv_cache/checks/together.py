"""Checks of the chapter spec/kv_cache.md: gradients through chunks, and members against the formula."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from torch import Tensor

from attnconf.conformance.chapters.attention_family.checks.together import formula_for, members
from attnconf.conformance.chapters.kv_cache import stimuli
from attnconf.conformance.chapters.kv_cache.checks.chunks import Evidence
from attnconf.conformance.chapters.kv_cache.stimuli import changed, chunks, layer
from attnconf.conformance.chapters.multi_head_attention.checks.together import with_gradients
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, close
from attnconf.conformance.engine.member_lens import ENTRIES
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def asked(subject: Subject, call: Call, lengths: tuple[int, ...], cotangent: Tensor) -> Reply:
    """Return the reply to chunks of these lengths, with gradients with respect to tokens and weights."""
    script = chunks(len(call.inputs["x"]), lengths)
    wrt = ("x", *call.weights)
    return subject.call(call.with_inputs(cache=script).asked(cotangent=cotangent, wrt=wrt))


def same_gradients(got: Mapping[str, Tensor], want: Mapping[str, Tensor], what: str) -> Evidence:
    unit = max(float(grad.abs().max()) for grad in want.values())  # that of k.bias is 0
    for name, grad in want.items():
        yield close(got[name], grad, f"gradient of {name}{what}", unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("CACHE-GRAD-1", stimuli.ONE, any_weights=True)
def gradients_flow_through_the_cache(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    cotangent = case.draw("cotangent", *call.out_shape)
    want = asked(subject, call, (case.L,), cotangent)
    for lengths in ((2, *(1,) * (case.L - 2)), (1, case.L - 1)):
        got = asked(subject, call, lengths, cotangent)
        yield from same_gradients(got.grads, want.grads, f" in chunks of {lengths}, against that in one chunk,")


@requirement("CACHE-ORACLE-1", stimuli.ONE)
def steps_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    right = formula_for(subject)
    for member in members(subject):
        grouped = member.pop("num_kv_heads", None) is not None
        member |= {"window": (2, 0)} if "window" in member else {}
        call = layer(subject, case, grouped, **{n: x for n, x in member.items() if n in ENTRIES.values()})
        call = changed(call, **member)
        cotangent = case.draw("cotangent", *call.out_shape)
        whole_pass = replace(call, inputs={"query": call.inputs["x"]})
        name = f"{right} {call.config}"
        wanted = partial(with_gradients, right, whole_pass, cotangent)
        want, grads = case.once(name, wanted)
        got = asked(subject, call, (2, 1, case.L - 3), cotangent)
        inside = ", ".join(f"{entry} {x}" for entry, x in member.items()) or "nothing"
        yield close(got.out, want, f"out in chunks with {inside} inside, against the formula,")
        named = {"x" if name == "query" else name: grad for name, grad in grads.items()}
        yield from same_gradients(got.grads, named, f" with {inside} inside, against that of the formula,")
