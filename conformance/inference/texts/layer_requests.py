"""What a layer or model is tried on: cases of our own, drawn as the checks draw theirs, in declared conventions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS, TokenAttentionConfig
from attnconf.conformance.chapters.language_model.stimuli import model as language_model
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.placements import placements
from attnconf.conformance.chapters.transformer.stimuli import SHAPE, ids_of, model, vocabulary
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call, Request
from attnconf.conformance.engine.requirement import as_declared
from attnconf.conformance.inference.texts.layer_text import LayerText

FIRST = SHAPE.case("inference-1", B=2, heads=5, L=3, S=7, head_width=4, hidden=28)
SECOND = SHAPE.case("inference-2", B=3, heads=2, L=4, S=5, head_width=6, hidden=17)
SHARED = SHAPE.case("inference-shared", B=2, heads=6, L=4, S=5, head_width=4, hidden=28)


@dataclass(frozen=True)
class Manner:
    """What is declared, as a check's subject tells it."""

    component: str
    declares: Mapping[str, str] = field(default_factory=dict)

    def choice(self, convention: str) -> str:
        return self.declares.get(convention, CONVENTIONS[convention][0])


def request(
    component: str, declares: Mapping[str, str], case: Case, layers: tuple[int, int],
    masks: Mapping[str, Tensor] | None = None, causal: bool = False,
) -> Request:  # fmt: skip
    """Return one call of a component in declared conventions."""
    block = block_of(component, declares, case, layers)
    if causal and hasattr(block.config, "causal"):
        block = block.with_config(causal=True)
    return block.with_inputs(**(masks or {})).asked()


def block_of(component: str, declares: Mapping[str, str], case: Case, layers: tuple[int, int]) -> Call:
    """Return a component in declared conventions."""
    return _block(component, tuple(sorted(declares.items())), case, layers)


def plain_requests(text: LayerText) -> list[Request]:
    """Return calls without masks, in two sizes; of one target each where the caller has to bring the causal mask."""
    causal = text.declares.get("causality") == "always"
    short = {"L": 1} if text.decodes and not text.causal_always and text.may_be_masked else {}
    return [
        request(text.component, text.declares, case.but(**short), layers, causal=causal)
        for case, layers in ((FIRST, (2, 2)), (SECOND, (3, 3)))
    ]


@cache
def _block(component: str, declares: tuple[tuple[str, str], ...], case: Case, layers: tuple[int, int]) -> Call:
    manner: Any = Manner(component, dict(declares))
    case = as_declared(case, manner)
    final, norm_first = blocks.endings(manner)[0], dict(declares).get("norm-order") == "pre"
    placement = placements(manner)[0]
    known = COMPONENTS[component]
    if not known.layered:
        return _token_attention(manner, case)
    if "source" in known.attends:
        return model(manner, case, layers, norm_first)
    if known.reads_ids:
        return language_model(manner, case, layers[0], placement, final)
    if known.stacked:
        if known.decodes:
            return blocks.decoder(manner, case, norm_first, final, layers[1])
        return blocks.encoder(manner, case, placement, final, layers[0])
    if known.decodes:
        return blocks.decoder_layer(manner, case, norm_first)
    return blocks.encoder_layer(manner, case, placement)


def _token_attention(manner: Manner, case: Case) -> Call:
    width = case.width
    config = TokenAttentionConfig(vocabulary(case), width, case.heads, causal=manner.choice("causality") == "always")
    weights = blocks.draw_attention(case, "attn", bias=True)
    weights["table.weight"] = case.draw("table.weight", config.vocab_size, width)
    ids = ids_of(case, "source", case.L)
    return Call(manner.component, config, weights, {"ids": ids}, (*ids.shape, width))


# -- masks


def mask(component: str, which: str, case: Case, general: bool, shared: bool, first_ones: bool) -> dict[str, Tensor]:
    """Return a mask for one attention; ``general``: of queries and keys; ``shared``: by all samples."""
    lengths = {"x": case.L, "ids": case.L, "target": case.L, "memory": case.S, "source": case.S}
    query, key, keyword = COMPONENTS[component].attends[which]
    L, S = lengths[query], lengths[key]
    if general:
        seen = (torch.arange(case.B * L * S).reshape(case.B, 1, L, S) * 7919 % 11) > 4
        seen = seen | torch.eye(L, S, dtype=torch.bool)
        return {"attn_mask": seen[:1].expand(case.B, -1, -1, -1) if shared else seen}
    keys = torch.arange(S) < torch.tensor([S - b % (S - 1) for b in range(case.B)])[:, None]
    if not first_ones:
        for b in range(case.B):
            keys[b, (2 * b + 1) % S] = False
            keys[b, S - 1] = b % 2 == 0
        keys[:, 0] = True
    if bool(keys[0].all()):
        keys = keys.flip(0)
    return {keyword: keys}
