"""Models from ids to logits in somebody's file: the whole is judged where it is understood, else its layers."""

import textwrap
from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.inference.finding.candidates import candidates
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.source.reader import read

pytestmark = pytest.mark.long

torch.set_num_threads(1)
HERE = Path(__file__).parents[1] / "submissions"


def bound(path, name):
    """Return what is inferred of a class in a file, whatever it may be."""
    source = read(Path(path))
    return inference.bind(candidates(source.module, name, None)[0], source, {})


RIGHT = {
    "lm_nano.py": ("GPT", {"tying": "head", "added-positions": "learned"}),
    "lm_llama_one_file.py": ("Llama", {"tying": "none", "added-positions": "none", "rotary-inside": "interleaved"}),
    "lm_head_with_bias.py": ("GPTLanguageModel", {"head-bias": "yes", "tying": "none"}),
    "lm_capped_logits.py": ("TinyGemma", {"logit-cap": "30", "embedding-scale": "sqrt", "rotary-inside": "half"}),
}


@pytest.mark.parametrize("file", RIGHT)
def test_a_right_one_is_the_reference_table_and_head_included(file):
    name, conventions = RIGHT[file]
    found = bound(HERE / "right" / file, name)
    assert isinstance(found, Bound), found
    assert (found.draft.component, found.certified) == ("language_model", "reference")
    assert {key: found.draft.declares.get(key) for key in conventions} == conventions


WRONG = {
    "lm_places_from_one.py": ("ShakespeareLM", "LM-positions-from-one"),
    "lm_last_block_sees_all.py": ("ShakespeareLM", "LM-last-layer-open"),
    "lm_head_of_table.py": ("Sprachmodell", "LM-head-tied"),
}


@pytest.mark.parametrize("file", WRONG)
def test_a_wrong_one_is_what_a_known_mistake_gives(file):
    name, mistake = WRONG[file]
    found = bound(HERE / "wrong" / file, name)
    assert (found.draft.component, found.certified) == ("language_model", mistake)


MODEL = """
import torch
from torch import nn

class Words(nn.Module):
    "{says}"
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len):
        super().__init__()
        self.table, self.places = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        {more}
        layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, ids):
        n = ids.shape[1]
        ahead = {mask}
        x = self.table(ids) + self.places(torch.arange(n))
        return self.head(self.layers({x}, mask=ahead))
"""
AHEAD = "torch.ones(n, n, dtype=torch.bool).triu(1)"


def written(folder, says="Next words.", more="pass", mask=AHEAD, x="x"):
    path = folder / "words.py"
    path.write_text(textwrap.dedent(MODEL.format(says=says, more=more, mask=mask, x=x)), encoding="utf-8")
    return bound(path, "Words")


def test_what_is_added_to_rows_besides_leaves_the_layers_to_be_judged(tmp_path):
    found = written(tmp_path, more="self.kinds = nn.Embedding(3, d_model)", x="x + self.kinds.weight[1]")
    assert (found.draft.component, found.certified) == ("encoder", "reference")
    assert "what it embeds is not judged" in " ".join(found.told)


def test_a_norm_before_the_layers_is_no_last_norm(tmp_path):
    found = written(tmp_path, more="self.norm = nn.LayerNorm(d_model)", x="self.norm(x)")
    assert (found.draft.component, found.certified) == ("language_model", None)


def test_the_same_without_it_is_a_language_model(tmp_path):
    found = written(tmp_path)
    assert (found.draft.component, found.certified) == ("language_model", "reference")
    assert found.draft.declares["head-bias"] == "yes"


def test_logits_of_what_sees_all_words_are_those_of_an_encoder(tmp_path):
    found = written(tmp_path, says="Fills in words that are masked.", mask="None")
    assert found.draft.component == "encoder"


def test_what_says_that_it_is_a_language_model_is_held_to_it(tmp_path):
    found = written(tmp_path, says="A causal language model.", mask="None")
    assert (found.draft.component, found.certified) == ("language_model", "LM-sees-ahead")


MASKED = """
import torch
from torch import nn

class {name}(nn.Module):
    \"\"\"A small BERT: a masked language model, logits for every token.\"\"\"

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len):
        super().__init__()
        self.table, self.places = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, ids{more}):
        x = self.table(ids) + self.places(torch.arange(ids.shape[1]))
        return self.head(self.layers(x{handed}))
"""


@pytest.mark.parametrize(
    ("name", "more", "handed"),
    [("MaskedLM", "", ""), ("Tagger", ", pad_mask=None", ", src_key_padding_mask=pad_mask")],
)
def test_what_sees_later_ids_and_is_no_causal_model_is_an_encoder(name, more, handed, tmp_path):
    file = tmp_path / "model.py"
    file.write_text(MASKED.format(name=name, more=more, handed=handed), encoding="utf-8")
    found = bound(file, name)
    assert isinstance(found, Bound), found
    assert (found.draft.component, found.certified) == ("encoder", "reference")
