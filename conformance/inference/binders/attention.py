"""Bind a class as multi-head attention: built, called and given weights so that it can be judged."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from types import FunctionType
from typing import Any

from torch import nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.adapters.generated.modules import registered
from attnconf.conformance.chapters.multi_head_attention.binding import APPEARANCES
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.inference.attention.family import quiet
from attnconf.conformance.inference.attention.finish import finish
from attnconf.conformance.inference.attention.readings import UNMADE, AttentionAttempts, of_form, otherwise
from attnconf.conformance.inference.building.building import Construction, as_module, run, space_for, with_dropout
from attnconf.conformance.inference.building.configurations import filled
from attnconf.conformance.inference.building.construction import build, constructions, for_each_length, lengths_of
from attnconf.conformance.inference.layers.state import uncovered
from attnconf.conformance.inference.masks.bias_tables import is_biased, with_table
from attnconf.conformance.inference.texts.attention_requests import (
    ONE,
    POWERS,
    SEVERAL,
    config_of,
    plain_certificate,
)
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.texts.offset_tables import may_be_offsets
from attnconf.conformance.inference.trials.angles import in_another_shape, in_every_shape
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.budgets import ATTENTIONS, CALLED_ALIKE
from attnconf.conformance.inference.trials.calling import Form, attention_forms
from attnconf.conformance.inference.trials.claims import claims_normed, claims_unscaled
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.proving import Prover, Reading, Trial, in_order, nearest_first
from attnconf.conformance.inference.weights.function_forms import functional, of_arrays
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings

TABLE = APPEARANCES["multi_head_attention"].sizes
TOO_MANY = 5  # times as many weights as attention has, which is more than a whole projection for each head: a model


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class as multi-head attention, or what stands against it."""
    attempts = AttentionAttempts()
    prover = Prover[AttentionText](place, attempts)
    proof = prover.certified(_proposals(place, prover, attempts))
    if proof := proof or prover.mistaken(_compared(prover.ran), partial(_is_one, place)):
        return finish(place, proof.hypothesis, sizes_of(proof.hypothesis), proof.certified)
    guess = prover.ran[0].hypothesis if prover.ran else next(iter(attempts.partial), None)
    if guess is None:
        return prover.refusal("it can be neither built nor called as attention")
    if prover.ran and "functional(" in guess.made.text and place.lent_by == "numpy_arrays.in_arrays":
        return Refusal("which of its arrays is which weight was not found: NumPy has no derivatives to tell it by")
    if prover.ran and wide_heads(place, guess):
        return Refusal("each of its heads is as wide as the model, while heads here share that width: it is not judged")
    return finish(place, guess, sizes_of(guess), None)


def _compared(trials: Sequence[Trial[AttentionText]]) -> Iterator[Trial[AttentionText]]:
    """Yield what is compared with known mistakes: in the order of likelihood, then what is nearest to the textbook."""
    first = list(in_order(trials, AttentionText.ambiguity))
    yield from first
    yield from (trial for trial in (nearest_first(trials) if trials else ()) if trial not in first)


def _proposals(
    place: Place, prover: Prover[AttentionText], attempts: AttentionAttempts
) -> Iterator[list[Reading[AttentionText]]]:
    """Yield what the class may be, but what another text that ran leaves no room for."""
    for text in islice(texts(place, attempts), ATTENTIONS):
        ran = [trial.hypothesis for trial in prover.ran if not trial.hypothesis.supposed]
        if any(_left_out(one, text) for one in ran):
            continue
        if text.supposed or sum(_called_alike(one, text) for one in ran) < CALLED_ALIKE:
            yield [Reading(text, plain_certificate(text, sizes_of(text)))]


