"""Ways to get the encoder wrong: what the mutants of several sections use."""

from attnconf.adapters import reference as adapter
from attnconf.reference import encoder

# Names that mutants call, so that a mutant reads as the reference does. Replaced ones are called by their own name.
normed, attend, position_wise = encoder.normed, encoder.self_attention, encoder.position_wise
join = encoder.joined
post_norm, pre_norm = encoder.post_norm_layer, encoder.pre_norm_layer

gather = adapter.gather_masks

encode_once, under, count = encoder.encoder_layer, encoder.under, encoder.count_layers
in_layer = encoder.in_layer
