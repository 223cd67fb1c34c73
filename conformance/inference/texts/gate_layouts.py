"""How the weights of a gate lie: alone, or in one parameter with the queries' projection."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.trial import same_numbers

WEIGHT = 'weights["gate.weight"]'
QUERIES = 'weights["q.{kind}"]'
HEADS = "config.num_heads"


@dataclass(frozen=True)
class Lies:
    """A parameter that has the weights of a gate, of each feature or of each head; ``fused``: beside the queries'."""

    name: str
    kind: str
    rows: int
    fused: bool


def gate_entry(gate: Lies, slope: Tensor, x: Tensor, heads: int) -> tuple[Tensor, str]:
    """Return the derivative by each row, (rows, embed), and the entry. Raises Failed where it is not one of x's.

    What comes out depends on a row of a gate through its product with x, so that the derivative is a multiple of x.
    """
    embed = len(x)
    for rows, turned in ((slope.reshape(-1, embed), ""), (slope.reshape(embed, -1).T, ".T")):
        along = rows @ x / x.square().sum()
        if same_numbers(along[:, None] * x, rows):
            text = _joined(along != 0, WEIGHT, "weight", heads) if gate.fused else WEIGHT
            return along, f'"{gate.name}": {text}{turned}'
    raise Failed("what it is multiplied with is not the query")


def bias_entry(gate: Lies, name: str, along: Tensor, slope: Tensor, x: Tensor, heads: int) -> str:
    """Return the entry of a gate's bias: 0, as the textbook has none. Raises Failed where it is added elsewhere."""
    if not same_numbers(slope.flatten(), along):
        raise Failed("its bias is not added to what it is of")
    zeros = 'torch.zeros_like(weights["gate.weight"][:, 0])'
    return f'"{name}": {_joined(along != 0, zeros, "bias", heads) if gate.fused else zeros}'


def _joined(gated: Tensor, gate: str, kind: str, heads: int) -> str:
    """Return the text of both in one; ``gated``: which rows are the gate's. Raises Failed where they are mixed."""
    queries, count = QUERIES.format(kind=kind), int(gated.sum())
    if bool(gated[-count:].all()):
        return f"torch.cat([{queries}, {gate}])"
    if bool(gated[:count].all()):
        return f"torch.cat([{gate}, {queries}])"
    by_head = gated.reshape(heads, -1)
    if not torch.equal(by_head, by_head[:1].expand_as(by_head)):
        raise Failed("the rows of a gate and of queries are mixed")
    both = [f"{one}.unflatten(0, ({HEADS}, -1))" for one in (queries, gate)]
    return f"torch.cat([{', '.join(both if not gated[0] else both[::-1])}], 1).flatten(0, 1)"
