"""Does a model work on sequences longer than those it was trained on, and which positions does that take?

Tiny causal transformers, built from the functions of the reference, learn three tasks on short sequences and are
tested on longer ones:

    python reports/studies/extrapolation.py            everything, or what is still missing after an interruption
    python reports/studies/extrapolation.py --quick    a few steps of a few models, to see that it runs

Writes extrapolation.json and extrapolation-longer.json (every model's accuracies), extrapolation.md and
extrapolation.png beside this file, or to the folder given with --output. Not part of the installed package. Needs
matplotlib and tqdm.
"""

import argparse
import itertools
import json
import math
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn
from tqdm import tqdm

from attnconf.reference import alibi, relative_bias
from attnconf.reference.attention import attend
from attnconf.reference.learned import learned
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import merge_heads, split_heads
from attnconf.reference.rotary import frequencies, rotate
from attnconf.reference.sinusoidal import sinusoidal
from attnconf.reports.record import write_text

METHODS = ("none", "sinusoidal", "learned", "rotary", "ALiBi", "T5 bias")
UNSCORED = -100  # the target of a position that is neither trained nor tested; cross_entropy leaves it out


@dataclass(frozen=True)
class Settings:
    """All numbers of the study."""

    train_length: int = 32  # tokens
    ratios: tuple[int, ...] = (1, 2, 4, 8)  # test length / training length
    vocabulary: int = 16
    layers: int = 2
    width: int = 64
    heads: int = 4
    batch: int = 16  # sequences
    steps: int = 450
    learning_rate: float = 3e-3
    warmup: int = 50  # steps
    seeds: int = 5
    test_sequences: int = 64  # for each length, the same for all models
    buckets: int = 16  # of the T5 bias; all of them occur in training, as in T5, where max_distance is below the length
    max_distance: int = 16
    base: float = 10000.0  # of sinusoidal and rotary


# Some models trained four times as long, to see whether the answer hangs on the number of steps.
LONGER = Settings(steps=1800, seeds=2)
LONGER_PAIRS = (
    ("three back", "rotary"),
    ("first", "rotary"),
    ("after the marker", "rotary"),
    ("three back", "ALiBi"),
    ("three back", "T5 bias"),
)
QUICK = Settings(train_length=8, ratios=(1, 2), batch=4, steps=3, warmup=2, seeds=2, test_sequences=4)


# -- tasks: (tokens (B, L), targets (B, L)) from a count, a length and a source of chance


