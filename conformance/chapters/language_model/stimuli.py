"""Language models as data: drawn from a case, changed, run, and computed by the reference.

In a case B is the batch, L the ids of a sample.
"""

import math
from dataclasses import asdict, replace

import torch
from torch import Tensor

from attnconf.adapters.contract import LanguageModelConfig
from attnconf.conformance.chapters.shared.layers import BIAS, endings, shape, style_of
from attnconf.conformance.chapters.shared.layers import encoder as stack
from attnconf.conformance.chapters.shared.placements import best_known, placements
from attnconf.conformance.chapters.transformer.stimuli import encoded, ids_of, plain_norms, silent, vocabulary
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import layer_weights
from attnconf.conformance.engine.translations.models import model_weights, padding_last
from attnconf.reference.language_model import capped, earlier, head_of, logits, through_layers

# -- the cases

SHAPE = replace(shape("ids({B}, {L}), {heads} heads of {head_width}, {hidden} hidden"), multiples={"head_width": 2})
USUAL = (SHAPE.case("language-1", B=3, heads=2, L=5, head_width=4, hidden=7),)
# heads of which a part has more than one pair of features, where only a part turns
WIDE = (SHAPE.case("language-wide-heads-1", B=3, heads=2, L=5, head_width=8, hidden=7),)
# one id, one sample, more ids than features
EDGES = (
    SHAPE.case("language-one-id-1", B=3, heads=2, L=1, head_width=4, hidden=7),
    SHAPE.case("language-one-sample-2", B=1, heads=2, L=5, head_width=4, hidden=7),
    SHAPE.case("language-long-3", B=4, heads=3, L=13, head_width=2, hidden=5),
)
# as many samples as ids
BATCHES = (SHAPE.case("language-batch-is-L-1", B=4, heads=2, L=4, head_width=6, hidden=7),)

CAP = 1.5  # about as large as logits are
POSITIONS = ("learned", "sinusoidal", "none")


def positions_of(subject: Subject) -> tuple[str, ...]:
    """Return what the subject can add to rows."""
    choice = subject.choice("added-positions")
    return POSITIONS if choice == "any" else (choice,)


def ties(subject: Subject) -> tuple[str, ...]:
    """Return the values of ``tying`` that the subject has; with one side only, "all" means the same as "head"."""
    choice = subject.choice("tying")
    return ("none", "head") if choice == "any" else ("none" if choice == "none" else "head",)


def biased(subject: Subject) -> tuple[bool, ...]:
    """Return the values of ``head_bias`` that the subject has."""
    return {"no": (False,), "yes": (True,), "any": (False, True)}[subject.choice("head-bias")]


def cap_of(subject: Subject) -> float | None:
    """Return the cap where it is written in the code."""
    choice = subject.choice("logit-cap")
    return None if choice in ("none", "given") else float(choice)


# -- drawing


def model(
    subject: Subject, case: Case, layers: int = 1, placement: str = "", final_norm: bool | None = None,
    tying: str = "", positions: str = "",
) -> Call:  # fmt: skip
    """Return a model in the subject's manner; of what it has several of, the first unless told otherwise."""
    block = stack(
        subject,
        case,
        placement or best_known(subject)[0],
        endings(subject)[0] if final_norm is None else final_norm,
        layers,
    )
    style = {name: value for name, value in asdict(block.config).items() if name != "causal"}
    config = LanguageModelConfig(
        **style, vocab_size=vocabulary(case), positions=positions or positions_of(subject)[0],
        scaled=subject.choice("embedding-scale") == "sqrt", tying=tying or ties(subject)[0],
        head_bias=biased(subject)[-1], softcap=cap_of(subject),
    )  # fmt: skip
    weights = {**block.weights, **ends(case, config)}
    call = Call(subject.component, config, weights, {"ids": ids_of(case, "ids", case.L)}, (), shape_of=as_the_ids)
    return call.shaped()


def ends(case: Case, config: LanguageModelConfig) -> dict[str, Tensor]:
    """Return the weights before and behind the layers."""
    size, width = config.vocab_size, config.embed_dim
    drawn = {"table.weight": case.draw("table.weight", size, width)}
    if config.positions == "learned":
        drawn["positions.weight"] = case.draw("positions.weight", config.max_len, width)
    if config.tying == "none":
        drawn["head.weight"] = case.draw("head.weight", size, width) / math.sqrt(width)
    if config.head_bias:
        drawn["head.bias"] = BIAS * case.draw("head.bias", size)
    return drawn


def as_the_ids(call: Call) -> tuple[int, ...]:
    """Return the shape of the output: a number for each id of the vocabulary, at each id that goes in."""
    return (*call.inputs["ids"].shape, call.config.vocab_size)


def models(subject: Subject, case: Case, layers: int = 1) -> list[Call]:
    """Return a model of each kind of positions and, beside the first, of each order of norms and each tying."""
    first, order, ending = positions_of(subject)[0], best_known(subject)[-1], endings(subject)[-1]
    found = [model(subject, case, layers, order, ending, positions=kind) for kind in positions_of(subject)]
    others = [name for name in placements(subject) if name != order]
    found += [model(subject, case, layers, name, endings(subject)[0], positions=first) for name in others]
    return found + [model(subject, case, layers, order, ending, tying, first) for tying in ties(subject)[1:]]


def in_rows(block: Call, rows: int) -> Call:
    """Return the model with so many positions as its longest sequence, the first of those that it has."""
    own = {name: w[:rows] for name, w in block.weights.items() if name == "positions.weight"}
    return block.with_config(max_len=rows).with_weights(own)


# -- changing


def transparent(subject: Subject, block: Call) -> Call:
    """Return the model with layers that add nothing, plain norms, and no bias of the head."""
    unbiased = {name: torch.zeros_like(w) for name, w in block.weights.items() if name == "head.bias"}
    return block.with_weights({**silent(block), **plain_norms(subject, block), **unbiased})


def uncapped(block: Call, out: Tensor) -> Tensor:
    """Return the logits that a cap, where there is one, has made these of."""
    cap = block.config.softcap
    return out if cap is None else cap * (out / cap).atanh()


# -- what is wanted


def placed(subject: Subject, block: Call) -> Tensor:
    """Return the vectors of a model's ids at their positions, (B, L, E), as declared."""
    c, ids, table = block.config, block.inputs["ids"], block.weights["table.weight"]
    x, length = (math.sqrt(c.embed_dim) if c.scaled else 1.0) * table[ids], ids.shape[1]
    if c.positions == "learned":
        return x + block.weights["positions.weight"][:length]
    return x + encoded(subject, length, c.embed_dim).to(x) if c.positions == "sinusoidal" else x


def wanted(subject: Subject, block: Call, order: Tensor | None = None) -> Tensor:
    """Return what the reference makes of the model in the declared conventions, differentiable.

    ``order``: that of the features while it is computed, which makes no difference but in rounding.
    """
    c = block.config
    order = torch.arange(c.embed_dim) if order is None else order
    weights = model_weights(layer_weights(block.weights, c, subject.choice), order.tolist())

    def compute(ids: Tensor, *, key_mask: Tensor | None = None) -> Tensor:
        x = placed(subject, block.with_inputs(ids=ids))[..., order]
        h = through_layers(x, weights, style_of(c), earlier(ids, key_mask))
        return capped(logits(h, head_of(weights), weights.get("head.bias")), c.softcap)

    counted = subject.choice("padded-positions") == "counted"
    return padding_last(compute, **block.inputs) if counted else compute(**block.inputs)
