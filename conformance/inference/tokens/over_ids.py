"""What embeds ids, where only a part of it is judged: its rows, or its layers on vectors. Laws that the whole keeps.

Positions are set aside there. Whatever they are, a sample does not depend on the others of its batch, nor a call on
those before it; and they begin where the file says.
"""

import ast
import copy
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.contract import SinusoidalConfig
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.engine.translate import in_conventions, others_than
from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.state.kept_by_models import handed_text
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.tokens.padding_id import says_zero_is_padding
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import FROM_ONE, claims_from_zero, claims_ids_batch_first
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import drawn, reply, same_numbers, textbook
from attnconf.conformance.inference.words.vocabulary import SIZES
from attnconf.conformance.source.syntax import tree_of

Ids = Mapping[str, Tensor]  # by argument
Output = Callable[[nn.Module, Ids], Tensor]  # for ids (B, L): of tokens, (B, L, …); raises Failed
MIXED = "a sample of ids comes out otherwise among others than alone: what it gets depends on its place in the batch"
KEPT = "ids come out otherwise after other ids of the same shape: what a call makes of its ids is kept for the next"
COUNTS = "id 0 is padding, and tokens come out otherwise with padding behind them than without: some part sees it"
TOKENS, LONGER = 6, 2  # of a sequence of ids; how many more a source has
SAMPLES = 3
INPUTS = {"x", "ids", "source", "target", "memory"}  # roles of what a model may want
IDS = 5  # of a small vocabulary, the first perhaps padding
FIRST_ROWS = 3  # positions that the first token may have


