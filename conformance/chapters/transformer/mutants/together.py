"""Ways to get encoder, decoder and Transformer together wrong: only seen in the whole."""

import torch

from attnconf.conformance.chapters.transformer.mutants.shared import first_layers
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import transformer

layers_reversed = Mutant(
    "TRF-layers-reversed",
    story="the encoder's layers are applied from the last to the first",
    breaks={"TRF-ORACLE-1", "TRF-ORACLE-2"},
    hint="layer 0 comes first",
    replace={transformer.encode: first_layers(lambda n: reversed(range(n)))},
)


def place_without_training_row_0(ids, table, dropout):
    kept = torch.where((torch.arange(len(table), device=table.device) == 0)[:, None], table.detach(), table)
    return transformer.place(ids, kept, dropout)


row_0_untrained = Mutant(
    "TRF-row-0-untrained",
    story="id 0 counts as padding: its row is used, and never learns",
    breaks={"TRF-IDS-2"},
    hint="no padding_idx=0 unless the caller says that id 0 is padding",
    replace={transformer.place: place_without_training_row_0},
)
