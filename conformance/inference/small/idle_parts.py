"""A size that nothing names can make a part idle: parameters count where it is another, and the whole is no textbook's.

One unit in each block, one block, one group: whatever chooses among them has nothing to choose.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from torch import nn

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import Meanings
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.proving import Proof
from attnconf.conformance.inference.trials.trial import reply, same
from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.source.signatures import parameters_of

OTHERS = ("1", "2")  # that a size which nothing names is, besides


def idle_so_far(place: Place, proof: Proof[Text], text: Text, table: Meanings) -> str:
    """Return a word on what has other numbers where a guessed size is another; nothing where it has none.

    What equals the textbook does it on its own: only parameters that are no weights of ours make one doubt. To equal a
    known mistake all may have been taken for weights, as that of a gate that is ignored.
    """
    asked = proof.trial.certificate.requests[0]
    left = _not_ours(place, text, asked) if proof.certified == "reference" else ["all parameters"]
    base = reply(text.implementation(place), asked) if left and proof.certified else None
    if base is None or isinstance(base, Failure):
        return ""
    for name, value in _guessed(place, text, table):
        for other in OTHERS:
            made = replace(text.made, text=text.made.text.replace(f"{name}={value}", f"{name}={other}"))
            given = reply(text.but(made=made).implementation(place), asked)
            if not (isinstance(given, Failure) or same(given, base)):
                return f"with {name}={other} it computes something else, in which {', '.join(left[:2])} may count"
    return ""


def _not_ours(place: Place, text: Text, asked: Request) -> list[str]:
    """Return the parameters of what is built that get none of our weights, other than those that are left out."""
    try:
        module = build(place, text.made, asked.config)
    except Failed:
        return []
    ours = {name for entry in text.state for name in re.findall(r'^"([^"]+)":', entry)}
    every = [name for name, _ in module.named_parameters()] if isinstance(module, nn.Module) else []
    return [n for n in every if n not in ours and not any(n.startswith(f"{s}.") for s in text.stripped)]


def _guessed(place: Place, text: Text, table: Meanings) -> Iterator[tuple[str, str]]:
    """Yield the arguments that are given a size which their names do not say."""
    sizes = {expression for texts in table.values() for expression in texts if expression.startswith(("config.", "("))}
    for p in parameters_of(place.thing):
        for value in sizes if not set(meanings(p.name)) & table.keys() else ():
            if re.search(rf"\b{p.name}={re.escape(value)}(?=[,)])", text.made.text):
                yield p.name, value
