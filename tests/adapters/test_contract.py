"""The contract's records say of every component what adapters declare and requirements need."""

import pytest

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.chapters.contents import appearances, costs
from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.engine.lens import LENSES, offered
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.implementations import load


def test_every_convention_is_open_to_some_component_and_none_is_made_up():
    assert {name for known in COMPONENTS.values() for name in known.conventions} == set(CONVENTIONS)


def test_what_a_component_is_made_of_is_there_and_stands_lower():
    for known in COMPONENTS.values():
        assert all(COMPONENTS[part].height < known.height for part in known.parts)
    heights = {
        name: COMPONENTS[name].height for name in ("attention", "multi_head_attention", "encoder", "transformer")
    }
    assert heights == {"attention": 0, "multi_head_attention": 1, "encoder": 3, "transformer": 4}


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_mask_belongs_to_inputs_and_is_a_keyword(component):
    known = COMPONENTS[component]
    for query, key, keyword in known.attends.values():
        assert {query, key} <= set(known.inputs)
        assert keyword in known.keywords


def test_kinds_of_layers_are_read_off_their_records():
    kinds = {
        (known.stacked, known.decodes, known.reads_ids): name for name, known in COMPONENTS.items() if known.layered
    }
    assert kinds == {
        (False, False, False): "encoder_layer", (True, False, False): "encoder", (False, True, False): "decoder_layer",
        (True, True, False): "encoder_decoder", (True, True, True): "transformer",
        (True, False, True): "language_model",
    }  # fmt: skip


def test_every_component_can_be_recognised_and_what_is_timed_is_counted():
    assert set(appearances()) == set(COMPONENTS)
    assert {c for c, cost in costs().items() if cost.timed} < set(costs()) < set(COMPONENTS)


def test_a_lens_shows_no_more_than_the_component_has_and_there_is_none_by_another_name():
    assert all(offered(component, lens) <= COMPONENTS[component].offers for component, lens in LENSES)
    with pytest.raises(KeyError):
        offered("rotary", "heads")


@pytest.mark.parametrize("name", ["reference", *(n for n in adapter_names() if n in ("torch_nn", "textbook_modules"))])
def test_what_an_adapter_declares_of_a_component_is_open_to_it(name):
    for implementation in load(name):
        assert isinstance(implementation, Implementation)
        declared = implementation.declares
        for component in implementation.components:
            own = declared.get(component)
            assert set(own or ()) <= set(COMPONENTS[component].conventions)
        general = {key for key in declared if key not in COMPONENTS}
        open_to_some = {n for c in implementation.components for n in COMPONENTS[c].conventions}
        assert general <= open_to_some
