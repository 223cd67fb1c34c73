"""Learning: an implementation, as it is plugged in, is trained on small tasks, by nothing but outputs and gradients.

A sequence of tokens is followed by as many places to fill in, so that causal implementations can do it as well. Every
token is two ids, whose rows are summed: a word, and, for recall, what goes with it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.progress import watched
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.sinusoidal import encode

WORDS = 8
LENGTH = 5  # words, and places
BATCH = 32  # sequences in a step
STEPS = 200  # of an encoder
TRANSLATING_STEPS = 400  # of a Transformer, which has tables and a head of its own to train
RATE = 0.01  # of Adam, after 20 steps; it falls to 0 like a cosine
TESTED = 512  # sequences
LEARNED = 0.95  # of the words on these; the lowest seen of right encoders and Transformers is 0.985
BLANK = 2 * WORDS  # the id of what is to be filled in, and of nothing
UNSCORED = -100  # cross_entropy leaves it out

Batch = tuple[Tensor, Tensor]  # ids (B, T, 2), targets (B, T)
Task = Callable[[int, torch.Generator], Batch]
Params = dict[str, Tensor]


# -- tasks


def _fill_in(words: Tensor, beside: Tensor, asked: Tensor, targets: Tensor) -> Batch:
    blank = torch.full_like(asked, BLANK)
    ids = torch.cat([torch.stack([words, beside], dim=-1), torch.stack([asked, blank], dim=-1)], dim=1)
    return ids, torch.cat([torch.full_like(words, UNSCORED), targets], dim=1)


def _alone(words: Tensor, targets: Tensor) -> Batch:
    blank = torch.full_like(words, BLANK)
    return _fill_in(words, blank, blank, targets)


def _words(count: int, chance: torch.Generator) -> Tensor:
    return torch.randint(WORDS, (count, LENGTH), generator=chance)


def copy(count: int, chance: torch.Generator) -> Batch:
    """Say the words again."""
    words = _words(count, chance)
    return _alone(words, words)


def reverse(count: int, chance: torch.Generator) -> Batch:
    """Say the words backwards."""
    words = _words(count, chance)
    return _alone(words, words.flip(1))


def sort(count: int, chance: torch.Generator) -> Batch:
    """Say the words in order."""
    words = _words(count, chance)
    return _alone(words, words.sort(dim=1).values)


def recall(count: int, chance: torch.Generator) -> Batch:
    """Every word comes with another; say, for each word, which."""
    words = torch.rand(count, WORDS, generator=chance).argsort(dim=1)[:, :LENGTH]
    beside = _words(count, chance)
    order = torch.rand(count, LENGTH, generator=chance).argsort(dim=1)
    return _fill_in(words, WORDS + beside, words.gather(1, order), beside.gather(1, order))


def guess(count: int, chance: torch.Generator) -> Batch:
    """Say the next word, which nobody can know."""
    words = torch.randint(WORDS, (count, 2 * LENGTH + 1), generator=chance)
    return torch.stack([words[:, :-1], torch.full_like(words[:, 1:], BLANK)], dim=-1), words[:, 1:]


# -- training


@dataclass(frozen=True)
class Model:
    """An encoder between a table of ids and a head, with or without positions."""

    subject: Subject
    block: Call
    places: bool

    def enter(self, ids: Tensor, table: Tensor) -> Tensor:
        """Return the sums of rows, (B, T, E), with positions added."""
        x = table[ids].sum(dim=-2)
        return x + encode(torch.arange(ids.shape[1]), x.shape[-1]).to(x) if self.places else x

    def leave(self, ids: Tensor, params: Params) -> Tensor:
        """Return the encoder's output."""
        return run(self.subject, self._block(self.enter(ids, params["table"]), params)).out

    def grads(self, batch: Batch, params: Params) -> Params:
        """Return the gradients of the loss with respect to all parameters."""
        ids, targets = batch
        table, head = (params[name].clone().requires_grad_() for name in ("table", "head"))
        x = self.enter(ids, table)
        out = self.leave(ids, params).requires_grad_()
        loss = cross_entropy((out @ head.T).flatten(0, 1), targets.flatten(), ignore_index=UNSCORED)
        cotangent, of_head = torch.autograd.grad(loss, [out, head])
        names = tuple(self.block.weights)
        reply = run(self.subject, self._block(x.detach(), params), cotangent=cotangent, wrt=(*names, "x"))
        (of_table,) = slopes([(x, reply.grads["x"])], [table])
        return {**{name: reply.grads[name] for name in names}, "table": of_table, "head": of_head}

    def _block(self, x: Tensor, params: Params) -> Call:
        return replace(
            self.block, weights={name: params[name] for name in self.block.weights}, inputs={"x": x}
        ).shaped()


