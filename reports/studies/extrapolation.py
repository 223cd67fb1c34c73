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
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from attnconf.reports.record import write_text
from attnconf.reports.studies.extrapolation_models import METHODS, TASKS, UNSCORED, Decoder, Settings, Task
from attnconf.reports.studies.extrapolation_page import page, plot

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
