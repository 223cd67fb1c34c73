"""Questions about the conventions of one implementation, answered from its syntax tree.

A question that does not apply is answered by None, one that applies and that the code does not answer by nothing.
"""

import ast
import re
from collections.abc import Callable, Iterable, Sequence

from attnconf.reports.studies.reading import values as known
from attnconf.reports.studies.reading.constants import constant, epsilon, fill, from_constructor, sense
from attnconf.reports.studies.reading.implementation import LINEAR, Reading, family
from attnconf.reports.studies.reading.patterns import pairing, table
from attnconf.reports.studies.reading.values import SUM, Value, last_name

Answers = Sequence[str] | None
TRIANGLES = {"tril": "tril", "triu": "triu", "band_part": "tril"}
TURNS = re.compile(r"rot(ary|ate)|rope", re.IGNORECASE)
BESIDE = {
    "weights": r"att(e?n|ention)|weight|prob|score", "a cache": r"cache|past|present|kv|state|mem", "a loss": r"loss",
}  # fmt: skip


def attends_by(reading: Reading) -> Answers:
    return [event.how for event in reading.events("attends")]


def matrices(reading: Reading) -> Answers:
    """Return how the matrices of queries, keys and values lie."""
    attended = reading.attended()
    if attended is None:
        return []
    if reading.events("attends")[-1].how == "nn.MultiheadAttention":
        return ["those of nn.MultiheadAttention"]
    query, key, value = (reading.projections(one) for one in attended)
    if not (query or key or value):
        return ["none: queries, keys and values are given"]
    if query & key & value:
        form = "one for queries, keys and values"
    elif key & value and not query & key:
        form = "one for queries, one for keys and values"
    elif query and key and value and not (query & key or key & value or query & value):
        form = "three"
    else:
        return []
    return [f"{form}, for each head" if any("[]" in name for name in query) else form]


def bias(made: ast.Call, owner: ast.ClassDef | None) -> str:
    """Return whether a linear layer has a bias, as it is made."""
    third = made.args[2] if len(made.args) > 2 and last_name(made.func) == "Linear" else None
    given = known.keyword(made, "bias", "use_bias") or third
    if given is None:
        return "yes"
    if isinstance(given, ast.Constant):
        return "yes" if given.value else "no"
    default = constant(from_constructor(owner, last_name(given)))
    return "an option" if default is None else f"an option, {'yes' if default else 'no'} by default"


def biases(reading: Reading, names: Iterable[str]) -> Answers:
    """Return whether these layers have biases; parameters of their own may be some."""
    told = set()
    for name in names:
        if "bias" in name:
            return ["some"]
        call, owner = reading.made(name)
        made = [one for one in ast.walk(call) if isinstance(one, ast.Call)] if call else []
        told |= {bias(one, owner) for one in made if LINEAR.fullmatch(last_name(one.func))}
    return list(told) if len(told) < 2 else ["some"]


def inputs(reading: Reading) -> list[str]:
    """Return the matrices of queries, keys and values."""
    return [name for value in reading.attended() or () for name in reading.projections(value)]


def biases_of_inputs(reading: Reading) -> Answers:
    return biases(reading, inputs(reading)) if inputs(reading) else None


def bias_of_output(reading: Reading) -> Answers:
    """Return whether the one layer has a bias that what comes back went through behind the values."""
    before = set(inputs(reading))
    values = [(value.parts or (value,))[0] for _, value in reading.flow.found.returned]
    after = {name for value in values for name in reading.projections(value)} - before
    return (biases(reading, after) if len(after) == 1 else []) if before and after else None


def biases_of_network(reading: Reading) -> Answers:
    """Return whether the layers of a network have biases, those in a sequence too."""
    calls = [node for node in ast.walk(reading.thing) if isinstance(node, ast.Call)]
    told = {bias(call, reading.owner) for call in calls if LINEAR.fullmatch(last_name(call.func))}
    return list(told) if len(told) < 2 else ["some"]


def hidden(reading: Reading) -> Answers:
    """Return how scores are hidden, as it is written."""
    events = reading.events("hides")
    given = known.arguments(reading.method) if reading.method else []
    if not events and not causal(reading) and not any(map(is_mask, given)):
        return None
    return [f"{e.how} where {sense(e.written)[0]}" if e.how in ("filled", "kept") else e.how for e in events]


def is_mask(name: str) -> bool:
    return family(name) == "a mask"


def meaning(reading: Reading) -> Answers:
    """Return what 1 or True in a mask that a caller hands over does, where scores are filled by it."""
    filled = [event for event in reading.events("hides") if event.how in ("filled", "kept")]
    by_argument = [event for event in filled if any(map(is_mask, event.values[1].origins))]
    told = [(sense(event.written)[1], event.how == "kept") for event in by_argument]
    return ["keeps" if holds == kept else "hides" for holds, kept in told if holds is not None] if told else None


def fills(reading: Reading) -> Answers:
    """Return what scores are filled with, or what is added to them."""
    texts, events = reading.flow.found.texts, reading.events("hides")
    found = [fill(event, texts, reading.owner) for event in events if event.how in ("filled", "kept", "added")]
    applies = any(event.how in ("filled", "kept") for event in events)
    return [one for one in found if one] or ([] if applies else None)


