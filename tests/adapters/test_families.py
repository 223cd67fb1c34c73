"""The table of transformers' model families: some of it again, the page, and wrong members that differ."""

import json
from dataclasses import replace
from importlib.metadata import version

import pytest
import torch

from attnconf.reports.families import cells, make, table
from attnconf.reports.families.families import FAMILIES, Rotation

RECORD = json.loads(make.KEPT.read_text(encoding="utf-8"))
AGAIN = ("Gemma 2", "GPT-OSS", "BERT")  # in every run: a soft cap and windows, sinks, no causality


def pytest_generate_tests(metafunc):
    if "family" in metafunc.fixturenames:
        metafunc.parametrize("family", FAMILIES if metafunc.config.getoption("--in-full") else AGAIN)


def by_place(found):
    return {(cell["family"], cell["backend"], cell["what"]): cell for cell in found}


def test_the_page_is_what_its_numbers_render_to():
    assert make.PAGE.read_text(encoding="utf-8") == table.page(RECORD)


def test_it_is_of_the_versions_that_are_installed():
    """Who moves a pin makes it again."""
    for library in ("transformers", "torch"):
        assert RECORD[library].partition("+")[0] == version(library).partition("+")[0]


def test_every_family_has_a_cell_for_every_backend_and_comparison():
    assert RECORD["families"] == {name: family.has for name, family in FAMILIES.items()}
    wanted = [
        (name, backend, what)
        for name, family in FAMILIES.items()
        for backend in table.BACKENDS
        for what in table.WHATS
        if family.cache or "cache" not in what
    ]
    assert list(by_place(RECORD["cells"])) == wanted
    assert {cell["status"] for cell in RECORD["cells"]} == {"agrees", "differs", "not offered", "raised"}
    assert all(cell["words"] for cell in RECORD["cells"])


def test_what_differs_is_shown_by_a_script():
    for cell in RECORD["cells"]:
        if cell["status"] == "differs":
            script, _ = table.explanation(cell)
            assert (make.REPORTS / "findings" / f"{script}.py").is_file()


def test_another_run_comes_to_the_same(family):
    again = by_place(make.kept(vars(cell)) for cell in cells.cells((family,)))
    for place, cell in again.items():
        written = by_place(RECORD["cells"])[place]
        assert cell["status"] == written["status"], cell
        if cell["status"] == "not offered":
            assert cell["words"] == written["words"]
        if cell["status"] == "agrees":  # other processors round otherwise
            assert cell["share"] <= 1
            assert cell["error"] <= 10 * written["error"]


def without(name, **changes):
    """Return a family whose member on the page is another one."""
    family = FAMILIES[name]
    return replace(family, member=lambda config, layer: replace(family.member(config, layer), **changes))


LINEAR = (("kind", "linear"), ("factor", 4.0))
WRONG = {
    "Llama with its heads of keys exchanged": replace(
        FAMILIES["Llama"], weights=lambda given, config: mixed(FAMILIES["Llama"].weights(given, config))
    ),
    "Llama 3.1 as it was trained": replace(FAMILIES["Llama 3.1"], rotation=Rotation()),
    "Qwen2 by another scaling": replace(FAMILIES["Qwen2"], rotation=Rotation(scaling=lambda config: LINEAR)),
    "Mistral with a window that is one wider": without("Mistral", window=(4, 0)),
    "Mistral without a window": without("Mistral", window=None),
    "Qwen3 without norms": without("Qwen3", qk_norm="none"),
    "Gemma 2 without a cap": without("Gemma 2", softcap=None),
    "Gemma 2 with the usual scale": without("Gemma 2", scale=None),
    "Gemma 3 with one base": without("Gemma 3", base=10000.0),
    "GPT-OSS without sinks": without("GPT-OSS", sinks="none"),
    "GPT-OSS with sinks of 0": without("GPT-OSS", sinks="add-one"),
    "Phi-3 with another base": without("Phi-3", base=10010.0),
    "GPT-NeoX turned as a whole": replace(FAMILIES["GPT-NeoX"], rotation=Rotation(width=6)),
    "GPT-J in halves": replace(FAMILIES["GPT-J"], rotation=Rotation("half", 4)),
    "OLMo 2 with another epsilon": without("OLMo 2", qk_norm_eps=1e-4),
    "Cohere in halves": replace(FAMILIES["Cohere"], rotation=Rotation("half")),
    "BERT that is causal": replace(FAMILIES["BERT"], causal=lambda path: True),
}


def mixed(weights):
    """Return weights with the two heads of keys exchanged."""
    return weights | {"k.weight": weights["k.weight"].unflatten(0, (2, -1)).flip(0).flatten(0, 1)}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_member_differs(wrong):
    family = WRONG[wrong]
    assert cells.attention(family, "eager").share > 1
    assert cells.gradients(family, "eager").share > 1
    with cells.uncompiled():  # as eager attention in float64 is NaN for most
        backend = "eager" if wrong.startswith(("GPT-OSS", "GPT-J")) else "flex_attention"
        assert cells.in_float64(family, backend).share > 1


def test_a_layer_that_sees_padding_differs(monkeypatch):
    monkeypatch.setattr(cells.models.Situation, "mask", property(lambda self: torch.ones_like(self.keep).long()))
    assert cells.layers(FAMILIES["Llama"], "sdpa").share > 1
    assert cells.cached(FAMILIES["Llama"], "sdpa").share > 1


def test_what_differs_does_so_where_its_note_says(monkeypatch):
    """NaN with padding before the tokens; tokens behind a query, which padding's mask hides where they come singly."""
    without_padding, behind, before = cells.models.SITUATIONS
    monkeypatch.setattr(cells.models, "SITUATIONS", (without_padding, behind))
    assert cells.in_float64(FAMILIES["Llama"], "eager").share <= 1
    monkeypatch.setattr(cells.models, "SITUATIONS", (before,))
    monkeypatch.setattr(cells.whole, "STEPS", (6, 7, 8, 9, 10, 11))
    with cells.uncompiled():
        assert cells.cached(FAMILIES["Llama"], "flex_attention", static=True).share <= 1


@pytest.mark.parametrize(("name", "number"), [("Gemma 3", 2), ("BERT", 2), ("Whisper", 6)])
def test_every_attention_of_a_model_is_compared(name, number):
    found = [call.seen.path for call in cells.calls(FAMILIES[name], "sdpa", torch.float32)]
    assert len(found) == number * len(cells.models.SITUATIONS)
    assert len(set(found)) == number


def test_nothing_compared_does_not_agree(monkeypatch):
    monkeypatch.setitem(cells.FAMILIES, "BERT", replace(FAMILIES["BERT"], attention="Renamed", layers=("Renamed",)))
    assert {(c.status, c.words) for c in cells.cells(("BERT",)) if c.backend == "eager"} == {
        ("raised", "LookupError: nothing was compared")
    }


def test_what_raises_says_what_it_raised(monkeypatch):
    def fails(family, backend):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(cells, "attention", fails)
    first = next(cells.cells(("BERT",)))
    assert (first.status, first.words) == ("raised", "RuntimeError: no such thing")


def test_nothing_is_left_of_how_flex_attention_was_run():
    list(cells.cells(("BERT",)))
    assert torch._dynamo.eval_frame._stance.stance == "default"
