"""Implementations of encodings that compute nothing worth the name, for test_null_encodings.py."""

import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.request import Implementation

# They declare all of the family, so that all of it is asked of them.
MEMBER = {
    "kv-heads": "grouped", "score-cap": "given", "score-scale": "given", "window": "given", "positions-inside": "any",
    "relative-values": "any", "qk-norm": "any", "sinks": "any", "output-gate": "any",
}  # fmt: skip
LAYER = {
    "norm-order": "any", "kv-heads": "grouped", "qk-norm": "any", "branch-scale": "any", "score-bias": "any",
    "rotary-part": "given", "head-dim": "given", "score-scale": "given", "score-cap": "given", "window": "given",
}  # fmt: skip
MODEL = {"head-bias": "any", "logit-cap": "given", "added-positions": "any", "tying": "any"}
ENCODINGS = tuple(c for c in COMPONENTS if c not in ("attention", "multi_head_attention"))


def shape(component, config, given):
    """Return the shape of what a component gives for its inputs, by the contract."""
    if component == "sinusoidal_2d":
        return (*given, config.dim)
    if component == "causal_mask":
        return given
    if component in ("padding_mask", "decoder_mask"):
        return (len(given[0]), config.length, config.length)
    if component in ("alibi", "relative_bias"):
        return (config.num_heads, *given)
    if component == "cached_attention":
        x, script = given
        return (len(x), sum(act[3] - act[2] for act in script if act[0] == "step"), x.shape[2])
    width = {
        "fourier": lambda: 2 * config.in_dim * len(config.frequencies),
        "random_fourier": lambda: 2 * config.num_features,
        "coordinate_mlp": lambda: config.out_dim,
    }
    x = given[0 if component.startswith(("decoder", "packed")) else -1]
    if not x.is_floating_point():  # ids
        return (*x.shape, config.vocab_size if component in ("transformer", "language_model") else config.dim)
    return (*x.shape[:-1], width[component]() if component in width else x.shape[-1])


def like(config, weights, given):
    """Return a tensor of the dtype and on the device that the output must have."""
    tensors = [x for x in (*given, *weights.values()) if isinstance(x, torch.Tensor) and x.is_floating_point()]
    return tensors[0] if tensors else torch.empty(0, dtype=config.dtype, device=config.device)


def filled(number):
    return lambda x, shape: x.new_full(shape, number)


def random(x, shape):
    return torch.randn(shape, dtype=torch.float64).to(x)


def echo(x, shape):
    """The input itself, cut or repeated to the width of the output; 0, 1, 2, … where there is none."""
    if x.ndim == 0 or x.numel() == 0 or x.shape[:-1] != shape[:-1]:
        return torch.arange(torch.Size(shape).numel()).reshape(shape).to(x)
    return x.repeat(*[1] * (x.ndim - 1), -(-shape[-1] // x.shape[-1]))[..., : shape[-1]].clone()


def written(component, config, given, fill):
    """Return an id for each word, a word for each id, or as many merges as are asked for, from ``fill``'s numbers."""
    n = {"ids": lambda: len(given.split()), "text": lambda: len(given), "merges": lambda: config.num_merges}
    returns = COMPONENTS[component].returns
    numbers = fill(torch.empty(0, dtype=torch.float64), (n[returns](),)).tolist()
    if returns == "ids":
        return [int(x) if x == x // 1 else x for x in numbers]
    words = [f"{x:g}" for x in numbers]
    return " ".join(words) if returns == "text" else list(zip(words, words, strict=True))


def null(name, fill):
    """Return an implementation of every encoding whose output comes from ``fill(like, shape)``."""

    def component(of):
        def build(config, weights):
            if COMPONENTS[of].returns != "tensor":
                return lambda given: written(of, config, given, fill)
            return lambda *given, **more: fill(like(config, weights, given), shape(of, config, given))

        return build

    return Implementation(
        name,
        {c: component(c) for c in ENCODINGS},
        {
            "cached_attention": MEMBER,
            "packed_attention": MEMBER | {"packing": "any"},
            "encoder_layer": LAYER,
            "encoder": LAYER,
            "language_model": LAYER | MODEL,
        },
    )


CONTROLS = {
    name: null(name, fill)
    for name, fill in {
        "zeros": filled(0.0), "ones": filled(1.0), "constant": filled(0.7), "nan": filled(torch.nan),
        "random": random, "echo": echo,
    }.items()
}  # fmt: skip
