"""Biases on the scores through an argument for masks, and the flag for causality beside them."""

import ast
import re
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.request import Reply
from attnconf.conformance.inference.masks.claims import beside
from attnconf.conformance.inference.masks.forms import ADDED
from attnconf.conformance.inference.texts.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.trials.trial import Certificate, drawn, reply
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake
from attnconf.conformance.source.source_text import code_reached, texts_reached
from attnconf.conformance.source.syntax import is_call, last_name, number, tree_of

if TYPE_CHECKING:
    from attnconf.conformance.inference.masks.search import Search

BIAS_NAMED = r"bias|logits|scores|additive"
ADDS = r"(?i)\badd(ed|itive|s)?\b|\bfloat|\bbias|\blogits?\b|-\s*inf"
BIAS_PROMISED = r"(?i)\badd(ed|itive|s)?\b|bias|logits|scores"
ADDING = ("add", "scaled_dot_product", "multi_head_attention")  # calls that add what they are handed
SUBTRACTED = "MASK-bias-subtracted"


def biased(search: "Search", text: AttentionText, name: str, form: MaskForm) -> MaskForm:
    """Return the form for boolean masks and for biases on the scores, where the argument takes both."""
    if form.additive or form.keys_only or "1-" in form.told:
        return form
    plain = form.text.removeprefix("~")
    both = f"{form.text} if attn_bias is None else {plain.replace('seen', ADDED)}"
    wide = MaskForm(both, f"{form.told}, or additive", False, True)
    trial = search.tried(text, name, wide, [_asked(search, text)])
    if trial.right and text.flagged and not promised(search.place.thing, name):
        beside = search.tried(text, name, wide, [_asked(search, text, causal=True)])
        return wide if beside.right or refuses(beside.given[-1]) else form
    mistaken = not trial.right and trial.certificate.mistake(trial.given, trial.declares, _by_numbers)
    return wide if trial.right or (mistaken and _by_numbers(mistaken)) else form


def two_valued(search: "Search", text: AttentionText, name: str, form: MaskForm) -> MaskForm:
    """Return the form for masks that are 0 or hide, where an argument adds no other number and nobody says it would.

    It is so where the code compares what a mask holds with a number, and adds it nowhere: it tells two values apart.
    """
    if form.kind != "additive" or not _compares(search.place.thing, name):
        return form
    promise = re.search(BIAS_PROMISED, "\n".join((snake(name), *beside(search.place.thing, name))))
    if promise or search.tried(text, name, form, [_asked(search, text)]).right:
        return form
    return MaskForm(form.text, f"{form.told}, 0 or what hides", form.keys_only, False)


def _compares(thing: Any, name: str) -> bool:
    """Return whether code compares a mask, by this name or by one that means a mask, with a number, and adds none."""

    def is_mask(node: ast.AST) -> bool:
        named = last_name(node)
        return named == name or (bool(named) and "mask" in meanings(named, INPUTS))

    def is_added(node: ast.AST) -> bool:
        added = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub)
        return (added or is_call(node, *ADDING)) and any(is_mask(part) for part in ast.walk(node))

    def is_compared(node: ast.AST) -> bool:
        if isinstance(node, ast.Compare):
            return is_mask(node.left) and number(node.comparators[0]) is not None
        return is_call(node, "isinf", "isneginf") and any(is_mask(part) for part in ast.walk(node))

    with suppress(SyntaxError, ValueError):
        nodes = [node for text in texts_reached(thing) for node in ast.walk(tree_of(textwrap.dedent(text)))]
        return any(map(is_compared, nodes)) and not any(map(is_added, nodes))
    return False


def wrongly_added(search: "Search", text: AttentionText, name: str, forms: Iterable[MaskForm]) -> MaskForm | None:
    """Return the widest form in which an argument subtracts what it is given; None where it does not.

    An additive mask that is subtracted gives NaN for what it should hide. As a mask of ones for what is hidden it would
    lower those scores by 1, which is not what anybody means.
    """
    asked = Certificate(text.component, [_asked(search, text)])
    for form in forms:
        if form.additive and not form.keys_only:
            trial = search.tried(text, name, form, asked)
            if asked.agrees(trial.given, trial.declares, SUBTRACTED):
                return form
    return None


def promised(thing: Any, name: str) -> bool:
    """Return whether a file has numbers that are added in mind: by a name, in words, or as code asks for the dtype.

    Else they may be taken by chance, by what the mask is handed on to.
    """
    if re.search(BIAS_NAMED, snake(name)) or any(re.search(ADDS, words) for words in beside(thing, name)):
        return True
    code = code_reached(thing)
    asks = rf"\b{re.escape(name)}\.(dtype|is_floating_point)|is_floating_point\({re.escape(name)}\b"
    return re.search(asks, code) is not None


def _asked(search: "Search", text: AttentionText, causal: bool = False) -> Any:
    B, L, S = 2, 6, 6
    flag = {"causal": True} if causal else {}
    return search.request(text, search.sizes[0], B, L, S, {"attn_bias": drawn("bias", 1, 1, L, S)}, **flag)


def _by_numbers(mistake: Mutant) -> bool:
    """Return whether a mistake is one in what is done with numbers that are added: other code takes none."""
    return mistake.id.startswith("MASK-bias-") and mistake.id != "MASK-bias-ignored"


# -- beside the flag for causality: what is refused, each alone being right, is a limit

MASKS, BIAS = ("key_mask", "attn_mask"), "attn_bias"
BY_TORCH = r"[Ee]xplicit attn_mask should not be set when is_causal"


def refuses(given: Reply | Failure) -> bool:
    """Return whether code says, by ``raise`` or ``assert`` or through PyTorch's attention, that it takes no such call.

    An error that nobody meant is none: what is broken is not absent.
    """
    if not isinstance(given, Failure) or given.reason != "raised":
        return False
    return given.meant or re.search(BY_TORCH, given.message) is not None


def with_bias_apart(search: "Search", text: "AttentionText") -> "AttentionText":
    """Return the text such that a bias and the flag for causality are not taken together, where the file refuses it.

    PyTorch's attention refuses a mask that has a gradient beside its flag, and takes one that has none.
    """
    if text.exclusive or not text.flagged or not any(m.additive for m in text.masks.values()):
        return text
    B, L, S = 2, 6, 6
    masks: dict[str, Any] = {BIAS: drawn("bias", 1, 1, L, S)}
    made = text.implementation(search.place)
    alone, both = (search.request(text, search.sizes[0], B, L, S, masks, causal=causal) for causal in (False, True))
    back = {"cotangent": drawn("cotangent", *alone.out_shape), "wrt": (BIAS,)}
    limited = isinstance(reply(made, replace(alone, **back)), Reply) and refuses(reply(made, replace(both, **back)))
    return text.but(exclusive=(BIAS,)) if limited else text
