"""Different is not wrong: norms as they are written in the wild, in every declared variant, conform."""

from itertools import permutations, product

import pytest
import torch
from test_sinusoidal_variants import failed
from torch import nn

from attnconf.adapters.contract import CONVENTIONS
from attnconf.adapters.kit.bind import bind
from attnconf.spec.registry import get

torch.set_num_threads(1)


def module(make):
    """Return a component that binds ``make(config)`` to the weights."""
    return lambda config, weights: bind(make(config), weights)


def torch_layer_norm(config):
    return nn.LayerNorm(config.shape, config.eps, elementwise_affine=config.affine, bias=config.bias)


def functional(config, weights):
    weight, bias = weights.get("weight"), weights.get("bias")
    return lambda x: nn.functional.layer_norm(x, config.shape, weight, bias, config.eps)


def through_float32(config, weights):
    """Whatever comes in is normalized in float32, float64 too."""

    def forward(x):
        w, b = (t.float() if t is not None else None for t in (weights.get("weight"), weights.get("bias")))
        return nn.functional.layer_norm(x.float(), config.shape, w, b, config.eps).type_as(x)

    return forward


class Textbook(nn.Module):
    """As in the annotated Transformer, once its variance was put right."""

    def __init__(self, config):
        super().__init__()
        if len(config.shape) > 1 or not (config.affine and config.bias):
            raise NotImplementedError("one axis, with gain and shift")
        self.weight, self.bias = nn.Parameter(torch.ones(config.shape)), nn.Parameter(torch.zeros(config.shape))
        self.eps = config.eps

    def forward(self, x):
        if x.size(-1) != self.weight.numel():
            raise ValueError("another width")
        wide = x if x.dtype == torch.float64 else x.float()
        mean = wide.sum(-1, keepdim=True) / x.size(-1)
        var = wide.sub(mean).pow(2).sum(-1, keepdim=True) / x.size(-1)
        return (torch.rsqrt(var + self.eps) * (wide - mean)).to(x.dtype) * self.weight + self.bias


def test_torchs_layer_norm_conforms():
    assert not failed("layer_norm", module(torch_layer_norm), {})


def test_the_functional_form_conforms():
    assert not failed("layer_norm", functional, {})


def test_a_norm_in_float32_conforms_but_for_float64():
    got = failed("layer_norm", through_float32, {})
    assert list(got) == ["LN-PREC-2"]


def test_a_textbook_norm_conforms():
    lacking = ("LN_PLAIN_1", "LN_NOBIAS_1", "LN_AXES_1", "LN_AXES_2")
    assert not failed("layer_norm", module(Textbook), {}, **dict.fromkeys(lacking, "unsupported"))


class Divided(Textbook):
    """Divided by what is declared, as the Annotated Transformer's norm is by (unbiased, outside)."""

    def __init__(self, config, variance, eps):
        super().__init__(config)
        self.unbiased, self.outside = variance == "unbiased", eps == "outside"

    def forward(self, x):
        if x.size(-1) != self.weight.numel():
            raise ValueError("another width")
        wide = x if x.dtype == torch.float64 else x.float()
        variance = wide.var(-1, keepdim=True, unbiased=self.unbiased)
        deviation = wide.std(-1, keepdim=True, unbiased=self.unbiased) + self.eps
        divisor = deviation if self.outside else torch.sqrt(variance + self.eps)
        return ((wide - wide.mean(-1, keepdim=True)) / divisor).to(x.dtype) * self.weight + self.bias


DIVISORS = list(product(CONVENTIONS["layer-norm-variance"], CONVENTIONS["layer-norm-eps"]))
LACKING = dict.fromkeys(("LN_PLAIN_1", "LN_NOBIAS_1", "LN_AXES_1", "LN_AXES_2"), "unsupported")


@pytest.mark.parametrize("divisor", DIVISORS)
def test_every_declared_divisor_conforms(divisor):
    declares = dict(zip(("layer-norm-variance", "layer-norm-eps"), divisor, strict=True))
    assert not failed("layer_norm", module(lambda config: Divided(config, *divisor)), declares, **LACKING)