def _is_one(place: Place, mistake: Mutant, text: AttentionText) -> bool:
    """Return whether a mistake is one: not that we took queries for keys where their names do not say which.

    Nor is it one that the number of heads is a constant, where nobody can ask for another, that a memory has no effect
    where no name says that there is one, that scores are not divided where the file says so, as T5 has it, or that they
    are cosines where it says that queries and keys are normalised.
    Nor is any one where biases have to be handed in beside a table of them: T5's first layer makes those of all.
    Nor is any one where a function is handed tensors beside the projections: what they do is not known.
    """
    if "functional(" in text.made.text and _beside(place, text):
        return False
    memory = [slot for role in ("key", "value", "memory") for slot in text.form.of(role)]
    if mistake.id.partition("~")[0] == "MHA-memory-ignored" and not any(meanings(s.name, INPUTS) for s in memory):
        return False
    if mistake.id.startswith("MHA-heads-fixed") and "heads" not in text.made.given:
        return False
    handed_in = any(slot.required and re.search("bias", slot.name) for slot in text.form.slots)
    if handed_in and text.inside.get("positions-inside") == "relative-bias":
        return False
    if mistake.id.partition("~")[0] == "ATT-unscaled" and claims_unscaled(place.thing):
        return False
    if mistake.id.partition("~")[0] == "ATT-cosine" and claims_normed(place.thing):
        return False
    return not (text.exchangeable and mistake.id.partition("~")[0] == "MHA-q-and-k-weights-swapped")


def _beside(place: Place, text: AttentionText) -> list[str]:
    """Return the parameters that get none of our weights."""
    try:
        module = build(place, text.made, config_of(sizes_of(text)[0]))
    except Failed:
        return []
    return uncovered(text.state, (), [name for name, _ in module.named_parameters()])


def _left_out(one: AttentionText, other: AttentionText) -> bool:
    """Return whether the other leaves out what one takes, and what is called a memory: whether it is read is judged.

    Not so where there is a table of biases, which T5 has for the tokens themselves alone.
    """
    if is_biased(other):
        return False
    memory = {slot.name for slot in one.form.of("memory") if "memory" in meanings(slot.name, INPUTS)}
    return one.made == other.made and bool(memory - {slot.name for slot in other.form.slots})


def _called_alike(one: AttentionText, other: AttentionText) -> bool:
    """Return whether two texts build the same and give it the same: inputs, and masks and flags if it insists.

    With positions of its own it is another thing, however it is called.
    """
    given, others = ((t.made, t.form, t.masks, t.flags, t.inside) for t in (one, other))
    return given == others


def wide_heads(place: Place, text: AttentionText) -> bool:
    """Return whether a projection makes as many features for each head as the model has."""
    config = config_of(sizes_of(text)[0])
    if config.num_heads == 1:
        return False
    try:
        module = build(place, text.made, config)
    except Failed:
        return False
    wide = config.num_heads * config.embed_dim
    shapes = [tuple(p.shape) for p in module.parameters()]
    return (wide, config.embed_dim) in shapes and (config.embed_dim, wide) in shapes


def sizes_of(text: AttentionText) -> tuple[tuple[int, int, int], ...]:
    return ONE if "heads" not in text.made.given else POWERS if text.powers else SEVERAL


def texts(place: Place, attempts: AttentionAttempts) -> Iterator[AttentionText]:
    """Yield what the class may be, the likeliest first."""
    for made in _makings(place):
        sizes = SEVERAL if "heads" in made.given else ONE
        config = config_of(sizes[0])
        space = space_for(config, place.module)
        try:
            whole, module = _built(place, made, space)
        except Failed as error:
            attempts.say(f"{made.text}: {error}")
            yield from _of_powers(place, made, attempts)
            continue
        if not isinstance(module, nn.Module):
            attempts.say(f"{place.name} is no torch.nn.Module")
            return
        whole = whole if "dropout" in whole.given else _with_dropout(whole, module, space)
        sizes = SEVERAL if "heads" in whole.given else ONE
        if "heads" in whole.given and "heads" not in made.given:  # said by a configuration
            config = config_of(sizes[0])
            space = space_for(config, place.module)
            module = attempt(partial(run, whole, space))
        there = len(list(module.parameters()))
        unregistered = len(list(registered(module).parameters())) > there
        if _weights_of(module) > TOO_MANY * 4 * config.embed_dim * max(config.embed_dim, _inner(config)):
            attempts.say(f"{place.name} has many more weights than attention")
            continue
        found = False
        for text in _of_construction(place, whole, module, config, attempts, unregistered):
            found = True
            yield text
        if found or not lengths_of(whole):
            continue
        anew = for_each_length(whole)
        with contextlib.suppress(Failed):
            module = attempt(partial(run, anew, space))
            for text in _of_construction(place, anew, module, config, AttentionAttempts(), unregistered):
                yield text.but(one_length=lengths_of(whole))


