"""Different is not wrong: the reference is right in every declared convention, and its mutants are known in it."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from command_line import in_process

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import all_mutants, check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.run import judge
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.spec import profiles

torch.set_num_threads(1)

SPOKEN = {
    "sinusoidal": ("sinusoidal-output", "sinusoidal-layout", "sinusoidal-frequencies", "sinusoidal-offset"),
    "sinusoidal_2d": ("grid-axes", "grid-layout", "sinusoidal-frequencies", "sinusoidal-offset"),
    "learned": ("learned-output", "learned-offset"),
    "rotary": ("rope-pairing",),
    "rotary_attention": ("rope-pairing",),
    "relative_bias_attention": ("t5-scale",),
    "fourier": ("fourier-factor", "fourier-input", "fourier-order"),
    "random_fourier": ("random-fourier-order",),
    "rms_norm": ("rms-norm-weight", "rms-norm-cast", "rms-norm-eps"),
    "layer_norm": ("layer-norm-variance", "layer-norm-eps", "layer-norm-weight"),
    "coordinate_mlp": ("fourier-order",),
    "encoder_layer": ("norm-order", "attention-scale"),
    "encoder": ("norm-order", "attention-scale"),
    "bpe_trainer": ("word-end",),
    "tokenizer": ("word-end",),
    "detokenizer": ("word-end",),
    "decoder_layer": ("norm-order", "attention-scale"),
    "decoder": ("norm-order", "attention-scale"),
    "feed_forward": ("glu-activated",),
    "token_embedding": ("embedding-scale", "padding-row"),
    "token_attention": ("embedding-scale", "sinusoidal-layout"),
    "encoder_decoder": ("attention-scale",),
    "transformer": ("transformer-scale", "sinusoidal-layout"),
}
VARIANTS = [
    pytest.param(component, dict(zip(names, choices, strict=True)), id=f"{component}-{'-'.join(choices)}")
    for component, names in SPOKEN.items()
    for choices in product(*(COMPONENTS[component].choices(name) for name in names))
]
BYTES = {"token-kind": "byte-pair", "word-end": "none", "symbols": "bytes"}
VARIANTS += [pytest.param(c, BYTES, id=f"{c}-bytes") for c in ("bpe_trainer", "tokenizer", "detokenizer")]
ANNOTATED = {"layer-norm-variance": "unbiased", "layer-norm-eps": "outside"}
VARIANTS += [
    pytest.param(component, ANNOTATED, id=f"{component}-annotated")
    for component in ("encoder_layer", "encoder", "decoder_layer", "decoder", "encoder_decoder", "transformer")
]
OUTSIDE = {"norm-kind": "rms", "rms-norm-eps": "outside"}
VARIANTS += [
    pytest.param(component, OUTSIDE, id=f"{component}-rms-outside")
    for component in ("encoder_layer", "encoder", "decoder_layer", "decoder", "encoder_decoder", "transformer")
]


@pytest.mark.parametrize(("component", "declares"), VARIANTS)
def test_the_reference_is_right_in_every_convention(component, declares):
    subject = Subject(in_conventions(apply([]), declares), component, "direct")
    names = [e.requirement for e in profiles.load("core-3").entries if e.component == component]
    names = [n for n in names if not n.startswith("TOK-SPECIAL")]  # special tokens are not translated
    found = {name: judge_requirement(subject, check_of(name, subject.component)) for name in names}
    passed = ("pass", "not-applicable")
    assert not {name: judged.message for name, judged in found.items() if judged.outcome not in passed}


@pytest.mark.parametrize(
    ("name", "component", "declares"),
    [
        ("ROPE-reversed", "rotary", {"rope-pairing": "half"}),
        ("ROPE-exponent-i", "rotary_attention", {"rope-pairing": "half"}),
        ("SIN-inverted-twice", "sinusoidal", {"sinusoidal-output": "table", "sinusoidal-layout": "halves"}),
        ("SIN-grid-width-of-both", "sinusoidal_2d", {"grid-axes": "height-first", "grid-layout": "interleaved"}),
        ("LRN-negative-from-end", "learned", {"learned-offset": "2"}),
        ("RMS-eps-outside", "rms_norm", {"rms-norm-weight": "one-plus", "rms-norm-cast": "before"}),
        ("TOK-words-unweighted", "bpe_trainer", {"word-end": "separate"}),
        ("TOK-first-from-left", "tokenizer", {"token-kind": "byte-pair", "word-end": "none"}),
        ("TOK-last-learnt", "tokenizer", BYTES),
        ("TOK-counted-once", "bpe_trainer", BYTES),
        ("FF-gate-not-activated", "feed_forward", {"glu-activated": "up"}),
        ("EMB-hashed", "token_embedding", {"embedding-scale": "sqrt"}),
        ("EMB-one-head", "token_attention", {"embedding-scale": "sqrt", "sinusoidal-layout": "halves"}),
        ("TRF-memory-unmasked", "transformer", {"sinusoidal-layout": "halves", "transformer-scale": "none"}),
        (
            "FOUR-bank-linear",
            "fourier",
            {"fourier-factor": "pi", "fourier-input": "kept", "fourier-order": "frequency"},
        ),
        ("ENC-residual-from-norm", "encoder_layer", {"norm-order": "pre", "attention-scale": "none"}),
        ("LN-not-centred", "layer_norm", ANNOTATED),
        ("LN-root-first", "layer_norm", ANNOTATED),
        ("RMS-root-first", "rms_norm", {"rms-norm-eps": "outside"}),
        ("RMS-eps-fixed", "rms_norm", {"rms-norm-weight": "one-plus", "rms-norm-eps": "outside"}),
        ("RMS-eps-outside", "encoder_layer", {"norm-order": "pre", "norm-kind": "rms"}),
        ("ENC-residual-from-norm", "encoder_layer", {"norm-order": "pre", **ANNOTATED}),
        ("ENC-residual-from-norm", "encoder_layer", {"norm-order": "pre", **OUTSIDE}),
        ("DEC-cross-first", "decoder_layer", {"norm-order": "pre", "attention-scale": "none"}),
    ],
)
def test_a_mistake_is_known_in_other_conventions(name, component, declares):
    wrong = in_conventions(apply([all_mutants()[name]]), declares)
    run = judge_all(only(make_plan([wrong], Settings()), lambda planned: planned.entry.component == component))
    explain_failures(run)
    assert name in {mutant.id for diagnosis in run.diagnoses.values() for mutant in diagnosis.mutants}


def test_what_is_right_in_undeclared_conventions_is_told_which():
    right = in_conventions(apply([]), {"fourier-factor": "pi", "fourier-order": "frequency"})
    run = judge([Implementation("nerf", {"fourier": right.components["fourier"]})])
    (diagnosis,) = run.diagnoses.values()
    assert diagnosis.mutants[0].hint == 'declares = {"fourier-factor": "pi", "fourier-order": "frequency"}'


@pytest.mark.parametrize(
    ("component", "entry", "convention"),
    [("layer_norm", "norm_eps", "layer-norm-eps"), ("rms_norm", "rms_eps", "rms-norm-eps")],
)
def test_an_eps_inside_that_is_declared_outside_is_told(component, entry, convention):
    right = apply([]).components[component]
    inside = {component: lambda config, weights: right(replace(config, **{entry: "inside"}), weights)}
    run = judge([Implementation("inside", inside, {convention: "outside"})])
    hints = {m.hint for d in run.diagnoses.values() for m in d.mutants}
    assert hints == {f'declares = {{"{convention}": "inside"}}'}


def test_conventions_without_effect_are_not_named():
    """There is no gate, whose activated half could be told, and no RMS norm."""
    right = in_conventions(apply([]), {"attention-scale": "none"})
    run = judge([Implementation("unscaled", {"encoder_layer": right.components["encoder_layer"]})])
    (diagnosis,) = run.diagnoses.values()  # as a mistake of attention's, which has no such convention
    assert [m.id for m in diagnosis.mutants] == ["ATT-unscaled"]


def test_float32_inside_is_no_matter_of_convention(tmp_path):
    (tmp_path / "it.py").write_text(
        """
import torch
from command_line import in_process
from torch import nn
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps
    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + self.eps)
        return (self.weight * y).to(x.dtype)
""",
        encoding="utf-8",
    )
    done = in_process("run", "--impl=it.py", "-v", cwd=tmp_path)
    said = done.stdout.partition("RMS-PREC-2 not followed by")[2].partition("rerun")[0]
    assert "try       something is computed in less precision than the input has" in said
    assert "conventions" not in said