@pytest.mark.parametrize(("divisor", "declared"), list(permutations(DIVISORS, 2)))
def test_another_divisor_than_declared_does_not(divisor, declared):
    declares = dict(zip(("layer-norm-variance", "layer-norm-eps"), declared, strict=True))
    got = failed("layer_norm", module(lambda config: Divided(config, *divisor)), declares, **LACKING)
    assert ("LN-VAR-1" in got) == (divisor[0] != declared[0])
    assert divisor[1] == declared[1] or "LN-EPS-1" in got


def test_jax_style_folds_the_gain_into_the_factor():
    """As Flax has it with use_fast_variance=False: (x - μ)·(γ·rsqrt(σ² + ε)) + β."""

    def build(config, weights):
        if not config.bias:
            raise NotImplementedError("without a bias")

        def forward(x):
            if tuple(x.shape[x.ndim - len(config.shape) :]) != config.shape:
                raise ValueError("another width")
            axes = tuple(range(-len(config.shape), 0))
            wide = x.to(torch.promote_types(x.dtype, torch.float32))
            var, mean = torch.var_mean(wide, dim=axes, correction=0, keepdim=True)
            return ((wide - mean) * (torch.rsqrt(var + config.eps) * weights["weight"]) + weights["bias"]).to(x.dtype)

        return forward

    assert not failed("layer_norm", build, {}, LN_PLAIN_1="unsupported", LN_NOBIAS_1="unsupported")


def test_an_eager_norm_in_half_precision_overflows():
    class Eager(Textbook):
        def forward(self, x):
            if x.size(-1) != self.weight.numel():
                raise ValueError("another width")
            deviation = x - x.mean(-1, keepdim=True)
            return deviation / (deviation.pow(2).mean(-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias

    lacking = ("LN_PLAIN_1", "LN_NOBIAS_1", "LN_AXES_1", "LN_AXES_2")
    got = failed("layer_norm", module(Eager), {}, **dict.fromkeys(lacking, "unsupported"))
    assert sorted(got) == ["LN-HALF-2", "LN-HALF-3"]
    assert "float16" in got["LN-HALF-3"]


# -- RMSNorm


class Llama(nn.Module):
    """The norm of Llama: cast, then multiplied by the weight."""

    def __init__(self, config, one_plus=False, cast="before"):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.dim))
        self.eps, self.one_plus, self.cast = config.eps, one_plus, cast

    def forward(self, x):
        if x.shape[-1] != len(self.weight):
            raise ValueError("another width")
        wide = x.to(torch.float32)
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        gain = 1.0 + self.weight.float() if self.one_plus else self.weight
        if self.cast == "before":
            return (normed.to(x.dtype) * gain).to(x.dtype)
        return (normed * gain.float()).type_as(x)


class Zhang(nn.Module):
    """Divided by √(mean square) + ε, as in the code of Zhang and Sennrich, or by √(mean square + ε)."""

    def __init__(self, config, place):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(config.dim))
        self.eps, self.outside = config.eps, place == "outside"

    def forward(self, x):
        if x.shape[-1] != len(self.scale):
            raise ValueError("another width")
        wide = x if x.dtype == torch.float64 else x.float()
        rms = wide.norm(dim=-1, keepdim=True) / x.shape[-1] ** 0.5
        divisor = rms + self.eps if self.outside else (wide.square().mean(-1, keepdim=True) + self.eps).sqrt()
        return (self.scale * (wide / divisor)).to(x.dtype)


def divided(place):
    return lambda config, weights: bind(Zhang(config, place), {"scale": weights["weight"]})


@pytest.mark.parametrize("place", CONVENTIONS["rms-norm-eps"])
def test_every_declared_place_of_eps_conforms(place):
    assert not failed("rms_norm", divided(place), {"rms-norm-eps": place})


@pytest.mark.parametrize("declares", [{}, {"rms-norm-eps": "inside"}])
def test_an_eps_outside_that_is_not_declared_does_not_conform(declares):
    assert "RMS-EPS-1" in failed("rms_norm", divided("outside"), declares)


def test_an_eps_inside_that_is_declared_outside_does_not_conform():
    assert "RMS-EPS-1" in failed("rms_norm", divided("inside"), {"rms-norm-eps": "outside"})