def three_back(count: int, length: int, vocabulary: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Say the token three steps ago."""
    tokens = torch.randint(vocabulary, (count, length), generator=chance)
    targets = torch.full_like(tokens, UNSCORED)
    targets[:, 3:] = tokens[:, :-3]
    return tokens, targets


def first(count: int, length: int, vocabulary: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Say the first token of the sequence."""
    tokens = torch.randint(vocabulary, (count, length), generator=chance)
    targets = tokens[:, :1].expand(-1, length).clone()
    targets[:, 0] = UNSCORED
    return tokens, targets


def after_marker(count: int, length: int, vocabulary: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Say the token that followed the marker, which stands somewhere in the first quarter."""
    tokens = torch.randint(vocabulary, (count, length), generator=chance)
    marker = torch.randint(length // 4, (count, 1), generator=chance)
    tokens.scatter_(1, marker, vocabulary)
    targets = tokens.gather(1, marker + 1).expand(-1, length)
    return tokens, targets.masked_fill(torch.arange(length) < marker + 2, UNSCORED)


Task = Callable[[int, int, int, torch.Generator], tuple[Tensor, Tensor]]
TASKS: dict[str, Task] = {"three back": three_back, "first": first, "after the marker": after_marker}


# -- the model


class Block(nn.Module):
    """Attention, then feed-forward, each behind a norm and around a residual."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, turn: Callable[[Tensor], Tensor], mask: Tensor, bias: Tensor | None) -> Tensor:
        y = self.norm_attention(x)
        q, k, v = (split_heads(project(y), self.heads) for project in (self.q, self.k, self.v))
        x = x + self.out(merge_heads(attend(turn(q), turn(k), v, mask, bias)[0]))
        out: Tensor = x + self.feed_forward(self.norm_feed_forward(x))
        return out


class Decoder(nn.Module):
    """A causal transformer: tokens (B, L) -> scores of the next word (B, L, vocabulary)."""

    def __init__(self, method: str, s: Settings):
        super().__init__()
        self.method, self.s = method, s
        self.token = nn.Embedding(s.vocabulary + 1, s.width)  # one more for the marker
        self.blocks = nn.ModuleList(Block(s.width, s.heads) for _ in range(s.layers))
        self.read = nn.Sequential(nn.LayerNorm(s.width), nn.Linear(s.width, s.vocabulary))
        if method == "learned":  # drawn like the tokens; the rows beyond the training length stay so
            self.rows = nn.Parameter(torch.randn(s.train_length * max(s.ratios), s.width))
        if method == "T5 bias":
            self.table = nn.Parameter(torch.zeros(s.buckets, s.heads))

    def forward(self, tokens: Tensor) -> Tensor:
        x, length = self.place(self.token(tokens)), tokens.shape[1]
        mask, bias = causal(length, length), self.bias(length)
        for block in self.blocks:
            x = block(x, self.turn, mask, bias)
        scores: Tensor = self.read(x)
        return scores

    def place(self, x: Tensor) -> Tensor:
        """Return the embeddings, positions added where the method does that."""
        if self.method == "sinusoidal":
            return sinusoidal(x, base=self.s.base)
        return learned(x, self.rows) if self.method == "learned" else x

    def turn(self, x: Tensor) -> Tensor:
        """Return queries or keys (B, H, L, E), turned where the method does that."""
        if self.method != "rotary":
            return x
        return rotate(x, None, frequencies(x.shape[-1], self.s.base), x.shape[-1])

    def bias(self, length: int) -> Tensor | None:
        """Return what the method adds to the scores, (H, L, L)."""
        if self.method == "ALiBi":
            return alibi.bias(self.s.heads, length, length).float()
        if self.method == "T5 bias":
            return relative_bias.bias(self.table, length, length, self.s.max_distance, bidirectional=False)
        return None


# -- one run


def train(model: Decoder, task: Task, s: Settings, chance: torch.Generator) -> float:
    """Train the model and return the mean loss of the last tenth of the steps, in nats."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=s.learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, s))
    losses = []
    for _ in range(s.steps):
        tokens, targets = task(s.batch, s.train_length, s.vocabulary, chance)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=UNSCORED)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return statistics.fmean(losses[-max(1, s.steps // 10) :])


def rate(step: int, s: Settings) -> float:
    """Return the share of the learning rate: a linear warm-up, then half a cosine down to 0."""
    return min((step + 1) / s.warmup, 0.5 + 0.5 * math.cos(math.pi * step / s.steps))


@torch.inference_mode()
def accuracy(model: Decoder, task: Task, length: int, s: Settings) -> dict[str, float]:
    """Return the share of right tokens among all scored positions, and among those in the last half."""
    chance = torch.Generator().manual_seed(length)  # the same test for every model
    tokens, targets = task(s.test_sequences, length, s.vocabulary, chance)
    said = torch.cat([model(some).argmax(dim=-1) for some in tokens.split(s.batch)])
    scored, right = targets != UNSCORED, said == targets
    late = scored & (torch.arange(length) >= length // 2)
    return {"overall": float(right[scored].float().mean()), "last half": float(right[late].float().mean())}


def run(task: str, method: str, seed: int, s: Settings) -> dict[str, Any]:
    """Return the record of one model, trained and tested."""
    torch.manual_seed(seed)
    model = Decoder(method, s)
    loss = train(model, TASKS[task], s, torch.Generator().manual_seed(1000 + seed))
    tested = {str(ratio): accuracy(model, TASKS[task], ratio * s.train_length, s) for ratio in s.ratios}
    parameters = sum(p.numel() for p in model.parameters())
    return {
        "task": task, "method": method, "seed": seed, "loss": loss, "accuracy": tested, "parameters": parameters,
    }  # fmt: skip


def every(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Return every task with every method."""
    return list(itertools.product(TASKS, methods))


def all_runs(s: Settings, path: Path, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the records of all models; what the file has of the same settings is not run again."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    settings = json.loads(json.dumps(asdict(s)))
    runs = before["runs"] if before.get("settings") == settings else []
    done = {(r["task"], r["method"], r["seed"]) for r in runs}
    wanted = list(itertools.product(range(s.seeds), pairs))
    for seed, (task, method) in tqdm(wanted, unit="model"):
        if (task, method, seed) not in done:
            runs.append(run(task, method, seed, s))
            write_text(path, json.dumps({"settings": settings, "runs": runs}, indent=1) + "\n")
    return runs


# -- the report

TEMPLATE = Path(__file__).with_suffix(".template.md")
GOOD = 0.9  # accuracy that counts as solved
Cells = dict[tuple[str, str, int], tuple[float, float]]  # mean and standard error of (task, method, ratio)


def summary(runs: list[dict[str, Any]], s: Settings, where: str) -> Cells:
    """Return mean and standard error over the seeds."""
    cells = {}
    for task, method, ratio in itertools.product(TASKS, METHODS, s.ratios):
        found = [r["accuracy"][str(ratio)][where] for r in runs if (r["task"], r["method"]) == (task, method)]
        if found:
            spread = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.nan
            cells[task, method, ratio] = statistics.fmean(found), spread
    return cells


def kept(cells: Cells, task: str, method: str, s: Settings) -> int:
    """Return the greatest ratio up to which the task is solved; 0 where it is not at the training length."""
    solved = itertools.takewhile(lambda ratio: cells[task, method, ratio][0] >= GOOD, s.ratios)
    return max(solved, default=0)


def shown_methods(cells: Cells) -> list[str]:
    return [m for m in METHODS if any(method == m for _, method, _ in cells)]


def answer(cells: Cells, s: Settings) -> str:
    """Return what the claim comes to, in words."""
    if "rotary" not in shown_methods(cells):
        return "Rotary was not run."
    learnt = [ratio for ratio in (kept(cells, task, "rotary", s) for task in TASKS) if ratio]
    verdict = "holds" if min(learnt, default=0) == max(s.ratios) else "does not hold"
    rows = [f"The claim {verdict} here." if learnt else "Rotary learnt nothing, so the claim cannot be judged."]
    rows += ["Rotary, in the last half of the sequence:", ""]
    for task in TASKS:
        path = ", ".join(f"{cells[task, 'rotary', r][0]:.2f} at {r}×" for r in s.ratios)
        rows.append(f"* {task}: {path}.")
    return "\n".join(rows)


def table(head: Sequence[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(head), ["---"] * len(head), *rows])


def kept_table(cells: Cells, s: Settings) -> str:
    rows = [
        [
            method,
            *(f"{kept(cells, task, method, s)}×" if kept(cells, task, method, s) else "not learnt" for task in TASKS),
        ]
        for method in shown_methods(cells)
    ]
    return table(["", *TASKS], rows)


def tables(runs: list[dict[str, Any]], s: Settings) -> str:
    """Return a table for each task: accuracy in the last half, and overall."""
    late, overall = summary(runs, s, "last half"), summary(runs, s, "overall")
    parts = []
    for task, (where, cells) in itertools.product(TASKS, (("last half", late), ("all positions", overall))):
        rows = [
            [method, *("{:.3f} ± {:.3f}".format(*cells[task, method, ratio]) for ratio in s.ratios)]
            for method in shown_methods(cells)
        ]
        parts += [f"**{task}, {where}**", "", table(["", *(f"{ratio}×" for ratio in s.ratios)], rows), ""]
    return "\n".join(parts).rstrip()


def longer_table(runs: list[dict[str, Any]], s: Settings) -> str:
    """Return accuracy in the last half, a number for each seed."""
    rows = []
    for task, method in dict.fromkeys((r["task"], r["method"]) for r in runs):
        found = [r["accuracy"] for r in runs if (r["task"], r["method"]) == (task, method)]
        cells = [", ".join(f"{a[str(ratio)]['last half']:.2f}" for a in found) for ratio in s.ratios]
        rows.append([f"{task}, {method}", *cells])
    return table(["task, method", *(f"{ratio}×" for ratio in s.ratios)], rows)


def page(runs: list[dict[str, Any]], s: Settings, longer_runs: list[dict[str, Any]], longer: Settings) -> str:
    cells = summary(runs, s, "last half")
    sizes = sorted({r["parameters"] for r in runs})
    return TEMPLATE.read_text(encoding="utf-8").format(
        **asdict(s), answer=answer(cells, s), kept=kept_table(cells, s), tables=tables(runs, s), good=GOOD,
        chance=1 / s.vocabulary, head=s.width // s.heads, parameters=f"{sizes[0]:,} … {sizes[-1]:,}",
        lengths=", ".join(str(r * s.train_length) for r in s.ratios),
        longer=longer_table(longer_runs, longer), longer_steps=longer.steps, longer_seeds=longer.seeds,
    )  # fmt: skip


def plot(runs: list[dict[str, Any]], s: Settings, path: Path) -> None:
    """Draw accuracy in the last half by length, a panel for each task; the points stand a little apart."""
    cells = summary(runs, s, "last half")
    looks = dict(zip(METHODS, zip(("0.5", "C0", "C9", "C3", "C2", "C1"), "xsvoD^", strict=True), strict=True))
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    for i, (axes, task) in enumerate(zip(figure.subplots(1, len(TASKS), sharey=True), TASKS, strict=True)):
        for shift, (method, (colour, marker)) in zip((-5, -3, -1, 1, 3, 5), looks.items(), strict=True):
            if method in shown_methods(cells):
                means, errors = zip(*(cells[task, method, ratio] for ratio in s.ratios), strict=True)
                x = [ratio * 2 ** (shift / 40) for ratio in s.ratios]
                axes.errorbar(x, means, errors, color=colour, marker=marker, markersize=5, capsize=3, label=method)
        axes.axhline(1 / s.vocabulary, color="0.7", linestyle=":", zorder=0)
        axes.text(s.ratios[0], 1 / s.vocabulary, "chance", color="0.5", fontsize=8, va="bottom")
        axes.set_xscale("log", base=2)
        axes.set_xticks(s.ratios, [f"{ratio}×\n{ratio * s.train_length}" for ratio in s.ratios])
        axes.set(title=task, xlabel="test length (multiple of training length; tokens)", ylim=(-0.02, 1.04))
        if i == 0:
            axes.set_ylabel("accuracy in the last half of the sequence")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", title="positions")
    figure.suptitle(f"Trained at {s.train_length} tokens; mean ± standard error over {s.seeds} seeds")
    figure.savefig(path, dpi=110)


def main(argv: Sequence[str] | None = None) -> None:
    """Train what is missing, then write table and plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smoke test; writes to a temporary folder by default")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="default: beside this file")
    given = parser.parse_args(argv)
    torch.set_num_threads(1)  # the models are too small for more, and the sums stay the same
    settings, methods = (QUICK, METHODS[::3]) if given.quick else (Settings(), METHODS)
    longer, pairs = (QUICK, LONGER_PAIRS[:1]) if given.quick else (LONGER, LONGER_PAIRS)
    folder = given.output or (Path(tempfile.mkdtemp()) if given.quick else Path(__file__).parent)
    runs = all_runs(settings, folder / "extrapolation.json", every(methods))
    longer_runs = all_runs(longer, folder / "extrapolation-longer.json", pairs)
    write_text(folder / "extrapolation.md", page(runs, settings, longer_runs, longer))
    plot(runs, settings, folder / "extrapolation.png")


if __name__ == "__main__":
    main()
