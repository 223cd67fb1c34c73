"""What the arguments of somebody's constructor are for, read off what is done with them; nothing is run.

A name counts where the code shows its role: what a table of ids is as wide as is the model's width, what that is
divided by are heads, what a loop that makes layers counts are layers. An entry of a configuration counts as an
argument. Where nothing shows a role, there is none.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from attnconf.reports.studies.reading import values as known
from attnconf.reports.studies.reading.constants import NORMS
from attnconf.reports.studies.reading.values import Definition, File, keyword, last_name

CONFIGURATION = re.compile(r"(.*_)?(config\w*|cfg|conf|args|opts?|hparams|params|hp|settings|spec)", re.IGNORECASE)
LINEAR = {"Linear", "ColumnParallelLinear", "RowParallelLinear", "CustomLinear", "LinearLayer"}
NORM = re.compile(r"\w*(Layer_?Norm|RMSNorm)\w*", re.IGNORECASE)
POSITIONS = re.compile(r"pos|wpe|order|time|step", re.IGNORECASE)
NO_TOKENS = re.compile(r"type|seg|rel|action|class|label", re.IGNORECASE)
KINDS = {  # of a class of the same file, by its name
    "feed-forward": re.compile(r"ffn|mlp|feed|swiglu", re.IGNORECASE),
    "positions": re.compile(r"pos|rotary|rope", re.IGNORECASE),
}
LIBRARY = {  # of torch: the roles of arguments by place
    "MultiheadAttention": ("the width", "heads", "dropout"),
    "TransformerEncoderLayer": ("the width", "heads", "the hidden width", "dropout"),
    "TransformerDecoderLayer": ("the width", "heads", "the hidden width", "dropout"),
}
BY_NAME = {
    "embed_dim": "the width", "d_model": "the width", "num_heads": "heads", "nhead": "heads",
    "dim_feedforward": "the hidden width",
}  # fmt: skip
Pair = tuple[str, str]


@dataclass
class Names:
    """What the names in a constructor stand for."""

    file: File
    owner: Definition

    def __post_init__(self) -> None:
        self.given = [name for maker in self.makers() for name in known.arguments(maker)] + self.fields()
        self.alias: dict[str, str] = {}
        for node in [*self.nodes(), *ast.walk(self.owner)]:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                self.assign(node.targets if isinstance(node, ast.Assign) else [node.target], node.value)

    def makers(self) -> list[ast.FunctionDef]:
        if isinstance(self.owner, ast.FunctionDef):
            return [self.owner]
        return known.makers(self.owner)

    def fields(self) -> list[str]:
        """Return the fields of a dataclass, as Flax has them."""
        fields = [n.target for n in self.owner.body if isinstance(n, ast.AnnAssign)]
        return [f.id for f in fields if isinstance(f, ast.Name)] if isinstance(self.owner, ast.ClassDef) else []

    def nodes(self) -> Iterator[ast.AST]:
        """Yield what makers hold, in the order of the text; of a dataclass what all of it does."""
        for body in [self.owner] if self.fields() else self.makers():
            yield from in_order(body)

    def assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        """Keep what names and attributes stand for."""
        for target in targets:
            for place, one in known.pairs(target, value):
                name = self.name(one) if one is not value or place is target else None  # or several of one
                if name and known.is_own(place):
                    self.alias.setdefault(f"self.{last_name(place)}", name)
                elif name and isinstance(place, ast.Name):
                    self.alias.setdefault(place.id, name)

    def name(self, node: ast.AST | None) -> str | None:
        """Return the argument, or the entry of a configuration, that an expression is."""
        match node:
            case ast.Name(id=name):
                return self.alias.get(name) or (name if name in self.given else None)
            case ast.Attribute(value=base, attr=entry) if known.is_own(node):
                return self.alias.get(f"self.{entry}") or (entry if entry in self.fields() else None)
            case (
                ast.Attribute(value=base, attr=entry)
                | ast.Subscript(value=base, slice=ast.Constant(value=str(entry)))
                | ast.Call(func=ast.Attribute(value=base, attr="get"), args=[ast.Constant(value=str(entry)), *_])
            ):
                return entry if CONFIGURATION.fullmatch(last_name(base)) else None
            case ast.Call(func=ast.Name(id="int"), args=[only]) | ast.List(elts=[only]) | ast.Tuple(elts=[only]):
                return self.name(only)
        return None


@dataclass
class Sizes(Names):
    """The roles of what a constructor is given."""

    component: str = ""
    depth: int = 0
    roles: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.linears: list[tuple[str | None, str | None]] = []
        self.counted: list[str | None] = []  # rows that are counted
        self.pairs: dict[type[ast.operator], list[Pair]] = {ast.FloorDiv: [], ast.Mult: []}
        self.seen_as_heads: list[str] = []
        self.seen_as_widths: list[str] = []
        for node in self.nodes():
            self.visit(node)
        for node in ast.walk(self.owner):
            self.visit_all(node)
        self.finish()

    def tell(self, role: str, *nodes: ast.AST | None) -> None:
        for name in (self.name(node) for node in nodes):
            self.add(role, name)

    def add(self, role: str, name: str | None) -> None:
        if name and name not in self.roles.setdefault(role, []):
            self.roles[role].append(name)

    def visit(self, node: ast.AST) -> None:
        """Read the roles that a node of the constructor shows."""
        match node:
            case ast.Call():
                self.call(node)
                self.inside(node)
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() | ast.Div() | ast.Mult() as sign, right=right):
                one, other = self.name(left), self.name(right)
                if one and other and one != other:
                    self.pairs[ast.Mult if isinstance(sign, ast.Mult) else ast.FloorDiv].append((one, other))
            case ast.ListComp(generators=[ast.comprehension(iter=over)], elt=made) if makes(made):
                self.loop(over)
            case ast.For(iter=over) if any(makes(one) for one in node.body):
                self.loop(over)

    def loop(self, over: ast.AST) -> None:
        if isinstance(over, ast.Call) and last_name(over.func) == "range" and self.component in ("models", "layers"):
            self.tell("layers", over.args[-1])

    def visit_all(self, node: ast.AST) -> None:
        """Read the roles that a node of any method shows: how features are cut into heads, and ε beside a variance."""
        match node:
            case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=args):
                shape = args[0].elts if len(args) == 1 and isinstance(args[0], ast.Tuple | ast.List) else args
                self.cut(shape)
            case ast.Call(args=[_, ast.Tuple(elts=shape) | ast.List(elts=shape)]):  # tf.reshape(x, (b, -1, h, d))
                self.cut(shape)
            case ast.Call(func=func, args=args) if last_name(func) == "dropout":  # F.dropout
                self.tell("dropout", keyword(node, "p", "rate"), *args[1:2])
            case ast.Call(func=func, args=args) if last_name(func) in NORMS and self.component == "norms":
                place = NORMS[last_name(func)]
                self.tell("ε", keyword(node, "eps"), *args[place : place + 1])
            case ast.Call(func=func) if last_name(func) == "rearrange":
                self.seen_as_heads += [n for n in [self.name(keyword(node, "h", "heads", "n_heads"))] if n]
            case ast.BinOp(op=ast.Add(), left=left, right=right) if self.component == "norms":
                self.tell("ε", left, right)

    def cut(self, shape: Sequence[ast.expr]) -> None:
        """Read the heads, and their width, off the shape that features take."""
        if len(shape) == 5 and any(isinstance(one, ast.Constant) and one.value == 3 for one in shape[2:4]):
            shape = [one for one in shape if not (isinstance(one, ast.Constant) and one.value == 3)]
        if len(shape) == 4 and len({ast.dump(one) for one in shape}) == 4:
            heads, width = self.name(shape[2]), self.name(shape[3])
            self.seen_as_heads += [heads] if heads else []
            self.seen_as_widths += [width] if heads and width else []

    def call(self, node: ast.Call) -> None:
        """Read the roles of what a call is given."""
        name, given = last_name(node.func), node.args
        first, second = (*given[:2], None, None)[:2]
        self.tell("dropout", keyword(node, "dropout", "dropout_p", "dropout_rate"))
        self.tell("ε", keyword(node, "eps", "epsilon", "variance_epsilon"))
        if name.endswith("Dropout"):
            self.tell("dropout", first or keyword(node, "p", "rate"))
        elif name in LINEAR:
            into, out = (first or keyword(node, "in_features"), second or keyword(node, "out_features"))
            self.linears.append((self.name(into), self.name(out)))
        elif name == "Embedding":
            self.embedding(node, first or keyword(node, "num_embeddings"), second or keyword(node, "embedding_dim"))
        elif NORM.fullmatch(name):
            if self.component != "attention":  # where norms may be of each head
                self.tell("the width", first or keyword(node, "normalized_shape", "dim", "hidden_size"))
            self.tell("ε", second)
        elif name in LIBRARY and self.file.definitions.get(name) is None:
            for role, value in zip(LIBRARY[name], given, strict=False):
                self.tell(role, value)
            for word, role in BY_NAME.items():
                self.tell(role, keyword(node, word))
        elif re.fullmatch(r"_?(get_)?clones|Transformer(En|De)coder", name):
            self.tell("layers", second or keyword(node, "num_layers", "N"))
        else:
            self.tables(name, given)

    def tables(self, name: str, given: Sequence[ast.expr]) -> None:
        """Read the sizes of what is filled or counted: tables of positions, triangles, gains, matrices."""
        shape = given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
        if self.component == "positions" and name in ("zeros", "ones", "empty") and len(shape) == 2:
            self.tell("the longest length", shape[0])
            self.tell("the width", shape[1])
        elif self.component == "positions" and name == "arange" and len(shape) > 2:
            self.tell("the width", *(shape[1:2] if isinstance(shape[2], ast.Constant) and shape[2].value == 2 else []))
        elif self.component == "positions" and name == "arange" and shape:
            self.counted.append(self.name(shape[-1]))
        elif self.component == "models" and name in ("zeros", "randn", "empty") and len(shape) == 3:
            self.tell("the longest length", shape[1] if isinstance(shape[0], ast.Constant) else None)
        elif self.component == "norms" and name in ("ones", "zeros", "empty") and len(shape) == 1:
            self.tell("the width", shape[0])
        elif name == "ones" and len(shape) == 2 and ast.dump(shape[0]) == ast.dump(shape[1]):  # of a triangle
            self.tell("the longest length", shape[0])
        elif name in ("rand", "randn", "empty") and len(shape) == 2 and self.component in ("attention", "feed-forward"):
            self.linears.append((self.name(shape[0]), self.name(shape[1])))

    def embedding(self, node: ast.Call, rows: ast.expr | None, width: ast.expr | None) -> None:
        """Read the roles of the sizes of a table, by what keeps it."""
        keeper = next((text for text, call in self.kept() if any(one is node for one in ast.walk(call))), "")
        if self.component == "positions" or POSITIONS.search(keeper):
            self.tell("the longest length", rows)
        elif not NO_TOKENS.search(keeper):
            self.tell("the vocabulary", rows)
        self.tell("the width", width)

    def kept(self) -> Iterator[tuple[str, ast.AST]]:
        """Yield what is kept, and as what: attributes, and entries of a dict of modules."""
        for node in self.nodes():
            if isinstance(node, ast.keyword) and node.arg:
                yield node.arg, node.value
            if isinstance(node, ast.Dict):
                yield from ((str(k.value), v) for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant))  # noqa: B905
        if isinstance(self.owner, ast.ClassDef):
            yield from known.made_in(self.owner).items()

    def inside(self, node: ast.Call) -> None:
        """Read the roles that a class of the same file shows for what it is given."""
        owner = self.file.definitions.get(last_name(node.func))
        if isinstance(owner, ast.ClassDef) and owner is not self.owner and self.depth < 3:
            component = next((kind for kind, words in KINDS.items() if words.search(owner.name)), "attention")
            inner = Sizes(self.file, owner, component, self.depth + 1)
            named = dict(zip(inner.given, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
            for role, names in inner.roles.items():
                self.tell(role, *(named.get(name) for name in names))

    def finish(self) -> None:
        """Read what only all calls together show."""
        there_and_back = [(one, other) for one, other in self.linears if one != other and one and other]
        hidden = [b for a, b in there_and_back if (b, a) in there_and_back][:1]
        if self.component == "feed-forward" and not hidden and len(self.linears) > 1:
            out = self.linears[0][1]
            hidden = [out] if out and out == self.linears[-1][0] and out != self.linears[-1][1] else []
        if hidden and (self.component != "attention" or self.depth):
            self.add("the hidden width", hidden[0])
        if self.component in ("feed-forward", "attention"):
            self.add("the width", next((into for into, _ in self.linears if into), None))
        inner = self.roles.get("the hidden width", [])
        self.roles["the width"] = [name for name in self.roles.get("the width", []) if name not in inner]
        rows = [name for name in self.counted if name not in self.roles["the width"]]
        if not self.roles.get("the longest length") and len(set(rows)) == 1:
            self.add("the longest length", rows[0])
        if self.component != "positions" and self.component != "norms":
            self.heads()

    def heads(self) -> None:
        """Read heads off quotients of the width and off how features are cut, those of keys off quotients of heads."""
        widths = {*self.roles["the width"], *(into for into, _ in self.linears if into)}
        parts = [part for whole, part in self.pairs[ast.FloorDiv] if whole in widths and part not in widths]
        sure = [name for name in self.seen_as_heads if name not in widths]
        both = [name for name in parts if name in sure] or parts or sure
        shared = [part for whole, part in self.pairs[ast.FloorDiv] if whole in both and part in {*sure, *parts}]
        shared = shared or [part for whole, part in self.pairs[ast.FloorDiv] if whole in both and whole != part]
        alone = [name for name in dict.fromkeys(both) if name not in shared]
        if len(alone) == 1:
            self.add("heads", alone[0])
            for name in shared:
                self.add("heads of keys", name)
        for pair in self.pairs[ast.Mult]:
            for one, other in (pair, pair[::-1]):
                if one in alone and other not in {*widths, *shared}:
                    self.add("the width of a head", other)
        for name in self.seen_as_widths if alone else []:
            self.add("the width of a head", name)


def makes(node: ast.AST) -> bool:
    """Return whether a node makes a module."""
    return any(isinstance(one, ast.Call) and last_name(one.func)[:1].isupper() for one in ast.walk(node))


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what it holds, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)
