"""Judge every shipped adapter, each in a process of its own, and write the pages of the gallery.

``python -m attnconf.reports.gallery.make``. With ``--pages`` only the pages are made, of the results that are there.
"""

import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.reports import merging, record
from attnconf.reports.comparison import accuracy, choices, overview
from attnconf.reports.markdown import table, tabulated
from attnconf.reports.record import Record

GALLERY = Path(__file__).resolve().parent
RESULTS = GALLERY / "cpu.json.xz"
PAGE = GALLERY / "cpu.html"
PAGES = (PAGE, GALLERY.parent / "adapters.md")
TABLES = {GALLERY / "README.md": "cpu.html", GALLERY.parents[1] / "README.md": "reports/gallery/cpu.html"}
MARKED = re.compile("(<!-- gallery -->\n).*?(<!-- end -->)", re.DOTALL)
ANSWERED = re.compile("(<!-- answers -->\n).*?(<!-- end -->)", re.DOTALL)
PROJECTS = {  # how the names of its adapters begin: the project
    "torch_": "PyTorch", "flex_": "PyTorch", "projected_torch": "PyTorch", "transformers_": "Transformers",
    "x_transformers": "x-transformers", "flax_": "Flax", "equinox_": "Equinox", "keras_": "Keras",
    "rotary_embedding_torch": "rotary-embedding-torch", "positional_encodings": "positional-encodings",
    "jax_": "JAX", "haiku_": "Haiku", "mlx_": "MLX", "onnx_": "ONNX", "curated_": "curated-transformers",
    "subword_nmt_": "subword-nmt", "tokenizers_": "tokenizers", "timm_": "timm", "torchtune_": "torchtune",
    "flash_attn": "flash-attn", "reference": "the reference",
}  # fmt: skip
OURS = "modules in textbooks' manner"  # all other adapters
WITHOUT_US = (
    "Known deviations are listed with their reasons, and [shown without this project](reports/findings/README.md). "
    "[On a GPU](reports/gallery/README.md#on-a-gpu). [Model families by backend](reports/families.md)."
)
FAMILIES = ("Model families of transformers by attention backend", "../families.md")  # which are not judged as adapters
HEAD = ("project", "implementations", "components that conform", "known deviations", "version", "robust", "precise")
SHORT = 4  # columns


def main() -> None:
    """Carry out the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--pages", action="store_true", help="make the pages alone, of the results that are there")
    if not parser.parse_args().pages:
        record.write(RESULTS, merged(judged(adapter_names())))
    for page in PAGES:
        _attnconf("report", str(RESULTS), "-o", str(page))
    record.write_text(PAGE, with_families(PAGE.read_text(encoding="utf-8")))
    content = record.read(RESULTS)
    for readme, link in TABLES.items():
        record.write_text(readme, with_summary(readme.read_text(encoding="utf-8"), content, link))


def judged(adapters: Sequence[str]) -> list[Record]:
    """Return the records of these adapters, without those whose library is not installed."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        files = [Path(folder) / f"{adapter}.json" for adapter in adapters]
        for done in pool.map(_judge, adapters, files):
            print(done, flush=True)
        records = [record.read(file) for file in files]
    return [r for r in records if any(i["components"] for i in r["implementations"])]


def _judge(adapter: str, file: Path) -> str:
    printed = _attnconf("run", "--impl", adapter, "-q", "--results", str(file))
    return next((line for line in printed.splitlines() if line.strip()), adapter)


def _attnconf(*words: str) -> str:
    """Return what a command printed. Raises RuntimeError where it is bad input, or a fault of the suite."""
    command = [sys.executable, "-m", "attnconf", *words]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}  # as many run at once as there are processors
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=alone)
    if done.returncode > 1:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def merged(records: Sequence[Record]) -> Record:
    """Return the records of one suite in one environment as one. Raises ValueError if they differ in these."""
    for key in ("suite", "environment"):
        if unlike := next((r for r in records if r[key] != records[0][key]), None):
            raise ValueError(f"the runs differ in their {key}: {records[0][key]}, {unlike[key]}")
    lists = {key: [x for r in records for x in r[key]] for key in ("implementations", "results", "verdicts")}
    for i in lists["implementations"]:
        i["source"] = f"adapters/{Path(i['source']).name}"
    planned, complete = sum(r["planned"] for r in records), all(r["complete"] for r in records)
    return {**records[0], **lists, "planned": planned, "complete": complete}


def with_families(page: str) -> str:
    """Return the HTML page with the way to what the gallery does not hold, at the end of its head."""
    words, way = FAMILIES
    return page.replace("</header>", f'<p class="soft">Elsewhere: <a href="{way}">{words}</a></p>\n</header>', 1)


