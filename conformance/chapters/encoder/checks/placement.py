"""Checks of the chapter spec/encoder.md: norms in other places, sublayers side by side."""

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    ATTENTION,
    NETWORK,
    Evidence,
    ended,
    one_layer,
    order_name,
    parts,
    silenced,
    unshifted,
)
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.shared.placements import BEHIND, PARALLEL, PLACED, placements
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

LARGE, LARGER = 2.0**10, 2.0**20  # beside such numbers ε is nothing


@requirement("ENC-PLACE-1", stimuli.ONE, stimuli.EDGES)
def a_placed_layer_that_adds_nothing_leaves_its_input(subject: Subject, case: Case) -> Evidence:
    for placement in [name for name in placements(subject) if name in PLACED]:
        block = silenced(case, unshifted(one_layer(subject, case, placement)), ATTENTION, NETWORK)
        want = ended(subject, block, block.inputs["x"])
        what = f"{order_name(placement)}: out with zeros in attn.out and ff.down, against x,"
        yield close(run(subject, block).out, want, what)


@requirement("ENC-PLACE-2", stimuli.ONE)
def the_size_of_what_a_sublayer_gives_is_normalized_away(subject: Subject, case: Case) -> Evidence:
    for placement in [name for name in placements(subject) if name in BEHIND]:
        block = one_layer(subject, case, placement)
        for part, other in ((ATTENTION, NETWORK), (NETWORK, ATTENTION)):
            alone = silenced(case, block, other)
            large, larger = (
                alone.with_weights({name: factor * w for name, w in parts(block, part).items()})
                for factor in (LARGE, LARGER)
            )
            what = f"{order_name(placement)}: out with 2^20 times the weights of {part}, against 2^10 times,"
            yield close(run(subject, larger).out, run(subject, large).out, what)


@requirement("ENC-PLACE-3", stimuli.ONE)
def side_by_side_the_sublayers_add_what_each_adds(subject: Subject, case: Case) -> Evidence:
    for placement in [name for name in placements(subject) if name in PARALLEL]:
        block = one_layer(subject, case, placement)
        attending, widening = (run(subject, silenced(case, block, silent)).out for silent in (NETWORK, ATTENTION))
        want = attending + widening - block.inputs["x"]
        what = f"{order_name(placement)}: out, against x and what each sublayer adds by itself,"
        yield close(run(subject, block).out, want, what)
