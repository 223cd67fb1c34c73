"""Different is not wrong: sinusoidal positions in every declared variant, in another style and in float32, conform."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import profiles, registry

torch.set_num_threads(1)

VARIANT = ("add", "halves", "paper")
OUTPUTS, LAYOUTS, FREQUENCIES = (CONVENTIONS[f"sinusoidal-{what}"] for what in ("output", "layout", "frequencies"))


def outcomes(component, build, declares):
    """Return the outcomes of all checks of a component, by requirement."""
    subject = Subject(Implementation("variant", {component: build}, declares), component, "direct")
    asked = [e.requirement for e in profiles.load("core-3").entries if e.component == component]
    judged = {name: judge_requirement(subject, check_of(name, subject.component)) for name in asked}
    return {name: j.outcome if j.outcome != "fail" else f"fail: {j.message}" for name, j in judged.items()}


def failed(component, build, declares, **other):
    """Return what neither passed nor is among the ``other`` outcomes that are expected."""
    return {
        name: got
        for name, got in outcomes(component, build, declares).items()
        if got != other.get(name.replace("-", "_"), "pass")
    }


def about(mnemonic):
    """Return the requirements whose ids begin with this, as ``failed`` takes them."""
    return [name.replace("-", "_") for name in registry.requirements() if name.startswith(f"{mnemonic}-")]


class Table(nn.Module):
    """A table in float32, filled column by column, that is cast with the module and raises where it ends."""

    def __init__(self, config, output, layout, frequencies):
        super().__init__()
        if config.dim % 2:
            raise ValueError("an even width is needed")
        half = config.dim // 2
        table = torch.zeros(config.max_len, config.dim)
        position = torch.arange(0, config.max_len, dtype=torch.float32)
        for i in range(half):
            exponent = i / (half - 1) if frequencies == "endpoint" else 2 * i / config.dim
            rate = torch.exp(torch.tensor(-math.log(config.base) * exponent))
            sine, cosine = {
                "interleaved": (2 * i, 2 * i + 1),
                "halves": (i, half + i),
                "halves-cos-first": (half + i, i),
            }[layout]
            table[:, sine] = torch.sin(position * rate)
            table[:, cosine] = torch.cos(position * rate)
        self.register_buffer("table", table)
        self.output, self.scale = output, math.sqrt(config.dim)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, positions=None):
        if x.shape[1] > len(self.table):
            raise ValueError(f"{x.shape[1]} tokens are more than {len(self.table)}")
        if positions is None:
            encoded = self.table[: x.shape[1]].expand(len(x), -1, -1)
        else:
            if positions.is_floating_point() or int(positions.min()) < 0:
                raise ValueError("positions must be whole and not negative")
            if positions.shape not in (x.shape[:2], x.shape[1:2]):
                raise ValueError("one position is needed for each token")
            encoded = nn.functional.embedding(positions, self.table).expand(*x.shape)
        scaled = {"add": x, "table": 0.0, "scaled-add": x * self.scale}[self.output]
        return self.dropout(scaled + encoded)


def module(output, layout, frequencies):
    def sinusoidal(config, weights):
        made = Table(config, output, layout, frequencies).to(config.device, config.dtype).train(config.training)
        return lambda x, *, positions=None: made(x, positions)

    return sinusoidal


def declared(output, layout, frequencies):
    return {
        "sinusoidal-output": output, "sinusoidal-layout": layout, "sinusoidal-frequencies": frequencies,
    }  # fmt: skip


@pytest.mark.parametrize(("output", "layout", "frequencies"), list(product(OUTPUTS, LAYOUTS, FREQUENCIES)))
def test_every_declared_variant_conforms(output, layout, frequencies):
    variant = output, layout, frequencies
    assert not failed("sinusoidal", module(*variant), declared(*variant))


@pytest.mark.parametrize("offset", CONVENTIONS["sinusoidal-offset"])
def test_the_first_token_may_stand_elsewhere_if_that_is_declared(offset):
    """As in fairseq, whose first rows belong to padding."""

    def sinusoidal(config, weights):
        made = Table(replace(config, max_len=config.max_len + 2), *VARIANT).to(config.dtype).train(config.training)

        def forward(x, *, positions=None):
            if x.shape[1] > config.max_len:
                raise ValueError("too long")
            return made(x, (torch.arange(x.shape[1]) if positions is None else positions) + int(offset))

        return forward

    assert not failed("sinusoidal", sinusoidal, declared(*VARIANT) | {"sinusoidal-offset": offset})
    if offset != "0":
        assert failed("sinusoidal", sinusoidal, declared(*VARIANT))["SIN-ZERO-1"].startswith("fail: ")


@pytest.mark.parametrize("exponent", [lambda i, d: 10000.0 ** (-2 * i / d), lambda i, d: (1 / 10000.0) ** (2 * i / d)])
def test_a_function_in_float32_without_a_table_conforms(exponent):
    """Computed when it is called, and of any length; it takes no positions and knows no dropout."""

    def sinusoidal(config, weights):
        def forward(x, *, positions=None):
            if positions is not None or config.training:
                raise NotImplementedError("positions or dropout")
            omega = torch.tensor([exponent(i, config.dim) for i in range((config.dim + 1) // 2)])
            if config.base != 10000.0:
                omega = torch.pow(torch.tensor(config.base), -torch.arange(0, config.dim, 2) / config.dim)
            theta = torch.outer(torch.arange(x.size(1)).float(), omega)
            table = torch.zeros(x.size(1), config.dim)
            table[:, 0::2] = torch.sin(theta)
            table[:, 1::2] = torch.cos(theta[:, : config.dim // 2])
            return x + table.to(x.dtype)

        return forward

    lacking = [*about("SIN-POS"), "SIN_DROP_2"]
    assert not failed("sinusoidal", sinusoidal, {}, **dict.fromkeys(lacking, "unsupported"))


@pytest.mark.parametrize("layout", LAYOUTS[1:])
def test_an_undeclared_layout_does_not_conform(layout):
    assert failed("sinusoidal", module("add", layout, "paper"), {})["SIN-PAIR-1"].startswith("fail")


def test_undeclared_frequencies_and_outputs_do_not_conform():
    assert failed("sinusoidal", module("add", "interleaved", "endpoint"), {})["SIN-FREQ-1"].startswith("fail")
    assert failed("sinusoidal", module("table", "interleaved", "paper"), {})["SIN-ADD-1"].startswith("fail")


# -- on a grid, as MAE does it: coordinates from meshgrid, one flat list of cells, folded at the end

GRIDS = list(product(CONVENTIONS["grid-axes"], CONVENTIONS["grid-layout"], FREQUENCIES))


def one_axis(coordinates, dim, base, layout, frequencies):
    """Return the features of a flat array of coordinates, float32 (cells, dim)."""
    pairs = np.arange(dim // 2, dtype=np.float32)
    exponent = pairs / (dim // 2 - 1) if frequencies == "endpoint" else pairs / np.float32(dim / 2)
    theta = np.einsum("m,d->md", coordinates, (1 / base**exponent).astype(np.float32))
    if layout == "interleaved":
        return np.stack([np.sin(theta), np.cos(theta)], axis=2).reshape(len(coordinates), dim)
    return np.concatenate([np.sin(theta), np.cos(theta)], axis=1)


def meshed(axes, layout, frequencies):
    def sinusoidal_2d(config, weights):
        assert config.dim % 4 == 0

        def forward(height, width):
            x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
            both = (x, y) if axes == "width-first" else (y, x)
            parts = [one_axis(c.reshape(-1), config.dim // 2, config.base, layout, frequencies) for c in both]
            table = np.concatenate(parts, axis=1).reshape(height, width, config.dim)
            return torch.from_numpy(table).to(config.device, config.dtype)

        return forward

    return sinusoidal_2d


def grid_declared(axes, layout, frequencies):
    return {"grid-axes": axes, "grid-layout": layout, "sinusoidal_2d": {"sinusoidal-frequencies": frequencies}}


@pytest.mark.parametrize(("axes", "layout", "frequencies"), GRIDS)
def test_every_declared_grid_conforms(axes, layout, frequencies):
    assert not failed("sinusoidal_2d", meshed(axes, layout, frequencies), grid_declared(axes, layout, frequencies))


@pytest.mark.parametrize(("axes", "layout", "frequencies"), GRIDS[1:])
def test_an_undeclared_grid_does_not_conform(axes, layout, frequencies):
    assert failed("sinusoidal_2d", meshed(axes, layout, frequencies), {})