def begin(weights: Mapping[str, Tensor]) -> Params:
    """Return the parameters that training begins with: drawn matrices at half their size, gains 1, biases 0."""
    begun = {name: w / 2 for name, w in weights.items()}
    for name, w in weights.items():
        if w.ndim == 1:
            begun[name] = torch.ones_like(w) if name.endswith(".weight") else torch.zeros_like(w)
    return begun


def unseen(task: Task, case: Case) -> Batch:
    """Return sequences that are not trained on."""
    return _on(task(TESTED, torch.Generator().manual_seed(1_000_000 + case.seed)), case)


def accuracy_of(subject: Subject, case: Case, block: Call, task: Task, places: bool = True) -> float:
    """Return the share of right words on sequences that were not trained on, after training."""
    model = Model(subject, block, places)
    width = block.config.embed_dim
    ends = {"table": case.draw("table", BLANK + 1, width), "head": torch.zeros(WORDS, width, device=case.device)}
    params = {**begin(block.weights), **ends}
    params = learn(params, lambda batch, now: model.grads(batch, now), task, case, subject)
    ids, targets = unseen(task, case)
    words = (model.leave(ids, params) @ params["head"].T).argmax(dim=-1)
    return share(words, targets)


def share(words: Tensor, targets: Tensor) -> float:
    """Return how many of the targets that count are hit."""
    scored = targets != UNSCORED
    return float((words == targets)[scored].double().mean())


def learn(
    params: Params, grads_of: Callable[[Batch, Params], Params], task: Task, case: Case, subject: Subject,
    steps: int = STEPS,
) -> Params:  # fmt: skip
    """Return the parameters after Adam. Of the calls, the log keeps those of the first step and those that follow."""
    params = {name: p.clone() for name, p in params.items()}
    optimizer = torch.optim.Adam(params.values(), betas=(0.9, 0.98))
    chance = torch.Generator().manual_seed(case.seed)
    for step in watched(range(steps), f"{subject.implementation.name} learns to {task.__name__}"):
        kept = len(subject.log)
        grads = grads_of(_on(task(BATCH, chance), case), params)
        for name, p in params.items():
            p.grad = grads[name]
        torch.nn.utils.clip_grad_norm_(params.values(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / 20) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        optimizer.step()
        if step:
            del subject.log[kept:]
    return {name: p.detach() for name, p in params.items()}


def _on(batch: Batch, case: Case) -> Batch:
    return batch[0].to(case.device), batch[1].to(case.device)


# -- a Transformer, from ids to logits


def translated_accuracy(subject: Subject, case: Case, block: Call, task: Task) -> float:
    """Return the share of right words, each said after the right ones before it, on sources not trained on.

    ``block``: a Transformer whose vocabulary has more ids than there are words; the first of these begins a target.
    """
    params = begin(block.weights)
    for name in set(params) & {"source.weight", "target.weight", "head.weight"}:  # rows are multiplied by √E, going in
        params[name] = params[name] / math.sqrt(block.config.embed_dim) * 2
    params = learn(
        params, lambda batch, now: _translating(subject, block, batch, now), task, case, subject, TRANSLATING_STEPS
    )
    ids, targets = unseen(task, case)
    return share(run(subject, _reading(block, ids, targets, params)).out.argmax(dim=-1), targets[:, LENGTH:])


def _reading(block: Call, ids: Tensor, targets: Tensor, params: Params) -> Call:
    """Return the block with its inputs: words, and what is to be said, one place late."""
    said = targets[:, LENGTH:-1]
    begun = torch.cat([torch.full_like(said[:, :1], WORDS), said], dim=1)
    return replace(block, weights=params, inputs={"source": ids[:, :LENGTH, 0], "target": begun}).shaped()


def _translating(subject: Subject, block: Call, batch: Batch, params: Params) -> Params:
    """Return the gradients of the loss with respect to all weights."""
    reading = _reading(block, *batch, params)
    out = run(subject, reading).out.requires_grad_()
    loss = cross_entropy(out.flatten(0, 1), batch[1][:, LENGTH:].flatten())
    (cotangent,) = torch.autograd.grad(loss, [out])
    return dict(run(subject, reading, cotangent=cotangent, wrt=tuple(params)).grads)
