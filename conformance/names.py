"""Names that can be listed without importing torch: adapters and mutants, read off the files."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnconf.adapters
from attnconf.spec import registry

NOT_ADAPTERS = {"__init__", "contract", "binding"}


@cache
def adapter_names() -> tuple[str, ...]:
    """Return the names of the shipped adapters."""
    files = Path(str(attnconf.adapters.__file__)).parent.glob("*.py")
    return tuple(sorted(path.stem for path in files if path.stem not in NOT_ADAPTERS))


@dataclass(frozen=True)
class MutantText:
    """What a mutant says of itself."""

    id: str
    chapter: str
    story: str
    breaks: tuple[str, ...]
    hint: str
    source: str
    line: int


@cache
def mutant_texts() -> dict[str, MutantText]:
    """Return the mutants of all chapters by id, from the source of their modules."""
    found = {}
    for chapter in registry.CHAPTERS.values():
        path = Path(__file__).parent / "mutants" / f"{chapter}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Mutant":
                given = {k.arg: k.value for k in node.keywords if k.arg in ("story", "breaks", "hint", "source")}
                values = {key: ast.literal_eval(value) for key, value in given.items()}
                name = ast.literal_eval(node.args[0])
                found[name] = MutantText(
                    name, chapter, values["story"], tuple(sorted(values["breaks"])), values["hint"],
                    values.get("source", ""), node.lineno,
                )  # fmt: skip
    return dict(
        sorted(found.items(), key=lambda item: (list(registry.CHAPTERS.values()).index(item[1].chapter), item[1].line))
    )
