"""What a class says of itself, in its code and its words, that experiment cannot tell from a convention."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.source import source_text
from attnconf.conformance.source.syntax import tree_of

_SCORES = (
    r"\w*(scores?|logits?|energy|energies|escores?|puntajes?|puntuacion(es)?|punteggi|pontuac(ao|oes)|energias?|oceny)|"
    r"qk|qk_?t"
)
_GIVES = r"\b(returns?|returned|outputs?|gives|comes? (back|out))\b"
_SAID_SCORES = r"\b(scores|logits)\b|\b(before|without) (the |a |any )?softmax|\bpre-?softmax|\bunnormali[sz]ed\b"
_WEIGHTS = r"weight|prob|\bsums?\b|\bnormali[sz]ed|after"
_BATCH = (
    r"(?:b|bs|bsz|n|batch\w*|lot[eo]?s?|lott[oi]|paczk[ai]|partia|pak(i)?et|partiya|yigin|stapel|"
    r"(n|num)_?(samples|users|sentences|examples|sequences|proteins|images|clips|songs|patients|sessions))"
)
_SURELY_BATCH = r"b|bs|bsz|batch\w*|lotto|lote|lot|paczka|paket|partiya"
_SURELY_BATCH_WORD = rf"(?:{_SURELY_BATCH})"
_SEQUENCE = (
    r"(?:l|t|s|seq\w*|\w*len\w*|tokens?|time\w*|words?|steps?|lungh\w*|long(ueur|itud|u?\.)?|compr(imento)?|l(ae|ä)nge|"
    r"zeit|temps|tiempo|tempo|czas|zaman|vremya|dlug\w*|uzunluk|dlina|chang\w*|pas(so|sos|os|si)?)"
)
_SHAPE = r"[(\[]\s*{first}\s*,\s*{second}\s*,[^()\[\]]*[)\]]"
_NAME = r"\w+(?: \w+){0,2}"  # of an axis: ``Input length``
_OF_TOKENS = r"[(\[]\s*{first}\s*,\s*{second}\s*,[^()\[\],]*[)\]]"  # three axes: of four, weights may be told
_BATCH_FIRST = re.compile(_OF_TOKENS.format(first=rf"{_BATCH}(?: size)?", second=_NAME), re.IGNORECASE)
_BATCH_IN_WORDS = re.compile(_SHAPE.format(first=rf"{_SURELY_BATCH_WORD}(?: size)?", second=_NAME), re.IGNORECASE)
_ONE_SEQUENCE = re.compile(r"[(\[]\s*\w+\s*,\s*\w+\s*[)\]]")
_EXCHANGE = (
    r"(transpose|swapaxes|swapdims|movedim|moveaxis)\((\w+, *)?(0, *1|1, *0)\)|permute\(\(?1, *0\b|rearrange\(|\.t\(\)"
)
_SEQUENCE_FIRST = re.compile(_SHAPE.format(first=_SEQUENCE, second=_BATCH), re.IGNORECASE)
_TIMES = r"\b{first}\s*[x×*]\s*{second}\s*[x×*]\s*\w+"
_SURELY_SEQUENCE = re.compile(_SHAPE.format(first=_SEQUENCE, second=_SURELY_BATCH_WORD), re.IGNORECASE)
_BY_TIMES_SEQUENCE = re.compile(_TIMES.format(first=_SEQUENCE, second=_SURELY_BATCH_WORD), re.IGNORECASE)
_BY_TIMES_BATCH = re.compile(_TIMES.format(first=_SURELY_BATCH_WORD, second=r"\w+"), re.IGNORECASE)
# q, k, v: (B, H, L, E); the values may stand apart, where they have a width of their own
_ONE_SHAPE = r"\bq(uery)?\b,? *(and )?\bk(ey)?\b(,? *(and )?v(alue)?\b)?\s*[:(][^\n]*[(\[][^()\[\]]+,[^()\[\]]+[)\]]"
_UNSCALED = (
    r"\bT5\b|\bunscaled\b|"
    r"\b(not|never|without|no|nicht|ohne|sans|sin)\b[^.\n]{0,24}\b(scal|divi|sqrt|skal|échelle|escal)"
)
_NORMED = r"\bqk[\s_-]?norm|\bcosine (attention|scores|similarit)|\bnorm\w* (of )?(the )?q(uer(y|ies))?\b"
_ONE_MORE = r"\b1(\.0?)? ?\+ ?(w|weight|scale|gain|gamma|g)\b|\b(unit[\s_-]offset|zero[\s_-]cent(er|re)d)"
_UNDIVIDED = (
    r"\bunscaled\b|\b(not|never|without|no|nicht|ohne|sans|sin)\b[^.\n]{0,24}"
    r"(\bscaled?\b|\bscaling\b|\bdivided\b|\bdivision\b|1 ?/ ?(√|\w*\.?sqrt)|"
    r"\bskaliert|\bgeteilt)"
)
FROM_ONE = "the first token has position 1, and the file says that positions begin with 0"
_OF_IDS = r"[(\[]\s*{first}(?: size)?\s*,\s*{second}(?: length)?\s*[)\]]"  # two axes, in words
_IDS_BATCH_FIRST = re.compile(_OF_IDS.format(first=_SURELY_BATCH_WORD, second=_SEQUENCE), re.IGNORECASE)
_IDS_SEQUENCE_FIRST = re.compile(_OF_IDS.format(first=_SEQUENCE, second=_SURELY_BATCH_WORD), re.IGNORECASE)
_FROM_ZERO = re.compile(
    r"\bpositions?\b[^.\n=]{0,60}?\b(from|at|with|are|is|has|have|:)\s*(0\b|zero\b)|"  # are counted from 0
    r"\bpositions?\b[^.\n=]{0,40}?\(?\b0, 1, 2\b|\bposition (0|zero)\b[^.\n]{0,20}\bfirst\b|"
    r"\bfirst (token|word|element|position)\b[^.\n]{0,30}\bposition (0|zero)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(r"\b(sequence|time|tokens?|positions?)[- ](axis |dimension )?(first|major)\b", re.IGNORECASE)

# (d, L) or (d, L, B), and the word for a column in several languages
_COLUMNS = (
    r"\b(columns?|spalten?|colonn[ea]s?|columnas?|colunas?)\b|"
    rf"[(\[]\s*(d|dim|channels?|features?)\s*,\s*{_SEQUENCE}\s*[,)\]]"
)


_NAMED_ORDER = re.compile(r"pre_?(layer_?)?norm|add_?(and_?|n_?)?norm", re.IGNORECASE)  # post_norm may be either
_SAID_ORDER = re.compile(
    r"(pre|(?<!res-)post)[- ]?(layer[- ]?)?norm|add (&|and) norm|vaswani|attention is all you need", re.IGNORECASE
)
_SAID_PLACEMENT = re.compile(
    r"parallel[- _]?(attention|attn|block|layer|residual|sub-?layer|formulation|transformer|branch)|"
    r"side by side|sandwich|"
    r"(attention|attn|mlp|ffn?|network) (and|&|\+) (\w+ )?(attention|attn|mlp|ffn?|network) in parallel|"
    r"gpt-?j|neox|falcon|\bpalm\b|gemma|olmo|swin|res-post-norm|norms? (of|on) (the|each) (output|branch|sub-?layer)",
    re.IGNORECASE,
)
_A_SET = re.compile(
    r"\bdetr\b|object quer|(queries|targets|objects|slots) (\w+ ){0,3}set\b|set of (objects|queries|slots|boxes)|"
    r"non-?autoregressive",
    re.IGNORECASE,
)


def claims_batch_first(thing: Any) -> bool:
    """Return whether a class says that its input is (batch, …): then another order is no convention of it.

    It says so where it takes its input apart, ``B, L, E = x.shape``, or tells this shape in words, and no other.
    A class that can be told which comes first says nothing; nor does code that exchanges the two, but in docstrings.
    """
    try:
        if "batch_first" in inspect.signature(thing).parameters:
            return False
        source = textwrap.dedent(inspect.getsource(thing))
        tree = tree_of(source)
    except (OSError, TypeError, ValueError, SyntaxError):
        return False
    for node in () if _exchanges(source) else ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            first, *others = (ast.unparse(each) for each in node.targets[0].elts)
            words = ast.unparse(node.value)
            if "shape" in words or "size()" in words:
                second = "".join(others[:1])
                is_batch = re.fullmatch(_BATCH, first, re.IGNORECASE) is not None
                return is_batch and not re.fullmatch(_SURELY_BATCH, second, re.IGNORECASE)
    said = [line for line in _said_of_inputs(source) if _BATCH_FIRST.search(line) or _BY_TIMES_BATCH.search(line)]
    return bool(said) and not (_SEQUENCE_FIRST.search(source) or _BY_TIMES_SEQUENCE.search(source))


def _exchanges(source: str) -> bool:
    """Return whether code exchanges the first two axes of something: what it says behind that is said of no input."""
    return re.search(_EXCHANGE, source) is not None


def _said_of_inputs(source: str) -> list[str]:
    """Return the lines of docstrings, and of comments where these can only speak of the order that comes in."""
    return _docstrings(source) if _exchanges(source) else said_in(source)


def claims_sequence_first(thing: Any) -> bool:
    """Return whether a class says that its input is (tokens, batch, …), and says nothing else of an order.

    It does so by a shape, ``(seq_len, batch, dim)`` or ``T x B x C``, by the words "sequence first", or where it takes
    its input apart before anything is done to it, ``T, b, E = x.shape``.
    """
    try:
        source = textwrap.dedent(inspect.getsource(thing))
        if "batch_first" in source:
            return False
        if _takes_apart_sequence_first(tree_of(source)):
            return True
    except (OSError, TypeError, SyntaxError):
        return False
    told = "\n".join(_said_of_inputs(source))
    other = _BATCH_FIRST.search(told) or _BY_TIMES_BATCH.search(told) or re.search(r"(?i)batch[- ]first", told)
    return other is None and any(p.search(told) is not None for p in (_SURELY_SEQUENCE, _BY_TIMES_SEQUENCE, _TOLD))


def _takes_apart_sequence_first(tree: ast.AST) -> bool:
    """Return whether ``forward`` begins with the shape of an argument, of three axes, the second of them the batch."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    for function in functions:
        for node in function.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                axes = [ast.unparse(each) for each in node.targets[0].elts]
                asked = re.fullmatch(r"(\w+)\.(shape|size\(\))", ast.unparse(node.value))
                of_input = asked is not None and asked[1] in [a.arg for a in function.args.args]
                is_batch = [re.fullmatch(_SURELY_BATCH, axis, re.IGNORECASE) is not None for axis in axes]
                return of_input and is_batch == [False, True, False]
            if isinstance(node, ast.Assign | ast.AugAssign):
                return False
    return False


