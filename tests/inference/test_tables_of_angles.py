"""Arguments that are tables of angles are neither masks nor numbers: they get such as turn nothing."""

import inspect

import pytest
import torch

from attnconf.adapters.generated.positions import cosines, in_pairs, rotations, sines, turns
from attnconf.conformance.inference import bindings
from attnconf.conformance.inference.positions.textbook_tables import BACKWARDS, wanted
from attnconf.conformance.inference.texts.layer_forms import layer_forms
from attnconf.conformance.inference.trials.angles import has_tables, in_another_shape, in_every_shape, text_of
from attnconf.conformance.inference.words.angle_names import PLACES, ROLE, START, kind_of, role_of
from attnconf.conformance.source import reader


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cos", "cos"), ("freqs_sin", "sin"), ("cos_cached", "cos"), ("freqs_cis", "both"), ("freqs_complex", "both"),
        ("cos_sin", "both"), ("rope", "both"), ("rotary_pos_emb", "both"), ("mask", ""), ("cost", ""), ("using", ""),
        ("rotary_dim", ""), ("context", ""), ("source", ""), ("x", ""), ("frequency_penalty", ""),
    ],
)  # fmt: skip
def test_a_name_says_whether_it_is_a_table(name, kind):
    assert kind_of(name) == kind


def call(x, start_pos, cos, sin, mask, rope=None):
    return x


def test_what_has_to_be_given_is_no_mask():
    roles = {p.name: role_of(p) for p in inspect.signature(call).parameters.values()}
    assert roles == {"x": "", "start_pos": START, "cos": ROLE, "sin": ROLE, "mask": "", "rope": ""}
    form = next(layer_forms("encoder_layer", call))
    assert form.roles == ["x", START, ROLE, ROLE, "mask"]


def placed(x, position_ids, mask):
    return x


def test_positions_that_have_to_be_given_are_those_of_the_tokens_for_each_sample_or_for_all():
    form = next(layer_forms("encoder_layer", placed))
    assert form.roles == ["x", PLACES, "mask"]
    given = [text_of(shaped.named("position_ids"), "q", "E") for shaped in in_every_shape(form)]
    assert given == ["counted(q.shape[1], None, q).expand(q.shape[:2])", "counted(q.shape[1], None, q)"]


def unasked(x, mask=None, past_key_values=None, position_ids=None, use_cache=False, position_embeddings=None):
    cos, sin = position_embeddings
    return x * cos + sin


def asked(x, rope=None):
    return x if rope is None else x * rope[0] + rope[1]


def test_a_table_that_may_be_none_is_handed_over_by_its_name_where_no_code_asks_whether_it_is():
    form = next(layer_forms("encoder_layer", unasked))
    assert [(slot.role, slot.by_name) for slot in form.slots] == [("x", False), ("mask", False), (ROLE, True)]
    assert next(layer_forms("encoder_layer", asked)).roles == ["x"]


def test_what_may_be_none_is_left_out_where_no_shape_fits():
    *shaped, without = in_every_shape(next(layer_forms("encoder_layer", unasked)))
    assert all(map(has_tables, shaped))
    assert without.roles == ["x", "mask"]


def test_flags_positions_and_what_came_before_are_no_memory():
    assert {role for form in layer_forms("decoder_layer", unasked) for role in form.roles} == {"x", "memory", ROLE}


def test_the_tables_of_a_form_have_one_shape_and_each_shape_comes():
    form = next(layer_forms("encoder_layer", call))
    shaped = list(in_every_shape(form))
    assert len(shaped) == 10
    assert all(map(has_tables, shaped))
    assert [text_of(s, "q", "config.head_dim") for s in shaped[1].slots if s.name in ("start_pos", "cos", "sin")] == [
        "0", "cosines(q, config.head_dim // 2)", "sines(q, config.head_dim // 2)",
    ]  # fmt: skip
    assert in_another_shape(shaped[3], shaped[:1])
    assert not in_another_shape(shaped[3], [])


def test_they_turn_nothing():
    x = torch.zeros(2, 3, 8, dtype=torch.bfloat16)
    assert torch.equal(cosines(x, 4), torch.ones(3, 4, dtype=torch.bfloat16))
    assert not sines(x, 4).any()
    assert torch.equal(turns(x, 2), torch.ones(3, 2, dtype=torch.complex64))
    assert turns(x.double(), 2).dtype == torch.complex128


def test_pairs_are_put_back_and_the_rest_stays():
    x = torch.tensor([0.0, 2.0, 4.0, 1.0, 3.0, 5.0, 6.0])
    assert torch.equal(in_pairs(x, 6), torch.arange(7.0))


def test_a_function_gets_tables_only_where_it_wants_cosines_and_sines():
    def turn(x, cos, sin):
        return x

    def sine(x, sin):
        return x

    parameters = [list(inspect.signature(thing).parameters.values()) for thing in (turn, sine)]
    assert [wanted(each) for each in parameters] == [["cos", "sin"], []]


def test_the_textbooks_tables_turn_by_its_angles():
    cos, sin = rotations(torch.zeros(1, 2, 3, 4, dtype=torch.float64), 4)
    assert torch.allclose(cos[1], torch.tensor([1.0, 0.01]).double().cos())
    assert torch.allclose(sin[2], torch.tensor([2.0, 0.02]).double().sin())


def test_minus_the_angles_is_in_doubt(tmp_path):
    (tmp_path / "turning.py").write_text(
        "import torch\n\n\ndef apply_rotary(x, cos, sin):\n    a, b = x.chunk(2, -1)\n"
        "    return torch.cat([a * cos + b * sin, b * cos - a * sin], -1)\n"
    )
    (found,) = bindings(reader.read(tmp_path / "turning.py"), None, None)[0]
    assert found.doubt == BACKWARDS
