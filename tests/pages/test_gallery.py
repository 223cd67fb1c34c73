"""The pages of reports/gallery are what is made of the results beside them, and say what these have."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import torch
from shipped import EXPECTED, NOT_ALWAYS_THERE
from torch.nn import functional as F

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.reports import markdown
from attnconf.reports.comparison.page import Pages
from attnconf.reports.comparison.page import page as comparison
from attnconf.reports.gallery import make
from attnconf.reports.record import read
from attnconf.reports.spec_site import passages
from attnconf.spec import profiles

GALLERY = Path(__file__).parents[2] / "reports/gallery"
PAGE = (GALLERY / "README.md").read_text(encoding="utf-8")
GRID, SMOKE = (json.loads((GALLERY / f"h200-{n}.json").read_text(encoding="utf-8")) for n in ("grid", "smoke"))
SAME_KERNEL = ("torch_nn", "torch_sdpa:cudnn")  # what PyTorch chooses, and by its name: the anchor's


ANEW = "python -m attnconf.reports.gallery.make"  # with --pages where the results are as they would be


@pytest.fixture(scope="module")
def cpu():
    return read(make.RESULTS)


def test_the_page_is_what_is_made_of_the_results(cpu):
    root = "../../"
    page = comparison([(make.RESULTS.name, cpu)], Pages(passages.passages(root), passages.choices(root), root))
    made = make.with_families(page)
    assert len(made.encode()) < 2_000_000
    assert (GALLERY / "cpu.html").read_text(encoding="utf-8") == made, f"{ANEW} --pages"


@pytest.mark.parametrize("name", ["README.md", "cpu.html"])
def test_the_gallery_leads_to_the_table_of_families(name):
    page = (GALLERY / name).read_text(encoding="utf-8")
    ways = re.findall(r"\[Model families[^]]*\]\((\S+)\)|href=\"(\S+)\">Model families", page)
    assert [(GALLERY / (way or other)).resolve() for way, other in ways] == [GALLERY.parent / "families.md"]


def test_the_table_of_adapters_is_what_is_made_of_the_results(cpu):
    made = markdown.page([(make.RESULTS.name, cpu)], "../", "adapters.pictures")
    assert len(made.encode()) < 60_000
    assert (GALLERY.parent / "adapters.md").read_text(encoding="utf-8") == made, f"{ANEW} --pages"


@pytest.mark.parametrize("readme", make.TABLES, ids=lambda path: path.parent.name)
def test_the_table_of_projects_is_what_is_made_of_the_results(cpu, readme):
    page = readme.read_text(encoding="utf-8")
    assert page == make.with_summary(page, cpu, make.TABLES[readme]), f"{ANEW} --pages"


def test_the_table_of_projects_counts_what_the_results_have(cpu):
    row = next(line for line in PAGE.splitlines() if line.startswith("| Transformers |"))
    mine = {i["name"] for i in cpu["implementations"] if i["name"].startswith("transformers_")}
    verdicts = [v["verdict"] for v in cpu["verdicts"] if v["implementation"] in mine]
    known = [r for r in cpu["results"] if r["implementation"] in mine and r["deviation"] and not r["follows_from"]]
    judged = [r for r in cpu["results"] if r["implementation"] in mine and r["outcome"] in ("pass", "fail")]
    met = {q: Counter(r["outcome"] for r in judged if r["quality"] == q) for q in ("robust", "precise")}
    shares = (f"{n['pass']} of {n.total()}" for n in met.values())
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    conforming = f"{verdicts.count('conformant')} of {len(verdicts)}"
    assert cells == [str(len(mine)), conforming, str(len(known)), "5.23.0", *shares]


def test_the_answers_are_those_of_the_results(cpu):
    told = dict(re.findall(r"^\* A query that may attend to no key gets \*\*(\w+)\*\*: (.+)\.$", PAGE, re.M))
    wanted = {i["name"]: i["conventions"].get("fully-masked-row") for i in cpu["implementations"]}
    assert {name: what for what, names in told.items() for name in names.split(", ")} == {
        name: what for name, what in wanted.items() if what
    }
    head, rope = (next(row(line) for line in PAGE.splitlines() if line.startswith(f"| {what}")) for what in HALF)
    lost = dict(zip(head, rope, strict=True))
    failing = [r for r in cpu["results"] if (r["requirement"], r["outcome"]) == ("ROPE-HALF-1", "fail")]
    for dtype in ("bfloat16", "float16"):
        found = {r["implementation"] for r in failing for c in r["cases"] if _fails(c, dtype)}
        assert set(filter(None, lost[f"not met in {dtype} by"].split(", "))) == found


HALF = ("in half precision", "[ROPE-HALF-1]")


def row(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def _fails(case, dtype):
    return case["outcome"] == "fail" and case["by_dtype"].get(dtype, {}).get("outcome") == "fail"


X = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(0))
ONE = torch.tensor([[True, False, False, False]]).expand(4, 4)  # True for key 0 alone


def of_torch():
    return torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()(X, X, X, attn_mask=ONE)[0].detach()


def of_sdpa():
    return F.scaled_dot_product_attention(X, X, X, attn_mask=ONE)


def of_flax():
    import flax.linen
    import jax

    layer, x = flax.linen.MultiHeadDotProductAttention(2), jax.numpy.asarray(X.numpy())
    return layer.apply(layer.init(jax.random.key(0), x, x), x, x, mask=ONE.numpy()[None, None])


def of_equinox():
    import equinox
    import jax

    x = jax.numpy.asarray(X[0].numpy())
    return equinox.nn.MultiheadAttention(2, 8, key=jax.random.key(0))(x, x, x, mask=jax.numpy.asarray(ONE.numpy()))[
        None
    ]


def of_keras():
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    return keras.layers.MultiHeadAttention(2, 4)(X, X, attention_mask=ONE[None]).detach()


def of_x_transformers():
    from x_transformers import Attention

    return Attention(8, heads=2, dim_head=4)(X, attn_mask=ONE).detach()


def of_jax():
    import jax

    x = jax.numpy.asarray(X.numpy())[:, :, None]  # (B, L, H, E)
    return jax.nn.dot_product_attention(x, x, x, mask=ONE.numpy())[:, :, 0]


def of_haiku():
    import haiku
    import jax

    x, mask = jax.numpy.asarray(X.numpy()), ONE.numpy()[None, None]
    made = haiku.transform(
        lambda x: haiku.MultiHeadAttention(2, 4, w_init=haiku.initializers.Identity())(x, x, x, mask)
    )
    return made.apply(made.init(jax.random.key(0), x), None, x)


def of_mlx():
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    x = mx.array(X[None].numpy())
    return mx.fast.scaled_dot_product_attention(x, x, x, scale=1.0, mask=mx.array(ONE.numpy()))[0]


def of_onnx():
    from attnconf.adapters import onnx_reference

    return onnx_reference.run("Attention", (X[None], X[None], X[None], ONE))[0]


def of_curated_transformers():
    from curated_transformers.layers.attention import AttentionMask, ScaledDotProductAttention

    scorer, x, mask = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=None), X[None], ONE[None, None]
    return scorer(query=x, key=x, value=x, attention_mask=AttentionMask(mask), use_causal_mask=False)[0]


LIBRARIES = [
    of_torch, of_sdpa, of_flax, of_equinox, of_keras, of_x_transformers, of_jax, of_haiku, of_mlx, of_onnx,
    of_curated_transformers,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what the libraries import
@pytest.mark.parametrize("attend", LIBRARIES)
def test_the_polarity_that_is_told_is_that_of_the_libraries(attend):
    """Where True keeps, every query gets the value of key 0, and all outputs are one."""
    out = torch.tensor(np.asarray(attend()))
    keeps = torch.allclose(out, out[:, :1].expand_as(out), atol=1e-5)
    assert keeps == (attend is not of_torch)


def test_every_adapter_is_there_with_the_verdict_that_is_expected(cpu):
    always = {key: what for key, what in EXPECTED.items() if key[0].partition(":")[0] not in NOT_ALWAYS_THERE}
    told = {(v["implementation"], v["component"]): v["verdict"] for v in cpu["verdicts"]}
    assert told == {key: verdict for key, (verdict, _, _) in always.items()}, ANEW
    assert {name.partition(":")[0] for name, _ in told} == set(adapter_names()) - set(NOT_ALWAYS_THERE)
    assert cpu["complete"]


def test_every_requirement_of_the_reference_was_judged(cpu):
    (entry,) = (i for i in cpu["implementations"] if i["name"] == "reference")
    wanted = {(e.component, e.lens, e.requirement) for e in profiles.load(entry["profile"]).entries}
    mine = [r for r in cpu["results"] if r["implementation"] == "reference"]
    assert {(r["component"], r["lens"], r["requirement"]) for r in mine} == wanted, ANEW
    assert set(entry["components"]) == set(COMPONENTS)


def test_a_run_of_today_is_recorded_in_the_same_form_and_says_the_same(cpu):
    fresh = make.merged(make.judged(["positional_encodings", "flash_attn"]))
    (name,) = (i["name"] for i in fresh["implementations"])
    assert form(fresh) == form(
        {**cpu, **{key: of(cpu, name, key) for key in ("implementations", "results", "verdicts")}}
    )
    assert fresh["verdicts"] == of(cpu, name, "verdicts"), ANEW
    assert [told(r) for r in fresh["results"]] == [told(r) for r in of(cpu, name, "results")], ANEW


def of(record, name, key):
    return [x for x in record[key] if x.get("implementation", x.get("name")) == name]


def form(value):
    """Return what a record is made of: keys, and of a list the forms that are in it."""
    if isinstance(value, dict):
        return {key: form(x) for key, x in value.items()}
    return sorted({json.dumps(form(x)) for x in value}) if isinstance(value, list) else None


def told(result):
    return result["requirement"], result["outcome"], result["message"], [case["name"] for case in result["cases"]]


@pytest.mark.parametrize(("name", "record"), [("h200-grid", GRID), ("h200-smoke", SMOKE)])
def test_the_pages_of_a_gpu_are_made_of_its_results(name, record):
    """Who changes what is written makes them anew: `attnconf report h200-grid.json -o h200-grid.md`, in the folder."""
    folder, records = GALLERY / f"{name}.pictures", [(f"{name}.json", record)]
    page = markdown.page(records, "../../", folder.name)
    assert len(page.encode()) < 60_000
    assert (GALLERY / f"{name}.md").read_text(encoding="utf-8") == page
    pictures = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert pictures == markdown.pictures(records)


def test_the_grid_in_short_has_what_its_cases_have():
    page = (GALLERY / "h200-grid.md").read_text(encoding="utf-8")
    ratios = [
        c["ratio"]
        for case in GRID["throughput"]["cases"]
        for c in case["contenders"]
        if case["group"] == "attention backward" and c["name"] == "torch_sdpa:efficient" and c["status"] == "timed"
    ]
    figures = f"| {len(ratios)} | {median(ratios):.3f} | {min(ratios):.3f} | {max(ratios):.3f} |"
    assert f"| attention backward, by sdpa:cudnn | torch_sdpa:efficient {figures} {len(ratios)} SLOWER |" in page


def test_how_well_it_measures():
    cases = GRID["throughput"]["cases"]
    kernels = [case for case in cases if case["component"] == "attention"]
    assert {case["anchor"]["name"] for case in kernels} == {"sdpa:cudnn"}
    again = [c for x in kernels for c in x["contenders"] if c["name"] in SAME_KERNEL and c["status"] == "timed"]
    near = sum(abs(c["ratio"] - 1) <= 0.01 for c in again)
    verdicts = Counter(c["verdict"] for c in again)
    assert f"{near} of {len(again)} comparisons ({near / len(again):.1%}".replace("%", " %") in PAGE
    assert set(verdicts) == {"SAME", "AMBIGUOUS"}
    assert f"{verdicts['SAME']} SAME, {verdicts['AMBIGUOUS']} AMBIGUOUS" in PAGE
    assert not any(case["aa"]["void"] for case in cases)
    assert f"none of {len(cases)} void" in PAGE
    assert f"{len(cases)} of {GRID['throughput']['planned']} cases" in PAGE


@pytest.mark.parametrize("name", ["published-forward", "published-backward"])
def test_the_published_case(name):
    (case,) = (case for case in SMOKE["throughput"]["cases"] if case["case"] == name)
    assert f"| {case['anchor']['tflops']:.0f} (" in PAGE


@pytest.mark.parametrize("requirement", ["ATT-HALF-1", "ATT-HALF-2", "ATT-RANGE-1", "MASK-HALF-1"])
def test_half_precision_of_each_backend(requirement):
    by_backend = PAGE.partition("Half precision, by backend")[2]
    said = row(next(line for line in by_backend.splitlines() if line.startswith(f"| [{requirement}]")))[1:]
    for backend, words in zip(("math", "flash", "efficient", "cudnn"), said, strict=True):
        mine = [r for r in SMOKE["results"] if r["requirement"] == requirement]
        found = {r["outcome"] for r in mine if r["implementation"] == f"torch_sdpa:{backend}"}
        assert found == {"pass" if words == "pass" else "unsupported"}
