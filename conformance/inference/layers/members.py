"""What the attention of a layer has besides that of 2017: norms of queries and keys, fewer heads of keys and values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod

from torch import Tensor, nn

from attnconf.conformance.chapters.shared.members import sharing, widened
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.inference.attention.family import FEWER, GROUPED, KEPT, OF_KEYS
from attnconf.conformance.inference.layers.options import with_options
from attnconf.conformance.inference.texts.layer_requests import SHARED, block_of
from attnconf.conformance.inference.texts.layer_text import HEAD, WIDE, LayerText
from attnconf.conformance.inference.texts.layer_units import Widths
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate, why
from attnconf.conformance.inference.words.vocabulary import meanings, snake

# -- norms of queries and keys

_NORMS = "layer_?norm|rms_?norm|norm|ln|rms"
_OF = {
    part: re.compile(rf"({words})_?(layer_?)?({_NORMS}|n)?|({_NORMS})_?({words})")
    for part, words in (("q", "x?q|query|queries"), ("k", "x?k|key|keys"))
}
_GAIN_OF = {
    part: re.compile(
        rf"({words})_?({_NORMS}|gain|scale|gamma)(_?(weight|gain|scale))?|({_NORMS}|gain|scale)_?({words})"
    )
    for part, words in (("q", "q|query"), ("k", "k|key"))
}


@dataclass(frozen=True)
class Inner:
    """Norms of queries and keys: the names of their parameters, for each attention in the order of use."""

    declares: Mapping[str, str]
    each: tuple[Mapping[str, str], ...]  # of one attention: name of a parameter -> ours, "q_norm.weight"
    modules: tuple[str, ...]  # those that have an ε, with a star for the number of a layer

    @property
    def names(self) -> set[str]:
        return {name for one in self.each for name in one}

    def entries(self, attention: int) -> list[str]:
        """Return the entries of the state of one attention of a layer."""
        one = self.each[attention] if attention < len(self.each) else {}
        return [f'"{name}": weights["attn.{ours}"]' for name, ours in one.items()]


NOTHING = Inner({}, (), ())


def inner_norms(module: nn.Module, order: Sequence[str], widths: Widths) -> Inner:
    """Return the norms of queries and keys in a module whose parameters are used in this order, by their names."""
    real = dict(module.named_parameters())
    found = {part: list(_norms_of(part, real, order, widths)) for part in ("q", "k")}
    if not found["q"] and not found["k"]:
        found = _by_size(real, order, widths)
    count = len(found["q"])
    shapes = {tuple(real[name].shape) for ones in found.values() for one in ones for name in one}
    if not count or len(found["k"]) != count or len(shapes) != 1:
        return NOTHING
    each, kinds = [], set()
    for pair in zip(found["q"], found["k"], strict=True):
        ours: dict[str, str] = {}
        for part, names in zip("qk", pair, strict=True):
            kinds.add(len(names))
            ours |= {name: f"{part}_norm.{kind}" for name, kind in zip(names, ("weight", "bias"), strict=False)}
        each.append(ours)
    if len(kinds) != 1:
        return NOTHING
    ((size,),) = shapes
    said = {"qk-norm": "rms" if kinds == {1} else "layer", "qk-norm-over": "head" if size == widths.head else "width"}
    owners = dict.fromkeys(name.rpartition(".")[0] for one in each for name in one)
    with_eps = [o for o in owners if any(hasattr(module.get_submodule(o), e) for e in ("eps", "variance_epsilon"))]
    starred = dict.fromkeys(re.sub(r"(?<=\.)\d+(?=\.)", "*", owner) for owner in with_eps)
    return Inner(said, tuple(each), tuple(starred))


def _by_size(real: Mapping[str, Tensor], order: Sequence[str], w: Widths) -> dict[str, list[tuple[str, ...]]]:
    """Return modules of vectors as wide as one head, in turn those of queries and of keys; none where one is left."""
    owners: dict[str, tuple[str, ...]] = {}
    for name in order:
        owner = name.rpartition(".")[0]
        owners[owner] = tuple(n for n in real if n.rpartition(".")[0] == owner)
    whole = [names for owner, names in owners.items() if owner and len(names) <= 2]
    norms = [names for names in whole if w.head != w.embed and {tuple(real[n].shape) for n in names} == {(w.head,)}]
    return {"q": norms[::2], "k": norms[1::2]} if len(norms) % 2 == 0 else {"q": [], "k": []}


def _norms_of(part: str, real: Mapping[str, Tensor], order: Sequence[str], w: Widths) -> Iterator[tuple[str, ...]]:
    """Yield the parameters of the norms of queries, or of keys: of modules that hold nothing else, or gains alone."""
    done: set[str] = set()
    for name in order:
        owner, _, last = name.rpartition(".")
        beside = [n for n in real if n.rpartition(".")[0] == owner]
        alone = owner and all(real[n].ndim == 1 for n in beside) and len(beside) <= 2
        if prod(real[name].shape) not in (w.head, w.embed) or real[name].ndim != 1 or name in done:
            continue
        if alone and _OF[part].fullmatch(snake(owner.rpartition(".")[2])):
            done |= set(beside)
            yield tuple(beside)
        elif not alone and _GAIN_OF[part].fullmatch(snake(last)) and bool((real[name] == real[name][0]).all()):
            yield (name,)


# -- what may be asked for besides


def with_members(place: Place, text: LayerText) -> LayerText:
    """Return the text with what its attention may be asked for besides."""
    return with_wide_heads(place, with_shared_heads(place, with_options(place, text)))


# -- heads of another width


def with_wide_heads(place: Place, text: LayerText) -> LayerText:
    """Return the text with heads of a width of their own, where an argument or entry says how wide they are.

    What comes of it is judged where it is known; else it stays an open end.
    """
    name = next((n for n in re.findall(rf"""\b(\w+)["']?(?:=|: ?){re.escape(HEAD)}""", text.made.text)
                 if "head_dim" in meanings(n)), "")  # fmt: skip
    if not name or "head_dim" not in {entry.name for entry in fields(text.known.config)} or text.known.reads_ids:
        return text
    told = rf"""(\b{name}["']?(?:=|: ?)){re.escape(HEAD)}"""
    made = replace(text.made, text=re.sub(told, rf"\1{WIDE}", text.made.text))
    stacks = (replace(stack, entries=_of_wide_heads(stack.entries)) for stack in text.stacks)
    one = text.but(made=made, declares={**text.declares, "head-dim": "given"}, entries=_of_wide_heads(text.entries),
                   stacks=tuple(stacks))  # fmt: skip
    causal = text.declares.get("causality") == "always"
    block = widened(block_of(text.component, text.declares, SHARED, (2, 2)))
    block = block.with_config(causal=True) if causal else block
    certificate = Certificate(text.component, [block.asked()])
    given = certificate.replies(one.implementation(place))
    known = certificate.mistakes(given, one.conventions())
    if certificate.agrees(given, one.conventions()) or any("ENC-HEAD-1" in mistake.breaks for mistake in known):
        return one
    failure = next((each for each in given if isinstance(each, Failure)), None)
    if failure and _is_idle(place, text.but(made=made), causal):
        return text  # it is the width of something else
    words = (
        f"was not tried with another width: {why(failure)}" if failure else "does what is not known with another width"
    )
    return text.but(untried=(*text.untried, f"the argument `{name}` {words}"))


