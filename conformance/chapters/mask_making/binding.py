"""What functions that make masks look like in somebody's file: which file holds nothing else, inference says."""

from attnconf.conformance.chapters.shared.appearance import Appearance

PADDED = {"padding": ("config.padding_id",)}
APPEARANCES = {
    "causal_mask": Appearance("mask_making", arrays=True),
    "padding_mask": Appearance("mask_making", arrays=True, sizes=PADDED),
    "decoder_mask": Appearance("mask_making", arrays=True, sizes=PADDED),
}