def claims_columns(thing: Any) -> bool:
    """Return whether a function, or its module, says in words that a token is a column: "column", or (d, L)."""
    try:
        source = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        return False
    words = inspect.getdoc(inspect.getmodule(thing)) or ""
    return re.search(_COLUMNS, "\n".join((*said_in(source), words)), re.IGNORECASE) is not None


def claims_batch(thing: Any) -> bool:
    """Return whether a class tells in words, of an input or of what comes back, that its first axis is the batch."""
    return any(_BATCH_IN_WORDS.search(line) for line in said_of(thing))


def _is_said(pattern: str, thing: Any) -> bool:
    """Return whether the words on a class or function, or on its file, have what a pattern stands for."""
    words = (*said_of(thing), getattr(inspect.getmodule(thing), "__doc__", None) or "")
    return re.search(pattern, "\n".join(words), re.IGNORECASE) is not None


def claims_unscaled(thing: Any) -> bool:
    """Return whether the words on a class or function, or on its file, say that scores are not divided.

    So they are not in T5, whose name says it.
    """
    if re.match(r"_*t5", getattr(thing, "__name__", ""), re.IGNORECASE):
        return True
    return _is_said(_UNSCALED, thing)


def claims_normed(thing: Any) -> bool:
    """Return whether the words on a class or function, or on its file, say that queries and keys are normalised."""
    return _is_said(_NORMED, thing)


