"""The shipped adapters against the formula, without the suite: outputs and gradients, or the words that say why not."""

import pytest
import torch
from shipped import having, shipped, variants

from attnconf.adapters.contract import AttentionConfig, MultiHeadAttentionConfig
from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.run.implementations import load
from attnconf.reference.attention import attend
from attnconf.reference.masks import causal, intersect, key_padding
from attnconf.reference.multi_head_attention import multi_head_attention

torch.set_num_threads(1)
MULTI_HEAD = [name for name, _ in having("multi_head_attention")]


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def allowed(*shape):
    """Return a mask that hides about half of the keys and leaves the first to every query."""
    mask = numbers(*shape, seed=sum(shape)) > 0
    mask[..., 0] = True
    return mask


# name: (key_dim, value_dim, out_dim, number of keys or None for self-attention, further options, inputs)
CASES = {
    "self": (12, 12, 12, None, {}, {}),
    "unbiased": (12, 12, 12, None, {"bias": False}, {}),
    "cross": (12, 12, 12, 7, {}, {}),
    "widths": (10, 14, 12, 7, {}, {}),
    "narrow": (12, 12, 8, None, {}, {}),
    "key mask": (12, 12, 12, None, {}, {"key_mask": allowed(2, 5)}),
    "masks": (12, 12, 12, None, {}, {"key_mask": allowed(2, 5), "attn_mask": allowed(2, 3, 5, 5)}),
    "row mask": (12, 12, 12, None, {}, {"attn_mask": allowed(5)}),
    "head mask": (12, 12, 12, None, {}, {"attn_mask": allowed(3, 5, 5)}),
    "bias": (12, 12, 12, None, {}, {"attn_bias": numbers(3, 5, 5, seed=30)}),
    "all": (12, 12, 12, None, {}, {
        "key_mask": allowed(2, 5), "attn_mask": allowed(5, 5), "attn_bias": numbers(5, seed=30)}),
    "causal": (12, 12, 12, None, {"causal": True}, {}),
    "causal, narrow": (12, 12, 8, None, {"causal": True, "num_heads": 2}, {}),
    "causal, masks": (12, 12, 12, None, {"causal": True}, {"key_mask": allowed(2, 5), "attn_mask": allowed(5, 5)}),
    "causal cross": (12, 12, 12, 7, {"causal": True}, {}),
    "returned weights": (12, 12, 12, None, {}, {"need_weights": True}),
}  # fmt: skip

SELF_ONLY = dict.fromkeys(("cross", "causal cross"), "cross-attention")
ONE_WIDTH = dict.fromkeys(("widths", "narrow", "causal, narrow"), "different widths")
BOUND = {  # of those that compute parts in float32; the others are within 1e-9
    "keras_layers": 1e-5, "mlx_layers:half": 1e-6, "jax_nn": 1e-6, "onnx_reference:half": 1e-6,
}  # fmt: skip
UNSUPPORTED = {
    "torch_nn": {
        "narrow": "output of another width", "causal, narrow": "widths do not add up", "causal cross": "L ≠ S",
    },
    "torch_nn_slow_path": {
        "narrow": "output of another width", "causal, narrow": "widths do not add up", "causal cross": "L ≠ S",
    },
    "torch_sdpa:math": {"returned weights": "returned weights"},
    "torch_sdpa:flash": {"returned weights": "returned weights"},
    "fused_per_head": {**SELF_ONLY, **ONE_WIDTH},
    "fused_zero_one_mask": {**SELF_ONLY, **ONE_WIDTH, "bias": "an additive bias", "all": "an additive bias"},
    "projected_torch": {"narrow": "output of another width"},
    "equinox_layers": {
        **dict.fromkeys(("bias", "all"), "an additive bias"), "causal cross": "L ≠ S",
        "returned weights": "returned weights",
    },
    "flax_layers": {**dict.fromkeys(("bias", "all"), "an additive bias"), "causal cross": "L ≠ S"},
    "keras_layers": dict.fromkeys(("bias", "all"), "an additive bias"),
    "haiku_layers": {
        **dict.fromkeys(("bias", "all"), "an additive bias"), "causal cross": "L ≠ S",
        "returned weights": "returned weights",
    },
    "mlx_layers:half": {"returned weights": "returned weights"},
    "curated_layers:self": {
        **SELF_ONLY, **ONE_WIDTH, **dict.fromkeys(("bias", "all"), "an additive bias"),
        "returned weights": "returned weights",
    },
    "causal_narrowing": {
        **dict.fromkeys([case for case in CASES if not case.startswith("causal")], "attention that is not causal"),
        "causal, masks": "masks other than its own", "causal cross": "cross-attention",
    },
}  # fmt: skip


