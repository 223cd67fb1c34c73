"""Which of what a file has is judged: what helps something else is judged with that."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.chapters.shared.appearance import POSITIONS
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.finding.candidates import Candidate
from attnconf.conformance.inference.finding.choosing import chooses
from attnconf.conformance.inference.finding.hints import named
from attnconf.conformance.inference.finding.layer_kinds import ACTIVATES
from attnconf.conformance.inference.finding.mask_files import makes_masks
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings
from attnconf.conformance.source.signatures import parameters_of

FACTORY = r"(make|build|create|get|select)_"  # gives one of several, and computes nothing
SHOWN = 160  # characters of a reason


def kind_of(component: str) -> str:
    """Return what a component counts as: what makes tables for a rotation is no encoding of its own."""
    return appearances()[component].kind or component


def far_fetched(candidate: Candidate, component: str) -> bool:
    """Return whether something that its name says to be something else is taken for attention or for an encoding.

    What its inputs and its code say together, attention with positions of its own, is not far-fetched.
    """
    if component == "multi_head_attention":
        layer = candidate.components[0] in ("encoder_layer", "encoder", "decoder_layer", "decoder", "transformer")
        return layer and (is_whole_layer(candidate) or not re.search(r"(?i)att|mha|msa|head", candidate.name))
    if component.endswith("_attention"):
        return False
    kinds = {kind_of(c) for c in candidate.components}
    return kind_of(component) == POSITIONS and kinds != {POSITIONS} and not named(candidate.name)


def is_whole_layer(candidate: Candidate) -> bool:
    """Return whether something that is called a layer or a block has the parts of one: norms and a network."""
    named_so = re.search(r"(?i)(layer|block)$", candidate.name) is not None
    code = names_read(candidate.thing)
    normed = any("norm" in name.lower() for name in code)
    return named_so and normed and bool(code & ACTIVATES - {"sigmoid", "tanh", "clamp"})


def helps(candidate: Candidate, user: Bound, found: list[Candidate]) -> bool:
    """Return whether something is judged with what uses it: it is of one kind with that, or that equals the textbook.

    Attention is judged by itself as well: its laws are not asked of what is built from it. T5's is not, which has
    neither a scale nor, in most layers, the bias that it is handed.
    """
    if takes_more(candidate.thing, user):
        return False
    kind = kind_of(user.draft.component)
    uses = next(c.uses for c in found if c.name == user.place.name)
    used = candidate.name in uses or f"theirs.{candidate.name}(" in user.draft.body
    body = user.draft.body
    apart = "handed(" in body or ("# its positions" in body and "def sinusoidal(" not in body)
    if used and apart and kind_of(candidate.components[0]) == POSITIONS:
        return False  # vectors are handed in behind them, or they are subtracted
    said = user.draft.declares
    of_t5 = "score-bias" in said and said.get("attention-scale") == "none"
    if used and user.certified == "reference" and (of_t5 or candidate.components[0] != "multi_head_attention"):
        return True
    return used and all(kind_of(c) == kind for c in candidate.components)


def takes_more(thing: Any, user: Bound) -> bool:
    """Return whether a function takes a mask where attention that uses it is causal always, and takes none itself."""
    said = user.draft.declares
    narrow = user.draft.component == "attention" and said.get("causality") == "always" and "mask" not in said
    masked = (m for p in parameters_of(thing) for m in meanings(p.name, INPUTS))
    return narrow and isinstance(thing, FunctionType) and "mask" in masked


def is_part(b: Bound, user: Bound, uses: Collection[str]) -> bool:
    """Return whether something is handed to the constructor of what equals the textbook with it.

    Attention that projects no output is a part of what does: as such it is judged. So is what makes the angles that
    attention, or a layer, is handed in its calls, whatever that is then.
    """
    makes = kind_of(b.draft.component) == POSITIONS and f"=theirs.{b.place.name}(" in user.draft.body.replace("=(", "=")
    if makes and kind_of(user.draft.component) != POSITIONS:
        return True
    if user.certified != "reference":
        return False
    if b.draft.component == "multi_head_attention":
        return 'weights["out.' not in b.draft.body and b.place.name in uses
    return f"theirs.{b.place.name}(" in user.draft.body


def without_helpers(bound: list[Bound], found: Mapping[str, Candidate]) -> list[Bound]:
    """Return the bindings without those of helpers: what another one of its kind uses is judged with that.

    What nothing certifies, and neither name nor inputs tell, is none where there is something better.
    """
    kept = []
    for b in bound:
        kind = kind_of(b.draft.component)
        others = [o for o in bound if o is not b and kind_of(o.draft.component) == kind]
        others = [o for o in others if not takes_more(b.place.thing, o)]
        used = any(b.place.name in found[o.place.name].uses for o in others)
        written = any(f"theirs.{b.place.name}(" in o.draft.body for o in others)
        uncertain = b.certified is None and found[b.place.name].weak and len(bound) > 1
        simple = found[b.place.name].weak or isinstance(b.place.thing, FunctionType)
        elsewhere = any(b.place.name in c.uses for c in found.values() if c.name != b.place.name)
        helper = b.certified is None and simple and elsewhere
        if not (used or written or uncertain or helper):
            kept.append(b)
    return kept or bound[:1]


def made_of_parts(candidate: Candidate, b: Bound) -> bool:
    """Return whether a class is handed parts of the file that a binding has made of sizes, as nobody else need do."""
    made = re.search(rf"theirs\.{candidate.name}\((.*)", b.draft.body)
    return (
        candidate.name == b.place.name and made is not None and "theirs." in made[1].partition(", config, weights")[0]
    )


def is_handed(candidate: Candidate, bound: Collection[Bound]) -> bool:
    """Return whether a function is handed an object of a class that is judged, as its annotations say: it is its user.

    Nobody can call it without such an object.
    """
    if not isinstance(candidate.thing, FunctionType):
        return False
    kinds = {getattr(p.annotation, "__name__", str(p.annotation)) for p in parameters_of(candidate.thing)}
    return any(b.place.name in kinds for b in bound)


def is_helper_of_refused(b: Bound, refused: list[tuple[Candidate, str]]) -> bool:
    """Return whether nothing certifies something that is used by what cannot be judged: that is at fault."""
    users = [c.name for c, _ in refused if not c.weak and c.name != b.place.name]
    return b.certified is None and any(b.place.name in reads(name, b.place.module) for name in users)


def with_parts(bound: list[Bound], found: list[Candidate]) -> list[Bound]:
    """Return the bindings, each with the classes that it is made of and that are judged as a part of it only."""
    judged = {b.place.name for b in bound}
    classes = [c for c in found if isinstance(c.thing, type) and not c.weak and c.name not in judged]
    used = {b.place.name: reads(b.place.name, b.place.module) for b in bound}
    return [
        replace(b, parts=tuple(f"{c.name}@{c.components[0]}" for c in classes if c.name in used[b.place.name]))
        for b in bound
    ]


def with_users(bound: list[Bound], refused: list[tuple[Candidate, str]]) -> list[Bound]:
    """Return the bindings, each with what its file builds of it and cannot be judged: that is not cut out silently.

    What uses nothing that is bound says nothing of it, nor does what only looks like a component.
    """
    reached = {b.place.name: reads(b.place.name, b.place.module) for b in bound}
    found = []
    for b in bound:
        users = [
            (c.name, reason)
            for c, reason in refused
            if not c.weak and not gives_one(c) and b.place.name in reads(c.name, b.place.module)
            and not any(c.name in names for names in reached.values())
        ]  # fmt: skip
        words = tuple(f"{name}, which uses it, cannot be judged: {reason[:SHOWN]}" for name, reason in users)
        found.append(replace(b, open_ends=(*b.open_ends, *words)) if words else b)
    return found


def with_neighbours(bound: list[Bound], refused: list[tuple[Candidate, str]]) -> list[Bound]:
    """Return the bindings, each with what its file offers of the same kind and cannot be judged: it is not passed over.

    A stack is of one kind with its layers. What makes masks is none of attention, whatever its name says.
    """
    found = []
    for b in bound:
        others = [
            f"{c.name} cannot be judged: {reason[:SHOWN]}"
            for c, reason in refused
            if not (c.weak or chooses(c.thing) or makes_masks(c.name, c.thing))
            and family(b.draft.component) == family(c.components[0])
            and not any(_goes_with(c, o) for o in bound)
            and not any(words.startswith(f"{c.name}, which") for words in b.open_ends)
        ]
        found.append(replace(b, open_ends=(*b.open_ends, *others)) if others else b)
    return found


def _goes_with(candidate: Candidate, b: Bound) -> bool:
    """Return whether something makes tables for what is bound, is a class that it is of, or gives one of several."""
    written = f"theirs.{candidate.name}(" in b.draft.body
    if not isinstance(b.place.thing, type):
        return written
    above = isinstance(candidate.thing, type) and issubclass(b.place.thing, candidate.thing)
    return written or above or (gives_one(candidate) and b.place.name in candidate.uses)


def gives_one(candidate: Candidate) -> bool:
    """Return whether something gives one of several by its name, or by what it does."""
    return re.match(FACTORY, candidate.name) is not None or chooses(candidate.thing)


def family(component: str) -> str:
    """Return what a component counts as beside others: layers and stacks of them are one."""
    return "layers" if appearances()[component].binder == "layers" else kind_of(component)


def reads(name: str, module: ModuleType) -> set[str]:
    """Return the names of a module that a definition of it reads, and what these read, and so on."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        thing = vars(module).get(ahead.pop())
        if isinstance(thing, type | FunctionType) and thing.__module__ == module.__name__:
            new = {n for n in names_read(thing) if n in vars(module)} - found
            found |= new
            ahead += new
    return found