def claims_one_more(thing: Any) -> bool:
    """Return whether the words on a function, or on its file, say that a norm multiplies by 1 plus its weight."""
    return _is_said(_ONE_MORE, thing)


def denies_division(thing: Any) -> bool:
    """Return whether the words on a class or function, or on its file, deny that scores are divided."""
    return _is_said(_UNDIVIDED, thing)


def claims_one_shape(thing: Any) -> bool:
    """Return whether the words on a function tell one shape for query, key and value: they are equally long."""
    return re.search(_ONE_SHAPE, "\n".join(said_of(thing)), re.IGNORECASE) is not None


def claims_batches_only(thing: Any) -> bool:
    """Return whether the words on a function, or on its file, tell shapes (batch, tokens, width), and none of two axes.

    Then a function that runs on one sequence without a batch is not meant to: ``(n, d)`` is no input of it.
    """
    try:
        own = said_in(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError):
        return False
    of_file = (getattr(inspect.getmodule(thing), "__doc__", None) or "").splitlines()
    told = "\n".join([*own, *of_file])
    batches = [found[0].count(",") for found in _BATCH_IN_WORDS.finditer(told)]
    return bool(batches) and max(batches) == 2 and _ONE_SEQUENCE.search(told) is None


def claims_from_zero(place: Place) -> bool:
    """Return whether the words of a file say that positions begin with 0, and say nothing else of padding there."""
    return any(_FROM_ZERO.search(line) and "pad" not in line.lower() for line in said_in_file(place.module))


def claims_ids_batch_first(thing: Any) -> bool:
    """Return whether a class says that the ids that it takes are (batch, tokens), and nothing else of their order."""
    told = "\n".join(said_of(thing))
    batch_first = _IDS_BATCH_FIRST.search(told) is not None or claims_batch_first(thing)
    return batch_first and _IDS_SEQUENCE_FIRST.search(told) is None