def arrange(case):
    """Return (config, weights, (query, key, value), further inputs, whether weights come back)."""
    key_dim, value_dim, out_dim, keys, options, given = CASES[case]
    config = MultiHeadAttentionConfig(**{
        "embed_dim": 12, "num_heads": 3, "head_dim": 4, "key_dim": key_dim, "value_dim": value_dim,
        "out_dim": out_dim, **options,
    })  # fmt: skip
    width = config.num_heads * config.head_dim
    shapes = {"q": (width, 12), "k": (width, key_dim), "v": (width, value_dim), "out": (out_dim, width)}
    weights = {f"{n}.weight": (numbers(*s, seed=i) / 3).requires_grad_() for i, (n, s) in enumerate(shapes.items())}
    if config.bias:
        weights |= {f"{n}.bias": numbers(s[0], seed=9 + i).requires_grad_() for i, (n, s) in enumerate(shapes.items())}
    query = numbers(2, 5, 12, seed=20).requires_grad_()
    others = [numbers(2, keys or 5, d, seed=21 + i).requires_grad_() for i, d in enumerate((key_dim, value_dim))]
    triple = (query, *others) if keys or (key_dim, value_dim) != (12, 12) else (query, query, query)
    given = dict(given)
    need_weights = given.pop("need_weights", False)
    return config, weights, triple, {n: x.clone() for n, x in given.items()}, need_weights


def triangle(name, queries, keys):
    """Return the causal mask from the corner that an implementation declares."""
    if shipped(name).declares.get("causal-alignment") == "bottom-right":
        return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
    return causal(queries, keys)


def formula(name, config, weights, triple, given):
    mask = given.get("attn_mask")
    if "key_mask" in given:
        mask = intersect(mask, key_padding(given["key_mask"]))
    if config.causal:
        mask = intersect(mask, triangle(name, triple[0].shape[1], triple[1].shape[1]))
    return multi_head_attention(*triple, weights, config.num_heads, mask, given.get("attn_bias"))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", MULTI_HEAD)
def test_multi_head_attention_is_the_formula_or_says_why_not(name, case):
    config, weights, triple, given, need_weights = arrange(case)
    before = [x.detach().clone() for x in (*weights.values(), *triple, *given.values())]
    component = shipped(name).components["multi_head_attention"]
    ask = {"need_weights": True} if need_weights else {}
    words = UNSUPPORTED.get(name, {}).get(case)
    if words is not None:
        with pytest.raises(NotImplementedError, match=words):
            component(config, weights)(*triple, **given, **ask)
        return
    out = component(config, weights)(*triple, **given, **ask)
    bound = BOUND.get(name, 1e-9)
    want, attention = formula(name, config, weights, triple, given)
    if need_weights:
        out, returned = out
        torch.testing.assert_close(returned, attention, rtol=0, atol=bound)
    torch.testing.assert_close(out, want, rtol=0, atol=bound)
    leaves = {**weights, **{f"input {i}": x for i, x in enumerate({id(x): x for x in triple}.values())}}
    slope = numbers(*want.shape, seed=40)
    got = torch.autograd.grad((out * slope).sum(), list(leaves.values()))
    for leaf, g, w in zip(leaves, got, torch.autograd.grad((want * slope).sum(), list(leaves.values())), strict=True):
        torch.testing.assert_close(g, w, rtol=0, atol=bound, msg=lambda m, leaf=leaf: f"{leaf}: {m}")
    assert all(torch.equal(x, b) for x, b in zip((*weights.values(), *triple, *given.values()), before, strict=True))