def with_summary(page: str, content: Record, link: str) -> str:
    """Return a page with the table of projects between its marks, and with answers where it has marks for these."""
    for place, told in ((MARKED, summary(content, link)), (ANSWERED, answers(content))):
        literal = told.replace("\\", r"\\")
        page = place.sub(rf"\g<1>{literal}\n\g<2>", page)
    return page


def summary(content: Record, link: str) -> str:
    """Return the table of projects, in Markdown, and the numbers of implementations by verdict with a link.

    Where the link leads into a folder, on the page for newcomers, it is in short: other projects, and no qualities.
    """
    entries = overview.entries(merging.judged([(RESULTS.name, content)]))
    projects: dict[str, list[overview.Entry]] = {}
    for entry in entries:
        projects.setdefault(project(entry.label), []).append(entry)
    short = "/" in link
    ordered = sorted(projects, key=lambda name: (name == OURS, name == PROJECTS["reference"], name.lower()))
    rows = [_row(name, projects[name]) for name in ordered if not (short and name in (OURS, PROJECTS["reference"]))]
    lines = table(HEAD[:SHORT] if short else HEAD, [row[:SHORT] if short else row for row in rows])
    numbers = ", ".join(f"{n} {verdict}" for verdict, n in overview.totals(entries).items())
    told = [
        f"[All {len(entries)} side by side]({link}): {numbers}.",
        WITHOUT_US if short else "[{}]({}).".format(*FAMILIES),
    ]
    return "\n".join([*lines, "", *told])


def answers(content: Record) -> str:
    """Return lists, in Markdown: who gives what to a query without keys, and who loses what in half precision."""
    judged = merging.judged([(RESULTS.name, content)])
    (empty,) = (choice for choice in choices.choices(judged, {}) if choice.name == "fully-masked-row")
    lines = [
        f"* A query that may attend to no key gets **{what}**: {', '.join(who)}." for what, who in empty.chosen.items()
    ]
    for r, who in _not_met(judged, lambda r: [""] if r["requirement"].startswith("MASK-EMPTY") else []).values():
        lines.append(f"* But {_linked(r)}, *{r['sentence']}*, is **not met** by {', '.join(who[''])}.")
    return "\n".join([*lines, "", *_in_half_precision(judged)])


def _in_half_precision(judged: Sequence[merging.Judged]) -> list[str]:
    """Return a table of what is not met in half precision, each dtype apart."""
    found = _not_met(judged, lambda r: [dtype for dtype in accuracy.failed_in(r) if "16" in dtype])
    dtypes = [dtype for dtype in accuracy.DTYPES if any(dtype in who for _, who in found.values())]
    rows = [
        [_linked(r), r["sentence"], *(", ".join(who.get(dtype, [])) for dtype in dtypes)] for r, who in found.values()
    ]
    return tabulated(rows, ["in half precision", "what is asked", *(f"not met in {dtype} by" for dtype in dtypes)])


def _not_met(
    judged: Sequence[merging.Judged], under: Callable[[Record], Sequence[str]]
) -> dict[str, tuple[Record, dict[str, list[str]]]]:
    """Return the requirements that fail, with who fails them, under some words each; those without words not."""
    found: dict[str, tuple[Record, dict[str, list[str]]]] = {}
    for i in judged:
        for r in i.results:
            for word in under(r) if r["outcome"] == "fail" else ():
                who = found.setdefault(r["requirement"], (r, {}))[1].setdefault(word, [])
                who += [i.label] if i.label not in who else []
    return dict(sorted(found.items()))


def _linked(r: Record) -> str:
    return f"[{r['requirement']}](../../{r['spec']})"


def project(implementation: str) -> str:
    """Return the project that an implementation belongs to."""
    return next((name for begin, name in PROJECTS.items() if implementation.startswith(begin)), OURS)


def _row(name: str, entries: Sequence[overview.Entry]) -> list[str]:
    versions = ", ".join(dict.fromkeys(e.version.partition("+")[0] for e in entries if e.version))
    conforming = f"{sum(e.conforming for e in entries)} of {sum(len(e.components) for e in entries)}"
    known, qualities = sum(e.known for e in entries), (_share(entries, q) for q in ("robust", "precise"))
    return [name, str(len(entries)), conforming, str(known), versions, *qualities]


def _share(entries: Sequence[overview.Entry], quality: str) -> str:
    shares = [e.qualities[quality] for e in entries if quality in e.qualities]
    return f"{sum(met for met, _ in shares)} of {sum(judged for _, judged in shares)}" if shares else ""


if __name__ == "__main__":
    main()