def _is_idle(place: Place, text: LayerText, causal: bool) -> bool:
    """Return whether a layer is right with heads of their share of the model, whatever else it was built with."""
    block = block_of(text.component, text.declares, SHARED, (2, 2))
    certificate = Certificate(text.component, [(block.with_config(causal=True) if causal else block).asked()])
    return certificate.agrees(certificate.replies(text.implementation(place)), text.conventions())


def _of_wide_heads(entries: Sequence[str]) -> tuple[str, ...]:
    return tuple(entry.replace(HEAD, f"({WIDE})") for entry in entries)


# -- fewer heads of keys and values


def with_shared_heads(place: Place, text: LayerText) -> LayerText:
    """Return the text with fewer heads of keys and values than of queries, where a constructor takes their number.

    What comes of it is judged; what cannot be built or called so, or is of something else, is told.
    """
    name = _kept_by(text)
    if not name:
        return text
    made = replace(
        text.made, text=_with_kept(text.made.text, name), before=tuple(_with_kept(b, name) for b in text.made.before)
    )
    one = text.but(made=made, declares={**text.declares, GROUPED[0]: GROUPED[1]})
    causal = text.declares.get("causality") == "always"
    block = sharing(block_of(text.component, text.declares, SHARED, (2, 2)), SHARED.heads // 3)
    block = block.with_config(causal=True) if causal else block
    certificate = Certificate(text.component, [block.asked()])
    given = certificate.replies(one.implementation(place))
    failure = next((each for each in given if isinstance(each, Failure)), None)
    if failure is None and (
        re.search(OF_KEYS, snake(name))
        or certificate.agrees(given, one.conventions())
        or certificate.mistake(given, one.conventions()) is not None
    ):
        return one
    told = f"{name}: {FEWER}: {why(failure)}" if failure else f"{name}: {FEWER} are not judged"
    return text.but(left_alone=(*text.left_alone, told))


def _kept_by(text: LayerText) -> str:
    """Return what the argument or entry is called that says how many heads keys and values have."""
    if "num_kv_heads" not in {entry.name for entry in fields(text.known.config)}:
        return ""
    written = "\n".join((*text.made.before, text.made.text))
    given = re.findall(r"""\b(\w+)(?:=|["']: ?)config\.num_heads\b""", written)
    return next((name for name in given if "kv_heads" in meanings(name)), "")


def _with_kept(written: str, name: str) -> str:
    return re.sub(rf"""(\b{name}(?:=|["']: ?))config\.num_heads\b""", rf"\1{KEPT}", written)