REFUSED = {  # what attention is asked for, and the words
    "flax_layers": {"scale": "scale"},
    "curated_layers:parts": {"scale": "scale", "attn_bias": "an additive bias"},
}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"key_mask": allowed(2, 7), "attn_bias": numbers(5, 7, seed=3)},
        {"attn_mask": allowed(7)},
        {"attn_mask": allowed(3, 5, 7), "key_mask": allowed(2, 7)},
        {"attn_bias": numbers(7, seed=3)},
    ],
    ids=" and ".join,
)
@pytest.mark.parametrize("config", [AttentionConfig(scale=0.3), AttentionConfig(causal=True)], ids=["scale", "causal"])
@pytest.mark.parametrize("name", [name for name, _ in having("attention")])
def test_attention_is_the_formula(name, config, given):
    inputs = [numbers(2, 3, *s, seed=i).requires_grad_() for i, s in enumerate(((5, 8), (7, 8), (7, 8)))]
    before = [x.detach().clone() for x in (*inputs, *given.values())]
    refused = REFUSED.get(name, {})
    if words := [words for asked, words in refused.items() if asked in given or getattr(config, asked, None)]:
        with pytest.raises(NotImplementedError, match=words[0]):
            shipped(name).components["attention"](config, {})(*inputs, **given)
        return
    forward = shipped(name).components["attention"](config, {})
    if name == "flex_attention":
        with pytest.raises(NotImplementedError, match="backward on CPU"):
            forward(*inputs, **given)
    if name == "onnx_reference:half" and config.causal and [x.ndim for x in given.values()] == [1]:
        with pytest.raises(ValueError, match="not enough values to unpack"):  # findings/onnx_causal_with_padding.py
            forward(*inputs, **given)
        return
    if name in ("flex_attention", "onnx_reference:half"):
        inputs = [x.detach() for x in inputs]
    out = forward(*inputs, **given)
    mask = given.get("attn_mask")
    if "key_mask" in given:
        mask = intersect(mask, key_padding(given["key_mask"]))
    mask = intersect(mask, triangle(name, 5, 7)) if config.causal else mask
    want, _ = attend(*inputs, mask, given.get("attn_bias"), config.scale)
    bound = BOUND.get(name, 1e-9)
    torch.testing.assert_close(out, want, rtol=0, atol=bound)
    if not want.requires_grad:
        return
    slope = numbers(*want.shape, seed=40)
    grads = [torch.autograd.grad((y * slope).sum(), inputs) for y in (out, want)]
    for g, w in zip(*grads, strict=True):
        torch.testing.assert_close(g, w, rtol=0, atol=bound)
    assert all(torch.equal(x, b) for x, b in zip((*inputs, *given.values()), before, strict=True))


def test_torch_nn_lets_torch_take_its_fast_path(monkeypatch):
    calls = []
    native = torch._native_multi_head_attention
    monkeypatch.setattr(torch, "_native_multi_head_attention", lambda *args: calls.append(1) or native(*args))
    config = MultiHeadAttentionConfig(12, 2, 6, 12, 12, 12)
    _, weights, (x, _, _), _, _ = arrange("self")
    forward = shipped("torch_nn").components["multi_head_attention"](config, weights)
    with torch.no_grad():
        out = forward(x, x, x)
    assert len(calls) == 1
    torch.testing.assert_close(out, multi_head_attention(x, x, x, weights, 2)[0])


def test_torch_nn_lets_torch_refuse_heads_that_do_not_divide():
    config = MultiHeadAttentionConfig(12, 5, 2, 12, 12, 12)
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        shipped("torch_nn").components["multi_head_attention"](config, arrange("self")[1])


@pytest.mark.parametrize(
    ("config", "width", "words"),
    [
        (AttentionConfig(dropout=0.5, training=True), 8, "; Both fused kernels do not support non-zero dropout"),
        (AttentionConfig(), 9, "; Flash attention requires q,k,v to have the same last dimension"),
    ],
)
def test_a_backend_without_a_kernel_says_why_in_the_words_of_torch(config, width, words):
    forward = shipped("torch_sdpa:flash").components["attention"](config, {})
    with pytest.raises(NotImplementedError, match=rf"^no FLASH_ATTENTION kernel for this call{words}\.?$"):
        forward(numbers(2, 3, 5, 8), numbers(2, 3, 7, 8), numbers(2, 3, 7, width))