def causal(reading: Reading) -> Answers:
    """Return how what lies behind a query is hidden: by which triangle, and when it is made."""
    early = {id(node) for maker in known.makers(reading.owner) for node in ast.walk(maker)}
    found = []
    for node in (node for tree in reading.nodes() for node in ast.walk(tree)):
        word = TRIANGLES.get(last_name(node.func)) if isinstance(node, ast.Call) else None
        if word:
            found.append(f"{word}, {'kept by the object' if id(node) in early else 'made in each call'}")
        if isinstance(node, ast.keyword) and node.arg == "is_causal":
            found += [] if isinstance(node.value, ast.Constant) and not node.value.value else ["is_causal"]
    return found or None


def returned(reading: Reading) -> Answers:
    """Return what comes back."""
    found = {returned_by(reading, text, value) for text, value in reading.flow.found.returned}
    return list(found) if len(found) < 2 else ["different things"]


def returned_by(reading: Reading, text: ast.expr, value: Value) -> str:
    """Return what one statement gives back."""
    known_parts = value.parts if not value.loose else ()
    if isinstance(text, ast.Name) and known_parts:
        if text.id in stored_in_branches(reading.nodes()):
            return "different things"
        text = reading.flow.found.texts.get(text.id, text)
    if isinstance(text, ast.Dict) or (isinstance(text, ast.Call) and "Output" in last_name(text.func)):
        return "a dict or record"
    if isinstance(text, ast.List):
        return "a list"
    texts = text.elts if isinstance(text, ast.Tuple) else [text]
    parts = known_parts or (value,) * len(texts)
    texts = texts if len(texts) == len(parts) else [text] * len(parts)
    return " and ".join(["one tensor", *sorted({beside(*pair) for pair in list(zip(texts, parts, strict=True))[1:]})])


def stored_in_branches(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that get a value in a branch, or one of two."""
    every = [node for tree in nodes for node in ast.walk(tree)]
    branches = [n for n in every if isinstance(n, ast.If) or isinstance(getattr(n, "value", None), ast.IfExp)]
    inner = [one for node in branches for one in ast.walk(node)]
    return {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def beside(text: ast.expr, value: Value) -> str:
    """Return what comes back beside a tensor."""
    words = ast.unparse(text).lower()
    if value.weights:
        return "weights"
    return next((kind for kind, pattern in BESIDE.items() if re.search(pattern, words)), "something else")


def norms_stand(reading: Reading) -> Answers:
    """Return where norms stand in a layer: what befell each branch since it left the sum that it is added to."""
    branches = set()
    for carry, branch in (event.values for event in reading.events("sums")):
        steps = branch.steps[len(carry.steps) :] if branch.steps.startswith(carry.steps) else "?"
        branches |= {re.sub(r"s+", "s", steps)} if "s" in steps or "?" in steps else set()
    ends = {(value.parts or (value,))[0].steps[-1:] for _, value in reading.flow.found.returned}
    if not branches or any("?" in steps for steps in branches):
        return []
    if all(re.fullmatch(r"n[sn]*s", steps) for steps in branches):
        return ["before each sublayer"]
    if branches == {"s"} and ends == {"n"}:
        return ["behind each sum"]
    if branches == {"sn"}:
        return ["on what a sublayer gives, before the sum"]
    if "s" in branches and any(re.fullmatch(r"n[sn]*s", steps) for steps in branches) and ends != {SUM}:
        return ["before or behind, by an option"]
    return ["before and behind each sublayer" if branches == {"nsn"} else "otherwise, or nowhere"]


def turning(reading: Reading) -> list[ast.AST]:
    """Return the code that turns features by angles: functions and classes whose names say so."""
    owners = [reading.file.class_of(call) for call, _ in reading.flow.found.made.values()]
    every = [*reading.nodes(), *(owner for owner in owners if owner)]
    return [node for node in every if TURNS.search(getattr(node, "name", ""))]


def pairs_that_turn(reading: Reading) -> Answers:
    nodes = turning(reading)
    return pairing(nodes) if nodes else None


def sinusoids(reading: Reading) -> Answers:
    return table(reading.nodes()) if not turning(reading) and {"sin", "cos"} <= reading.words() else None


def default_epsilon(reading: Reading) -> Answers:
    return epsilon(reading.thing, reading.sizes.roles.get("ε", []))


QUESTIONS: dict[str, tuple[tuple[str, ...], Callable[[Reading], Answers]]] = {
    "it attends by": (("attention",), attends_by),
    "matrices": (("attention",), matrices),
    "biases of queries, keys and values": (("attention",), biases_of_inputs),
    "bias of the output": (("attention",), bias_of_output),
    "biases of the network": (("feed-forward",), biases_of_network),
    "scores are hidden": (("attention",), hidden),
    "1 or True in a mask that is given": (("attention",), meaning),
    "the fill": (("attention",), fills),
    "causal by": (("attention", "models"), causal),
    "what comes back": (("attention", "layers", "models"), returned),
    "norms stand": (("layers",), norms_stand),
    "features that turn together": (("attention", "positions"), pairs_that_turn),
    "sines and cosines": (("positions",), sinusoids),
    "ε by default": (("norms",), default_epsilon),
}
