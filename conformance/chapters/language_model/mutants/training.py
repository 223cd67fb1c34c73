"""Ways to get a language model wrong: training."""

from dataclasses import replace

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import language_model

table_detached = Mutant(
    "LM-table-detached",
    story="the table does not learn from what goes in",
    breaks={"LM-GRAD-1"},
    hint="no .data, no numpy between ids and vectors",
    replace={
        language_model.rows_of: lambda ids, table, scaled: language_model.rows_of(ids, table.detach(), scaled),
    },
)


def positions_frozen(x, weights, positions):
    own = {name: w.detach() for name, w in weights.items() if name == "positions.weight"}
    return language_model.with_positions(x, own, positions)


positions_detached = Mutant(
    "LM-positions-detached",
    story="the table of positions does not learn",
    breaks={"LM-GRAD-1"},
    hint="a learned table is a parameter: no buffer, no .data",
    replace={language_model.with_positions: positions_frozen},
)

dropout_always = Mutant(
    "LM-dropout-always",
    story="dropout goes on in evaluation",
    breaks={"LM-DROP-1"},
    hint="call eval(), and pass training=self.training to functions",
    replace={
        adapter.style_of: lambda config: replace(adapter.style_of(config), dropout=config.dropout),
    },
    source="nanoGPT PR #240",
)