class OnePlus(nn.LayerNorm):
    """As Nemotron has it."""

    def forward(self, x):
        gain = None if self.weight is None else 1 + self.weight
        return nn.functional.layer_norm(x, self.normalized_shape, gain, self.bias, self.eps)


@pytest.mark.parametrize("declared", CONVENTIONS["layer-norm-weight"])
def test_a_layer_norm_times_one_plus_the_weight_conforms_where_it_is_declared(declared):
    def build(config):
        return OnePlus(config.shape, config.eps, elementwise_affine=config.affine, bias=config.bias)

    got = failed("layer_norm", module(build), {"layer-norm-weight": declared})
    assert ("LN-GAIN-1" in got) if declared == "plain" else not got


@pytest.mark.parametrize("cast", ["after", "before"])
@pytest.mark.parametrize("weight", ["plain", "one-plus"])
def test_every_declared_variant_conforms(weight, cast):
    """In float32 throughout, as they are in the wild."""
    build = module(lambda config: Llama(config, weight == "one-plus", cast))
    declares = {"rms-norm-weight": weight, "rms-norm-cast": cast}
    assert list(failed("rms_norm", build, declares)) == ["RMS-PREC-2"]


@pytest.mark.parametrize("cast", ["after", "before"])
def test_an_undeclared_cast_is_observed(cast):
    build = module(lambda config: Llama(config, cast=cast))
    assert list(failed("rms_norm", build, {})) == ["RMS-PREC-2"]


@pytest.mark.parametrize(("cast", "other"), [("after", "before"), ("before", "after")])
def test_the_other_cast_than_declared_is_a_deviation(cast, other):
    got = failed("rms_norm", module(lambda config: Llama(config, cast=cast)), {"rms-norm-cast": other})
    assert list(got) == ["RMS-PREC-2", "RMS-CAST-1"]
    assert f"100.0 % as if cast {cast}" in got["RMS-CAST-1"]


@pytest.mark.parametrize("one_plus", [False, True])
def test_an_undeclared_weight_does_not_conform(one_plus):
    build = module(lambda config: Llama(config, one_plus))
    assert "RMS-GAIN-1" in failed("rms_norm", build, {"rms-norm-weight": "plain" if one_plus else "one-plus"})


def test_torchs_rms_norm_conforms():
    assert not failed("rms_norm", module(lambda config: nn.RMSNorm(config.dim, config.eps)), {})


def test_the_eps_of_the_dtype_conforms_where_it_is_declared():
    build = module(lambda config: nn.RMSNorm(config.dim))
    assert not failed("rms_norm", build, {"eps": "dtype"})
    assert "RMS-EPS-2" in failed("rms_norm", build, {})


def test_another_eps_than_that_of_the_dtype_does_not_conform_where_that_is_declared():
    build = module(lambda config: nn.RMSNorm(config.dim, 1e-12))
    assert "RMS-EPS-2" in failed("rms_norm", build, {"eps": "dtype"})


def test_a_scaled_unit_vector_conforms_but_for_eps():
    """F.normalize with ε as a floor under the length."""

    def build(config, weights):
        if config.dim != len(weights["weight"]):
            raise ValueError("another width")

        def forward(x):
            if x.shape[-1] != config.dim:
                raise ValueError("another width")
            wide = x.to(torch.promote_types(x.dtype, torch.float32))
            normed = nn.functional.normalize(wide, dim=-1, eps=config.eps) * config.dim**0.5
            return (normed * weights["weight"]).to(x.dtype)

        return forward

    got = failed("rms_norm", build, {})
    assert {"RMS-EPS-1", "RMS-EPS-2"} <= set(got)
    assert not {"RMS-SQUARE-1", "RMS-SCALE-1", "RMS-GAIN-1", "RMS-LINE-1", "RMS-ZERO-1"} & set(got)


def in_single(config, weights):
    """Whatever comes in, float32 comes out."""
    forward = through_float32(config, weights)
    return lambda x: forward(x).float()


def test_what_is_always_float32_is_right_in_float32_where_it_says_so():
    precise = failed("layer_norm", in_single, {"norm-dtype": "float32"})
    assert {"CALL-DTYPE-2", "LN-PREC-2"} <= set(precise)
    assert {get(name).quality for name in precise} == {"precise"}
    assert "CALL-DTYPE-1" in failed("layer_norm", in_single, {})
