"""What somebody's method does with its arguments, read off its syntax tree: which of them reach queries, keys and
values, what is done to the scores, what is summed. Methods of the object, functions of its file and objects that it
keeps are entered; nothing is run.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from attnconf.reports.studies.reading import values as known
from attnconf.reports.studies.reading.statements import DEEPEST, Event, Known, Statements
from attnconf.reports.studies.reading.values import NOTHING, PRODUCT, SOFTMAX, Closure, Value, joined, last_name

SAYS_NOTHING = {
    "shape", "dtype", "device", "ndim", "size", "dim", "len", "range", "isinstance", "print", "hasattr", "numel",
    "get_shape", "shape_list", "new_zeros", "zeros_like", "ones_like", "arange", "empty_like",
}  # fmt: skip
PRODUCTS = {"matmul", "bmm", "einsum", "mm", "dot", "batch_dot", "batch_matmul", "dot_general", "linear"}
FUSED = {"scaled_dot_product_attention", "dot_product_attention", "flash_attn_func", "memory_efficient_attention"}
LIKE = {"to", "type_as", "view_as", "reshape_as", "expand_as", "type", "astype", "cast", "register_buffer"}
MASKING = {"masked_fill", "masked_fill_", "where", "mask_fill"}
HANDED = "handed to the function that attends"
WORDS_OF_MASKS = r"mask|tril|triu|pad|causal|visible|attn_bias|attention_bias"


def is_softmax(name: str) -> bool:
    return "softmax" in name.lower() and "log" not in name.lower() and "gumbel" not in name.lower()


def is_mask(node: ast.AST, value: Value) -> bool:
    """Return whether an expression speaks of a mask; one of heads hides no keys."""
    words = " ".join([*value.origins, *value.through, ast.unparse(node)]).replace("head_mask", "")
    return re.search(WORDS_OF_MASKS, words, re.IGNORECASE) is not None


class Flow(Statements):
    """Goes through the code of one object, or of functions."""

    def value(self, node: ast.expr, here: Known) -> Value:
        """Return what an expression gives."""
        match node:
            case ast.Name():
                return here.get(node.id) or self.of_file(node.id)
            case ast.Attribute():
                return self.attribute(node, here)
            case ast.Subscript():
                return self.part(node, here)
            case ast.Tuple() | ast.List():
                parts = tuple(self.value(one, here) for one in node.elts)
                return replace(joined(parts), parts=parts)
            case ast.Call():
                return self.call(node, here)
            case ast.BinOp():
                return self.operation(node, here)
            case ast.IfExp():
                return known.either(self.value(node.body, here), self.value(node.orelse, here))
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node, here)
            case ast.Lambda():
                return Value(code=Closure(node, here))
            case _:
                return joined(self.value(one, here) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))

    def of_file(self, name: str) -> Value:
        function = self.file.function(name)
        return Value(code=Closure(function, {})) if function else NOTHING

    def attribute(self, node: ast.Attribute, here: Known) -> Value:
        if node.attr in SAYS_NOTHING:
            return NOTHING
        if known.is_own(node):
            method = self.methods.get(node.attr)
            kept = here.get(f"self.{node.attr}")
            return kept or Value(
                through=frozenset({self.prefix + node.attr}), code=Closure(method, {}) if method else None
            )
        return self.value(node.value, here)

    def part(self, node: ast.Subscript, here: Known) -> Value:
        whole, place = self.value(node.value, here), node.slice
        if isinstance(place, ast.Constant) and isinstance(place.value, int):
            if -len(whole.parts) <= place.value < len(whole.parts):
                return whole.parts[place.value]
            if not whole.origins:  # self.linears[0]
                return Value(through=frozenset(f"{name}[{place.value}]" for name in whole.through))
        return replace(whole, parts=())

    def operation(self, node: ast.BinOp, here: Known) -> Value:
        left, right = self.value(node.left, here), self.value(node.right, here)
        match node.op:
            case ast.MatMult():
                return self.product([left, right])
            case ast.Add() | ast.Sub():
                return self.total(node, left, right)
            case ast.Mult():
                for one, other, text in ((left, right, node.right), (right, left, node.left)):
                    if is_mask(text, other) and (one.weights or one.scores) and not (other.weights or other.scores):
                        how = "multiplied after" if one.weights else "multiplied before"
                        self.found.events.append(Event("hides", (one, other), how, text))
        return joined([left, right])

    def total(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """Return a sum; of what is summed, one may be what the other was made of."""
        for one, other, text in ((left, right, node.right), (right, left, node.left)):
            if one.scores and not other.scores and is_mask(text, other):
                self.found.events.append(Event("hides", (one, other), "added", text))
        if (left.parts and not left.loose) or (right.parts and not right.loose):  # tuples, one behind the other
            return replace(joined([left, right]), parts=(*(left.parts or (left,)), *(right.parts or (right,))))
        if not (left.origins and right.origins) or left.scores or right.scores:
            return joined([left, right])
        carry, branch = sorted((left, right), key=lambda one: len(one.steps))
        if carry.steps == branch.steps:
            return joined([left, right])
        self.found.events.append(Event("sums", (carry, branch)))
        return replace(joined([left, right]), steps=carry.steps + known.SUM)

    def product(self, factors: Sequence[Value]) -> Value:
        """Return a product; by what depends on no argument it is a projection."""
        told = [one for one in factors if one.origins]
        if len(told) < 2:
            names = [name for one in factors for name in one.through]
            return joined(factors).then(known.OTHER, *names) if told else joined(factors)
        left, right = told[:2]
        for one, other in ((left, right), (right, left)):
            if one.weights and not other.weights:
                self.found.events.append(Event("weighs", (one, other)))
                left, right = one, other
        both = joined([replace(left, steps=left.steps + PRODUCT), replace(right, steps="", factors=())])
        return replace(both, steps=left.steps + PRODUCT, factors=(left, right))

    def softmax(self, value: Value) -> Value:
        if value.scores:
            self.found.events.append(Event("attends", value.factors, "a softmax of its own"))
        return value.then(SOFTMAX)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, here: Known) -> Value:
        loop = node.generators[0]
        over = self.value(loop.iter, here)
        parts = []
        for one in over.parts or (self.element(over),):
            inner = dict(here)
            self.bind(loop.target, one, inner, loop.iter)
            parts.append(self.value(node.elt, inner))
        return replace(joined(parts), parts=tuple(parts) if over.parts else ())

    def call(self, node: ast.Call, here: Known) -> Value:
        """Return what a call gives."""
        name, inner = last_name(node.func), node.func
        if isinstance(inner, ast.Call):  # nn.Softmax(dim=-1)(x)
            name = last_name(inner.func)
        given = [self.value(one, here) for one in node.args]
        named = {one.arg or "**": self.value(one.value, here) for one in node.keywords}
        if name in SAYS_NOTHING:
            return NOTHING
        receiver = self.value(inner.value, here) if isinstance(inner, ast.Attribute) else NOTHING
        whole = known.is_own(inner) or isinstance(inner, ast.Name | ast.Subscript)
        of = self.value(inner, here) if whole else NOTHING
        if of.code and self.depth < DEEPEST and not self.seen_through(name, of.code):
            return self.entered(name, of.code, given, named)
        if is_softmax(name):
            return self.softmax(next((one for one in (receiver, *given, *named.values()) if one.origins), NOTHING))
        if name in FUSED:
            return self.fused(node, given, named, here)
        if name in MASKING:
            return self.masked(node, receiver, given)
        if name in ("zip", "enumerate", "map"):
            return self.sequence(name, given)
        kept = receiver if name in known.CALLED or name == "apply" else of
        if kept.through and not kept.origins and name not in PRODUCTS:
            return self.module(node, sorted(kept.through)[0], given, named)
        return self.of_library(node, name, [receiver, *given, *named.values()])

    def of_library(self, node: ast.Call, name: str, every: Sequence[Value]) -> Value:
        """Return what a function gives that nobody has seen; first of ``every`` is that whose method it is."""
        every = every[:1] if name in LIKE and every[0] != NOTHING else every
        tensors = [one for one in every if one.origins] or every
        if name in PRODUCTS:
            return self.product([part for one in every for part in (one.parts or (one,)) if part != NOTHING])
        if isinstance(node.func, ast.Call):
            return tensors[0].then(known.kind_of("", node.func))
        if known.kind_of(name, None) == known.NORM:  # F.layer_norm
            return tensors[0].then(known.NORM)
        in_order = tuple(one for one in every[1 : 1 + len(node.args)] if one.origins)
        return replace(joined(tensors), parts=in_order, loose=True) if len(in_order) > 1 else joined(tensors)

    def seen_through(self, name: str, code: Closure) -> bool:
        """Return whether a function needs not be entered: a softmax that is written out, a product."""
        if name in PRODUCTS:
            return True
        text = ast.walk(code.node)
        return is_softmax(name) and not any(isinstance(n, ast.Call) and is_softmax(last_name(n.func)) for n in text)

    def entered(self, name: str, code: Closure, given: Sequence[Value], named: Known) -> Value:
        """Return what a function of the file gives; where nobody can say, what its arguments have in common."""
        result = self.enter(code, given, named)
        return result if result.origins or result.parts else joined([*given, *named.values()])

    def fused(self, node: ast.Call, given: Sequence[Value], named: Known, here: Known) -> Value:
        """Return what the functions of libraries give that attend."""
        query, key, value = (
            *given[:3],
            *(one for word, one in named.items() if re.match(r"q|k|v", word)),
            NOTHING, NOTHING, NOTHING,
        )[:3]  # fmt: skip
        self.found.events.append(Event("attends", (query, key), "a function of a library"))
        self.found.events.append(Event("weighs", (query, value)))
        mask = (known.keyword(node, "attn_mask", "mask", "attn_bias", "bias"), *node.args[3:4], None)
        told = next((one for one in mask if one is not None and not isinstance(one, ast.Constant)), None)
        if told is not None:
            self.found.events.append(Event("hides", (query, self.value(told, here)), HANDED, told))
        result = joined([query, key, value])
        steps = query.steps + PRODUCT + SOFTMAX + PRODUCT
        return replace(result, steps=steps, factors=(replace(query, steps=SOFTMAX), value))

    def masked(self, node: ast.Call, receiver: Value, given: Sequence[Value]) -> Value:
        """Return scores that are filled where a condition holds, or does not."""
        tensors = [one for one in (receiver, *given) if one.origins]
        words = [*node.args, *(one.value for one in node.keywords)]
        scores = next((one for one in tensors if one.scores), None)
        if scores is None or len(words) < 2:
            return joined(tensors)
        if last_name(node.func) == "where" and not receiver.origins and len(words) > 2:
            kept = next((place for place, one in enumerate(given[:3]) if place and one.scores), 1)
            how, fill, told = ("kept" if kept == 1 else "filled"), words[3 - kept], given[0]
        else:
            given, words = (given, words) if receiver.origins else (given[1:], words[1:])
            how, fill, told = "filled", words[-1], given[0] if given else NOTHING
        self.found.events.append(Event("hides", (scores, told), how, words[0], fill))
        return replace(scores, origins=joined(tensors).origins)

    def sequence(self, name: str, given: Sequence[Value]) -> Value:
        """Return what zip, enumerate or map gives, part by part where the parts are known."""
        if name == "map":
            function, over = (*given, NOTHING, NOTHING)[:2]
            each = [self.enter(function.code, [one], {}) if function.code else one for one in over.parts or (over,)]
            return replace(joined(each), parts=tuple(each) if over.parts else ())
        if name == "enumerate":
            inner = given[0].parts or (self.element(given[0]),)
            return Value(parts=tuple(Value(parts=(NOTHING, one)) for one in inner))
        longest = max((len(one.parts) for one in given), default=0)
        columns = [one.parts or self.elements(one, longest or 1) for one in given]
        rows = tuple(Value(parts=tuple(one or NOTHING for one in row)) for row in zip_longest(*columns))
        return Value(parts=rows)

    def elements(self, value: Value, count: int) -> tuple[Value, ...]:
        if value.origins or count == 1:
            return (self.element(value),) * count
        return tuple(Value(through=frozenset(f"{name}[{n}]" for name in value.through)) for n in range(count))

    def module(self, node: ast.Call, name: str, given: Sequence[Value], named: Known) -> Value:
        """Return what an object that this one keeps gives."""
        call, _ = self.found.made.get(re.sub(r"\[\d*\]$", "", name), (None, None))
        every = [one for one in (*given, *named.values()) if one.origins]
        if is_softmax(name) or (call is not None and is_softmax(last_name(call.func))):
            return self.softmax(every[0] if every else NOTHING)
        if call is not None and last_name(call.func) == "MultiheadAttention" and len(given) >= 3:
            self.found.events.append(Event("attends", tuple(given[:2]), "nn.MultiheadAttention"))
            self.found.events.append(Event("weighs", (given[0], given[2])))
        owner = self.file.class_of(call) if call is not None else None
        method = known.called(owner) if owner is not None else None
        known_to_us = owner is not None and re.search(self.inside, owner.name, re.IGNORECASE)
        if known_to_us and method is not None and self.depth < DEEPEST:
            inner = Flow(self.file, owner, self.inside, f"{name}.", self.found, self.depth)
            result = inner.enter(Closure(method, {}), given, named)
            if result.origins:
                return result
        if not every:
            return NOTHING
        letter = known.kind_of(name, call)
        whole = joined(every)
        return replace(
            every[0].then(letter, *([name] if letter == known.OTHER else [])),
            origins=whole.origins, through=whole.through.union([name] if letter == known.OTHER else []),
        )  # fmt: skip