def of_layers(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return words on the laws that a model breaks that takes ids; none of what takes vectors.

    Where vectors are handed in behind its tables, it is asked as it stands.
    """
    inner = handed_text(text.made.text) or (text.made.text if text.known.reads_ids else "")
    wanted = [slot for slot in text.form.slots if slot.required]
    if not inner or "raw=" in text.made.text or not {slot.role for slot in wanted} <= INPUTS:
        return ()
    places = _places(text.made.text)
    lengths = {slot.name: TOKENS + LONGER * (slot.role in ("source", "memory")) for slot in wanted}
    vectors = {name for name in lengths if places and name not in places}
    padded = set(lengths) - vectors
    made, told = _with_padding(Construction(inner, text.made.before))
    width = getattr(config, "embed_dim", 0)
    inputs = Inputs(lengths, vectors, padded if told or says_zero_is_padding(place) else (), width)
    embedded = partial(_embedded, next(iter(places.values()))) if places else None
    there = dict(vars(place.module))
    try:
        module = attempt(partial(run, made, space_for(config, place.module)))
        return tuple(broken(place, module.double().eval(), inputs, _logits, embedded))
    except (Failed, RuntimeError, TypeError, ValueError):
        return ()
    finally:
        vars(place.module).update(there)


def _with_padding(made: Construction) -> tuple[Construction, bool]:
    """Return a construction with id 0 for its padding, where it was told to have none; and whether it is told any."""
    entry = re.compile(rf"""\b((?:theirs\.)?(?:{SIZES["padding"]})["']?\s*[=:]\s*)(-1|0)\b""", re.IGNORECASE)
    told = any(entry.search(line) for line in (made.text, *made.before))
    before = tuple(entry.sub(r"\g<1>0", line) for line in made.before)
    return replace(made, text=entry.sub(r"\g<1>0", made.text), before=before), told


def of_rows(place: Place, module: nn.Module, argument: str, out: str) -> tuple[str, ...]:
    """Return words on the laws that an embedding with positions breaks; ``out`` reads its ``result``."""

    def read(whole: nn.Module, ids: Ids) -> Tensor:
        result = _called(whole, ids)
        return torch.as_tensor(eval(out, {"result": result}))

    try:
        return tuple(broken(place, module.double().eval(), Inputs({argument: TOKENS}), read, read))
    except (Failed, RuntimeError, TypeError, ValueError):
        return ()


@dataclass(frozen=True)
class Inputs:
    """How many tokens each argument gets; which get vectors of some width, and which may end in padding, id 0."""

    lengths: Mapping[str, int]
    vectors: Collection[str] = ()
    padded: Collection[str] = ()
    width: int = 0

    def drawn(self, which: int) -> dict[str, Tensor]:
        """Return the inputs by argument; of ids, the first stands at the end of a sample, another one each time."""
        found = {}
        for name, length in self.lengths.items():
            x = (torch.arange(SAMPLES * length).reshape(SAMPLES, length) * 7 + which) % (IDS - 1) + 1
            x[which, -2:] = 0
            found[name] = drawn(f"{name} {which}", SAMPLES, length, self.width) if name in self.vectors else x
        return found


def broken(place: Place, module: nn.Module, inputs: Inputs, out: Output, embedded: Output | None) -> Iterator[str]:
    """Yield words on the laws that a module breaks; ``embedded``: its vectors of tokens, before it attends to any.

    Raises Failed where it does not run.
    """
    one, other = inputs.drawn(0), inputs.drawn(1)
    whole = out(copy.deepcopy(module), one)
    if whole.shape[:2] not in {x.shape[:2] for x in one.values()}:
        return
    axes = (0,) if claims_ids_batch_first(place.thing) else (0, 1)
    if not any(_apart(module, one, whole, out, axis) for axis in axes):
        yield MIXED
    served = copy.deepcopy(module)
    out(served, other)
    if not _same(out(served, one), whole):
        yield KEPT
    if inputs.padded and _padding_counts(module, one, inputs.padded, out):
        yield COUNTS
    if embedded is not None and claims_from_zero(place) and _first_position(module, one, embedded) == 1:
        yield FROM_ONE


def _apart(module: nn.Module, ids: Ids, whole: Tensor, out: Output, axis: int) -> bool:
    """Return whether each sample alone comes out as it does among the others, where ``axis`` counts the samples."""
    for b in range(whole.shape[axis]):
        alone = {name: x.narrow(axis, b, 1) for name, x in ids.items()}
        try:
            if not _same(out(copy.deepcopy(module), alone), whole.narrow(axis, b, 1)):
                return False
        except Failed:  # of one sample it may say nothing
            return True
    return True


def _padding_counts(module: nn.Module, ids: Ids, padded: Collection[str], out: Output) -> bool:
    """Return whether tokens come out otherwise with padding behind them than without, where some part hides it.

    Where none does, id 0 is one like the others: with the same rows in all tables, it gives the same as another one.
    """
    plain = {name: x if x.is_floating_point() else x.clamp(min=1) for name, x in ids.items()}
    ends = [{n: nn.functional.pad(x, (0, LONGER), value=end) if n in padded else x for n, x in plain.items()}
            for end in (0, IDS - 1)]  # fmt: skip
    alike = copy.deepcopy(module)
    with torch.no_grad():
        for table in alike.parameters():
            if table.ndim == 2 and len(table) >= IDS:
                table[0] = table[IDS - 1]
    given, other = (out(copy.deepcopy(alike), x) for x in ends)
    whole = out(copy.deepcopy(alike), plain)
    if whole.shape[:2] not in {x.shape[:2] for x in plain.values()} or _same(given, other):
        return False
    return not _same(given[:, : whole.shape[1]], whole)


def _first_position(module: nn.Module, inputs: Ids, embedded: Output) -> int | None:
    """Return the position of the first token, by sinusoids or by a row of a table; None where it is not seen."""
    alike = {name: x if x.is_floating_point() else torch.full_like(x[:1], 2) for name, x in inputs.items()}
    rows = embedded(copy.deepcopy(module), alike)[0]
    for declares in [{}, *others_than("sinusoidal", {})]:
        if not {"sinusoidal-output", "sinusoidal-offset"} & declares.keys():
            at = _of_sinusoids(rows - rows[0], declares)
            if at is not None:
                return at
    found = {row for name, table in module.named_parameters() if table.ndim > 1 and table.shape[-2] >= TOKENS
             for row in range(FIRST_ROWS) if _alone_depends(module, name, row, alike, embedded)}  # fmt: skip
    return found.pop() if len(found) == 1 else None


def _of_sinusoids(rows: Tensor, declares: Mapping[str, str]) -> int | None:
    """Return which position rows (L, D) begin with, if they are sinusoids, less those of the first, times anything."""
    length, dim = rows.shape
    if dim % 2:
        return None
    x = rows.new_zeros(1, length + FIRST_ROWS, dim)
    asked = Request("sinusoidal", SinusoidalConfig(dim, dtype=rows.dtype), {}, {"x": x}, tuple(x.shape))
    table = reply(in_conventions(textbook(), dict(declares)), asked)
    if isinstance(table, Failure):
        return None
    for at in range(FIRST_ROWS):
        want = table.out[0, at : at + length] - table.out[0, at]
        if same_numbers(rows, want * ((rows * want).sum() / want.square().sum())) and bool(rows.any()):
            return at
    return None


def _alone_depends(module: nn.Module, name: str, row: int, inputs: Ids, embedded: Output) -> bool:
    """Return whether the first token, and it alone, depends on a row of a table."""
    other = copy.deepcopy(module)
    with torch.no_grad():
        table = other.get_parameter(name)
        table[..., row, :] += torch.arange(table.shape[-1]) % 3 + 1.0
    moved = (embedded(other, inputs) - embedded(copy.deepcopy(module), inputs))[0].flatten(1).any(1)
    return bool(moved[0]) and not bool(moved[1:].any())


def _embedded(place: str, module: nn.Module, inputs: Ids) -> Tensor:
    """Return the vectors at a place of a module, "input of NAME" or "output of NAME". Raises Failed."""
    which, _, name = place.partition(" of ")
    seen: list[Tensor] = []

    def note(part: nn.Module, args: Any, output: Any = None) -> None:
        seen.extend(x for x in tree_leaves(args if which == "input" else output)
                    if isinstance(x, Tensor) and x.ndim == 3 and x.is_floating_point())  # fmt: skip

    part = module.get_submodule(name)
    _ = part.register_forward_pre_hook(note) if which == "input" else part.register_forward_hook(note)
    _called(module, inputs)
    if not seen:
        raise Failed("no vectors are seen")
    return seen[0].detach()


def _same(one: Tensor, other: Tensor) -> bool:
    return same_numbers(one.nan_to_num(), other.nan_to_num())


def _called(module: nn.Module, ids: Ids) -> Any:
    def call() -> Any:
        with torch.no_grad():
            return module(**{k: v.clone() for k, v in ids.items()}) if "" not in ids else module(ids[""].clone())

    return attempt(call)


def _logits(module: nn.Module, ids: Ids) -> Tensor:
    """Return the first output of a model. Raises Failed where there is none."""
    found = [x for x in tree_leaves(_called(module, ids)) if isinstance(x, Tensor) and x.is_floating_point()]
    if not found or found[0].ndim < 2:
        raise Failed("no output")
    return found[0].detach()


def _places(text: str) -> dict[str, str]:
    """Return where vectors are put in, by argument, as the call ``handed(…)`` in a construction's text says."""
    calls = (n for n in ast.walk(tree_of(text)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "handed")
    return next((ast.literal_eval(c.args[1]) for c in calls), {})
