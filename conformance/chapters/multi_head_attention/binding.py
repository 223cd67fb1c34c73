"""What multi-head attention looks like in somebody's file."""

from dataclasses import replace

from attnconf.conformance.chapters.shared.appearance import HEADS, Appearance, Option
from attnconf.conformance.engine.case import draw
from attnconf.conformance.engine.request import Request


def with_own_widths(request: Request) -> Request | None:
    """Return a call whose keys and values are wider than its queries; None for one without values of their own."""
    if "value" not in request.inputs:
        return None
    embed, (B, S) = request.config.embed_dim, request.inputs["value"].shape[:2]
    wide = {"key": embed + 3, "value": embed + 7}
    weights = {f"{name[0]}.weight": draw(f"wide {name}", embed, width) for name, width in wide.items()}
    inputs = {name: draw(f"wide {name} of tokens", B, S, width) for name, width in wide.items()}
    config = replace(request.config, key_dim=wide["key"], value_dim=wide["value"])
    return replace(request, config=config, weights={**request.weights, **weights}, inputs={**request.inputs, **inputs})


APPEARANCES = {
    HEADS: Appearance(
        "attention",
        names=(
            (
                110,
                r"att(entio)?n|att$|mha|head|msa$|mhsa|causal|(^|_)att?en[cz]|aufmerksam|vniman|dikkat|uwag|zhu_?yi|aandacht|multi_?(cabe[cçz]|t[eê]te|k[oö]pf|test[ae])",
            ),
        ),
        unnamed=1,
        sizes={
            "embed": ("config.embed_dim",),
            "out": ("config.out_dim", "config.head_dim"),
            "heads": ("config.num_heads",),
            "kv_heads": ("config.num_kv_heads or config.num_heads",),
            "kv_groups": ("config.num_heads // (config.num_kv_heads or config.num_heads)",),
            "head_dim": ("config.head_dim", "config.num_heads", "config.embed_dim"),
            "key_dim": ("config.key_dim",),
            "value_dim": ("config.value_dim",),
            "max_offset": ("config.max_offset",),
            "max_len": ("256",),
            "base": ("config.base",),
            "window": ("None", "256"),
            "rotary_dim": ("config.head_dim",),
            "fraction": ("1.0",),
            "dropout": ("config.dropout",),
            "bias": ("config.bias",),
            "causal": ("config.causal",),
            "device": ('weights["q.weight"].device',),
            "dtype": ('weights["q.weight"].dtype',),
            "config": (),
        },
        words={
            "window": r"((sliding|local|attn|attention)_?)?window(_?(size|len|length))?|"
            r"ventana|fenster|finestra|fenetre|janela",
            "max_offset": r"k|(max_?)?clip(ping)?(_?(dist(ance)?|val(ue)?|len(gth)?|range|at|to|k|size))?|"
            r"(max(imum)?_?)?rel(ative)?(_?(pos(ition)?s?|dist(ance)?s?|offsets?|keys?|k))?(_?(max|clip|k|len(gth)?|range|span))?|"
            r"max(imum)?_?(offset|dist(ance)?|shift|k)|k_?(max|clip)|farthest|"
            r"(max\w*_?)?(abstand|distanz|distancia|distanza|odleglosc|rasstoyanie)",
        },
        tells={"heads": ("heads", "any", "one")},
        options=(Option(frozenset({"key_dim", "value_dim"}), with_own_widths),),
    )
}