def test_a_sequence_longer_than_the_context_is_not_supported():
    config = MultiHeadAttentionConfig(12, 3, 4, 12, 12, 12, causal=True)
    x = numbers(1, 257, 12)
    with pytest.raises(NotImplementedError, match="sequences longer than 256 tokens"):
        shipped("causal_narrowing").components["multi_head_attention"](config, arrange("causal")[1])(x, x, x)


def test_einsum_does_not_stretch_a_single_value_over_several_keys():
    config, weights, (q, k, v), _, _ = arrange("cross")
    forward = shipped("einops_separate").components["multi_head_attention"](config, weights)
    for misfit in ((q, k, v[:, :1]), (q, k[:1], v[:1]), (q[:1], k, v)):
        with pytest.raises(ValueError, match="do not fit"):
            forward(*misfit)


@pytest.mark.parametrize("name", ["torch_compile", "flex_attention"])
def test_what_is_large_is_compiled_or_there_is_no_compiler(name, monkeypatch):
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda function, **options: compiled.append(function) or function)
    (found,) = load(name)
    forward = found.components["attention"](AttentionConfig(), {})
    small, large = numbers(1, 2, 5, 8), numbers(1, 2, 4096, 8)
    forward(small, small, small)
    assert not compiled
    monkeypatch.setattr("shutil.which", lambda program: None)
    with pytest.raises(NotImplementedError, match=r"^not run: torch\.compile needs a C\+\+ compiler"):
        forward(large, large, large)
    monkeypatch.setattr("shutil.which", lambda program: f"/usr/bin/{program}")
    if name == "torch_compile":
        forward(large, large, large)
        assert compiled


@pytest.mark.filterwarnings("ignore")  # torch's, on what is not compiled
def test_gradients_reach_the_bias_of_flex_attention(monkeypatch):
    """PyTorch refuses its backward on the CPU, where it works all the same: on CUDA it is judged."""
    from torch.nn.attention import flex_attention

    (found,) = load("flex_attention")
    monkeypatch.setattr(flex_attention, "_validate_device", lambda *tensors: None)
    q, k, v, weight = (numbers(2, 3, n, 6) for n in (4, 5, 5, 4))
    bias = numbers(2, 3, 4, 5).requires_grad_()
    out = found.components["attention"](AttentionConfig(), {})(q, k, v, attn_bias=bias)
    want = torch.softmax(q @ k.mT / 6**0.5 + bias, -1) @ v
    got, wanted = (torch.autograd.grad((x * weight).sum(), bias)[0] for x in (out, want))
    torch.testing.assert_close(got, wanted)


def test_flash_attn_is_called_in_its_own_layout(monkeypatch):
    """Its kernels run on CUDA alone: this is torch's function in its place."""
    import sys
    from types import SimpleNamespace

    def function(q, k, v, dropout, scale, causal):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, None, dropout, causal, scale=scale).mT.mT

    monkeypatch.setitem(sys.modules, "flash_attn", SimpleNamespace(flash_attn_func=function))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2")
    sys.modules.pop("attnconf.adapters.flash_attn", None)
    (found,) = load("flash_attn")
    sys.modules.pop("attnconf.adapters.flash_attn")  # for others the library is not there
    forward = found.components["attention"](AttentionConfig(), {})
    x = numbers(2, 3, 5, 8)
    with pytest.raises(NotImplementedError, match="half precision on CUDA"):
        forward(x, x, x)


def test_there_are_the_adapters_that_the_readme_promises():
    assert set(adapter_names()) >= {
        "reference", "torch_nn", "torch_sdpa", "einops_separate", "fused_per_head", "fused_zero_one_mask",
        "projected_torch", "causal_narrowing",
    }  # fmt: skip
    assert {"torch_sdpa:math", "torch_sdpa:flash"} <= set(variants("torch_sdpa"))
