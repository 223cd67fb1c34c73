"""Ways to get multi-head attention wrong: sizes."""

import torch
from torch.nn.functional import pad

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, attend_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha


def cut_to(x, width):
    return pad(x, (0, max(0, width - x.shape[-1])))[..., :width]


def project_common(x, weight, bias):
    n = min(x.shape[-1], weight.shape[-1])
    return mha.project(x[..., :n], weight[:, :n], bias)


surplus_ignored = Mutant(
    "MHA-surplus-ignored",
    story="features without weights, and weights without features, are ignored",
    breaks={"ATT-ERROR-1"},
    hint="raise an error where x.shape[-1] != weight.shape[-1]",
    replace={mha.project: project_common},
    silent_on=BARE,
)


def project_out_common(context, weights):
    return mha.project(context, weights["out.weight"][:, : context.shape[-1]], weights.get("out.bias"))


out_columns_ignored = Mutant(
    "MHA-out-columns-ignored",
    story="surplus columns of out.weight are ignored",
    breaks={"MHA-ERROR-1"},
    hint="raise an error where out.weight is not H·D wide",
    replace={mha.project_out: project_out_common},
    silent_on=BARE,
)


def run_with_widths_cut(config, weights, query, key, value, mask, bias, need_weights):
    E = config.embed_dim
    if (config.key_dim, config.value_dim) != (E, E):
        key, value = cut_to(key, E), cut_to(value, E)
        weights = {n: cut_to(w, E) if n in ("k.weight", "v.weight") else w for n, w in weights.items()}
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


widths_cut = Mutant(
    "MHA-widths-cut",
    story="keys and values are cut to the width of the query",
    breaks={"MHA-WIDTH-1"},
    hint="build the projections with key_dim and value_dim as input widths",
    replace={adapter.run_multi_head: run_with_widths_cut},
    silent_on=BARE,
)


def fused_projection(query, key, value, weights, num_heads):
    torch.cat([query, key.mean(1, keepdim=True), value.mean(1, keepdim=True)], dim=1)
    return query, key, value, weights


equal_widths_assumed = Mutant(
    "MHA-equal-widths-assumed",
    story="one fused projection is used, which needs keys and values as wide as queries",
    breaks={"MHA-WIDTH-1"},
    hint="use three projections where the widths differ",
    replace={mha.multi_head_attention: attend_with(fused_projection)},
    raises={"MHA-WIDTH-1"},
    silent_on=BARE,
)


def scale_from_embedding(query, key, value, weights, num_heads):
    width, embed = weights["q.weight"].shape
    factor = (width // num_heads) ** 0.5 * (embed // num_heads) ** -0.5
    return query, key, value, {n: w * factor if n[0] == "q" else w for n, w in weights.items()}


head_width_from_embedding = Mutant(
    "MHA-head-width-from-embedding",
    story="the scale takes the width of a head as embed_dim // num_heads, whatever it is",
    breaks={"MHA-WIDTH-2"},
    hint="take head_dim from the projected queries",
    replace={mha.multi_head_attention: attend_with(scale_from_embedding)},
    silent_on=BARE,
    source="transformers configs with head_dim of their own",
)
