"""Which arguments without effect count: those of which a requirement asks something, unless words say they have none.

A capacity bounds what is handed over, and promises no numbers; a cache that is never read, or an option of what is no
part of the component, promises something only where the file says so, or hands something to it.
"""

import ast
import inspect
import re
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.calling import CACHE, call_of, parameters
from attnconf.conformance.inference.words.vocabulary import meanings, snake
from attnconf.conformance.source import source_text
from attnconf.conformance.source.syntax import tree_of

HINT = r"is_?causal|_.*|.*drop.*|training|verbose|debug|device|dtype|generator|inplace"
CAUSAL, OF_TORCH = r"is_?causal", r"((src|tgt|attn|memory)_mask|((src|tgt|memory)_)?key_padding_mask)"
DOCUMENTED = r"ignored|unused|not used|never used|hint|compatib|no effect|reserved"
CAPACITY = (
    r"max_?(seq(uence)?|len|tokens|pos(ition)?s?|batch|time|t|ctx|context|size|steps)(_?(len(gth)?|size|embeddings))?|"
    r"(batch|seq(uence)?|context|ctx|block|src|tgt)_?(size|len(gth)?)|n_?ctx|capacity"
)
FOREIGN = r".*(experts?|moe|rout(er|ing)|lora|adapters?|quanti[sz]\w*|checkpoint\w*|compile)(_.*)?"
OF_SOME = ("eps", "vocab")  # entries of some configurations alone


def counts(bound: Bound, name: str, role: str = "") -> bool:
    """Return whether an argument without effect leaves the verdict open; ``role``: what that of a call is for."""
    plain = snake(name).strip("_")
    known, entries = set(meanings(name)), COMPONENTS[bound.draft.component].configures
    if re.fullmatch(CAPACITY, plain) and not role and not entries("max_len"):
        return False
    foreign = re.fullmatch(FOREIGN, plain) or any(m in known and not _asks(entries, m) for m in OF_SOME)
    return _promised(bound.place, name) if foreign or re.fullmatch(CACHE, plain) else True


def _asks(entries: Any, meaning: str) -> bool:
    return any(entries(entry) for entry in (meaning, f"{meaning}_size", f"source_{meaning}_size"))


def _promised(place: Place, name: str) -> bool:
    """Return whether words on the class or its call name an argument, or a call in the file hands something to it."""
    text = source_text.text_of_module(place.module)
    calls = (node for node in ast.walk(tree_of(text.text if text else "")) if isinstance(node, ast.Call))
    described = (place.thing, getattr(place.thing, "__init__", None), call_of(place.thing))
    told = " ".join(inspect.getdoc(one) or "" for one in described if one is not None)
    return re.search(rf"\b{re.escape(name)}\b", told) is not None or any(
        word.arg == name and not (isinstance(word.value, ast.Constant) and word.value.value is None)
        for call in calls for word in call.keywords
    )  # fmt: skip


def documented(place: Place, name: str) -> bool:
    """Return whether an argument is a hint by its name, or is said to be without effect in words beside its name.

    ``is_causal`` is one beside the masks of torch's layers, where it says what a mask is.
    """
    text = source_text.text_of_module(place.module)
    lines: Any = text.text.splitlines() if text else []
    told = (line for line in lines if re.search(rf"\b{re.escape(name)}\b", line))
    beside = [p.name for p in parameters(place.thing)]
    alone = re.fullmatch(CAUSAL, name) and not any(re.fullmatch(OF_TORCH, one) for one in beside)
    return bool(re.fullmatch(HINT, name) and not alone) or any(
        re.search(DOCUMENTED, line, re.IGNORECASE) for line in told
    )