def claims_a_set(thing: Any) -> bool:
    """Return whether a decoder says that its targets are no sequence: a set of objects, or all predicted at once."""
    return _A_SET.search("\n".join((getattr(thing, "__name__", ""), *said_of(thing)))) is not None


def says_its_order(thing: Any) -> bool:
    """Return whether a layer says where its norms stand: by the names in its code, or by its words."""
    words = "\n".join(said_of(thing))
    return bool(
        _NAMED_ORDER.search(f"{thing.__name__}\n{source_text.code_reached(thing)}") or _SAID_ORDER.search(words)
    )


def says_its_placement(thing: Any) -> bool:
    """Return whether a layer says that it has its norms, or its sublayers, where others than post-norm and pre-norm do.

    Only words count that are of layers: code is "parallel" for many reasons.
    """
    return _SAID_PLACEMENT.search("\n".join((getattr(thing, "__name__", ""), *said_of(thing)))) is not None


def says_log_softmax(place: Place) -> bool:
    """Return whether a class calls log_softmax, and no words of its file call what comes out logits instead."""
    code = source_text.code_reached(place.thing)
    if re.search(r"(?i)log_?softmax", code) is None:
        return False
    told = "\n".join(said_in_file(place.module))
    return re.search(r"(?i)\blogits\b", told) is None or re.search(r"(?i)\blog[-_ ]?prob", told) is not None


def returns_scores(thing: Any, place: int) -> bool:
    """Return whether each tuple that a call returns has, at a place, what is called scores: it claims no weights.

    It is called so by its name, or in a sentence on what comes back where its name is none of weights.
    """
    tuples = [value.elts for value in _returned(thing) if isinstance(value, ast.Tuple) and len(value.elts) > place]
    names = [ast.unparse(elts[place]) for elts in tuples]
    if not names or all(re.fullmatch(_SCORES, name) for name in names):
        return bool(names)
    return not any(re.search(_WEIGHTS, name, re.IGNORECASE) for name in names) and _says_scores(thing)


def _says_scores(thing: Any) -> bool:
    """Return whether a sentence of a class or function says that scores come back, and none that weights do."""
    sentences = re.split(r"[.;](?:\s|$)", " ".join(said_of(thing)))
    sentences = [s for s in sentences if re.search(_GIVES, s, re.IGNORECASE)]
    scores = any(re.search(_SAID_SCORES, s, re.IGNORECASE) for s in sentences)
    return scores and not any(re.search(_WEIGHTS, s, re.IGNORECASE) for s in sentences)


def returns_several(thing: Any) -> bool:
    """Return whether all that a call returns is a tuple, in so many words."""
    returned = _returned(thing)
    return bool(returned) and all(isinstance(value, ast.Tuple) for value in returned)


def _returned(thing: Any) -> list[ast.expr | None]:
    """Return the expressions that a call's own code returns; none where it is not to be read."""
    try:
        tree = tree_of(textwrap.dedent(inspect.getsource(call_of(thing))))
    except (OSError, TypeError, ValueError, SyntaxError):
        return []
    inner = [node for f in ast.walk(tree.body[0]) if isinstance(f, ast.FunctionDef) for node in ast.walk(f)]
    nested = {id(n) for f in inner if isinstance(f, ast.FunctionDef) and f is not tree.body[0] for n in ast.walk(f)}
    return [n.value for n in inner if isinstance(n, ast.Return) and id(n) not in nested]


def said_of(thing: Any) -> list[str]:
    """Return the words of a class or function, as ``said_in`` has them; none where its source is not to be had."""
    try:
        return said_in(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError):
        return []


def sentences(said: Iterable[str]) -> list[str]:
    """Return the sentences of lines of docstrings and comments, each on one line; a semicolon ends one, too."""
    return re.split(r"(?<![.\d])\.(?= )|;", re.sub(r"\s+", " ", " ".join(said)))


def words_of(thing: Any) -> str:
    """Return the docstrings of a class or function, and of its call."""
    return " ".join(inspect.getdoc(one) or "" for one in (thing, call_of(thing)))


def said_in_file(module: Any) -> list[str]:
    """Return the words of the file that a module was read from, likewise."""
    text = source_text.text_of_module(module)
    return said_in(text.text) if text else []


def said_in(source: str) -> list[str]:
    """Return the lines of docstrings and comments, where a shape is no call."""
    comments = [line.partition("#")[2] for line in source.splitlines() if "#" in line]
    return [*comments, *_docstrings(source)]


def _docstrings(source: str) -> list[str]:
    quoted = re.findall(r"""(\"{3}|'{3})(.*?)\1""", source, re.DOTALL)
    return [line for _, text in quoted for line in text.splitlines()]