def _built(place: Place, made: Construction, space: dict[str, Any]) -> tuple[Construction, Any]:
    """Return a construction with its configurations written out, and what it builds. Raises Failed."""
    whole = attempt(partial(filled, made, TABLE, place.module, space))
    return as_module(whole, attempt(partial(run, whole, space)), space["config"].embed_dim)


def _of_powers(place: Place, made: Construction, attempts: AttentionAttempts) -> Iterator[AttentionText]:
    """Yield what the class may be where it is built with a power of two for its heads, which the first trial is not."""
    if "heads" not in made.given:
        return
    config = config_of(POWERS[0])
    space = space_for(config, place.module)
    try:
        whole, module = _built(place, made, space)
    except Failed:
        return
    if isinstance(module, nn.Module):
        whole = whole if "dropout" in whole.given else _with_dropout(whole, module, space)
        for text in _of_construction(place, whole, module, config, attempts, False):
            yield text.but(powers=True)


def _of_construction(
    place: Place,
    made: Construction,
    module: nn.Module,
    config: MultiHeadAttentionConfig,
    attempts: AttentionAttempts,
    unregistered: bool,
) -> Iterator[AttentionText]:
    """Yield what the class may be where it is built in one way, however it is called."""
    bare = config.num_heads > 1 and _projecting(module, config) == 3 * config.embed_dim * _inner(config)
    called: list[Form] = []
    for form in chain.from_iterable(map(in_every_shape, attention_forms(module))):
        if attempts.hopeless(form.called) or in_another_shape(form, called):
            continue
        ran = False
        for text in of_form(place, made, form, module, config, attempts, unregistered):
            ran = True
            called.append(form)
            if bare and not any("out." in entry for entry in text.state):
                yield text.but(projected=False)
            yield text
        if not ran:
            yield from otherwise(place, made, form, module, config, unregistered)


def _with_dropout(made: Construction, module: nn.Module, space: dict[str, Any]) -> Construction:
    """Return the construction such that dropout is what is asked for, where no argument is called so."""
    try:
        return attempt(partial(with_dropout, made, module, space))
    except Failed:
        return made


def _makings(place: Place) -> Iterator[Construction]:
    """Yield ways to build a class, or a module around a function that is handed its weights."""
    if isinstance(place.thing, FunctionType):
        return functional(place, TABLE)
    plain = constructions(place.name_in_text, place.thing, TABLE, place.module, place.part)
    every = (made for one in chain(of_arrays(place, TABLE), plain) for made in _quiet(place, one))
    return (made for one in every for made in with_table(place, one, config_of(SEVERAL[0])))


def _quiet(place: Place, made: Construction) -> Iterator[Construction]:
    """Yield a construction with the caps and scales that are set by default taken away, if there are any."""
    space = space_for(config_of(SEVERAL[0]), place.module)
    try:
        whole = attempt(partial(filled, made, TABLE, place.module, space))
    except Failed:
        whole = made
    ways = list(quiet(place, whole))
    yield from ways if ways[1:] else [made]


def _weights_of(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters() if not isinstance(p, UNMADE) and p.ndim > 1)


def _projecting(module: nn.Module, config: MultiHeadAttentionConfig) -> int:
    """Return how many weights there are, but for those of tables of offsets."""
    tables = [p for p in module.parameters() if may_be_offsets(p, config.head_dim)]
    return _weights_of(module) - sum(p.numel() for p in tables)


def _inner(config: MultiHeadAttentionConfig) -> int:
    return config.num_heads * config.head_dim
