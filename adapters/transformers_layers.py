"""transformers: layers and stacks with layer norm, of BERT, ViT, BART and GPT-2, a variant for each model.

Configurations are tiny, attention is eager: masks are added to the scores, and the caller brings them.
"""

import torch
import transformers
from transformers.models.bart import modeling_bart as bart
from transformers.models.bert import modeling_bert as bert
from transformers.models.gpt2 import modeling_gpt2 as gpt2
from transformers.models.vit import modeling_vit as vit

from attnconf.adapters import bind
from attnconf.adapters.kit.hugging_face import ACTIVATIONS, decode, encode, given_to_model
from attnconf.adapters.kit.weight_names import demand, renamed, stacked

__version__ = transformers.__version__
transformers.logging.set_verbosity_error()  # their advice is meant for those who train models

POSITIONS = 512  # that GPT-2 has a row for

# -- BERT: post-norm


def bert_config(config, **more):
    demand(config, norm_first=False, norm="layer", gated=False, bias=True)
    return transformers.BertConfig(
        hidden_size=config.embed_dim, num_attention_heads=config.num_heads, intermediate_size=config.hidden_dim,
        hidden_act=ACTIVATIONS[config.activation], layer_norm_eps=config.eps, hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.dropout, attn_implementation="eager", **more,
    )  # fmt: skip


def bert_attention(ours, theirs, norm):
    parts = {f"{ours}.{a}": f"{theirs}.self.{b}" for a, b in {"q": "query", "k": "key", "v": "value"}.items()}
    return {**parts, f"{ours}.out": f"{theirs}.output.dense", norm: f"{theirs}.output.LayerNorm"}


BERT = {"ff.up": "intermediate.dense", "ff.down": "output.dense"}
BERT_ENCODER = {**BERT, **bert_attention("attn", "attention", "norm1"), "norm2": "output.LayerNorm"}
BERT_DECODER = {
    **BERT, **bert_attention("self", "attention", "norm1"), **bert_attention("cross", "crossattention", "norm2"),
    "norm3": "output.LayerNorm",
}  # fmt: skip


def bert_encoder_layer(config, weights):
    layer = bert.BertLayer(bert_config(config)).train(config.training)
    return encode(bind(layer, renamed(weights, BERT_ENCODER)), config)


def bert_stack(config, weights, names, **more):
    demand(config, final_norm=False)
    stack = bert.BertEncoder(bert_config(config, num_hidden_layers=config.num_layers, **more)).train(config.training)
    call = bind(stack, stacked(weights, lambda layer: renamed(layer, names), "layer"))
    return lambda *given: call(*given).last_hidden_state


def bert_encoder(config, weights):
    return encode(bert_stack(config, weights, BERT_ENCODER), config)


def bert_decoder_layer(config, weights):
    theirs = bert_config(config, is_decoder=True, add_cross_attention=True)
    layer = bert.BertLayer(theirs).train(config.training)
    return decode(bind(layer, renamed(weights, BERT_DECODER)))


def bert_decoder(config, weights):
    return decode(bert_stack(config, weights, BERT_DECODER, is_decoder=True, add_cross_attention=True))


# -- ViT: pre-norm


VIT = {
    **{f"attn.{ours}": f"attention.{theirs}_proj" for ours, theirs in zip(("q", "k", "v", "out"), "qkvo", strict=True)},
    "ff.up": "mlp.fc1", "ff.down": "mlp.fc2", "norm1": "layernorm_before", "norm2": "layernorm_after",
}  # fmt: skip


def vit_encoder_layer(config, weights):
    demand(config, norm_first=True, norm="layer", gated=False, bias=True)
    theirs = transformers.ViTConfig(
        hidden_size=config.embed_dim, num_attention_heads=config.num_heads, intermediate_size=config.hidden_dim,
        hidden_act=ACTIVATIONS[config.activation], layer_norm_eps=config.eps, hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.dropout, attn_implementation="eager",
    )  # fmt: skip
    return encode(bind(vit.ViTLayer(theirs).train(config.training), renamed(weights, VIT)), config)


def refuse_hidden_dropout(config):
    if config.training and config.dropout:
        raise NotImplementedError("dropout on hidden features")


def vit_feed_forward(config, weights):
    demand(config, gated=False, bias=True)
    refuse_hidden_dropout(config)
    theirs = transformers.ViTConfig(
        hidden_size=config.embed_dim, intermediate_size=config.hidden_dim, hidden_act=ACTIVATIONS[config.activation]
    )
    return bind(vit.ViTMLP(theirs), renamed(weights, {"up": "fc1", "down": "fc2"}))


# -- BART: post-norm


def bart_config(config):
    demand(config, norm_first=False, norm="layer", gated=False, bias=True, eps=1e-5)
    return transformers.BartConfig(
        d_model=config.embed_dim, encoder_attention_heads=config.num_heads, decoder_attention_heads=config.num_heads,
        encoder_ffn_dim=config.hidden_dim, decoder_ffn_dim=config.hidden_dim, dropout=config.dropout,
        attention_dropout=config.dropout, activation_dropout=config.dropout,
        activation_function=ACTIVATIONS[config.activation], attn_implementation="eager",
    )  # fmt: skip


def bart_attention(ours, theirs):
    return {f"{ours}.{part}": f"{theirs}.{part}_proj" for part in ("q", "k", "v", "out")}


BART = {"ff.up": "fc1", "ff.down": "fc2", "norm1": "self_attn_layer_norm"}
BART_ENCODER = {**BART, **bart_attention("attn", "self_attn"), "norm2": "final_layer_norm"}
BART_DECODER = {
    **BART, **bart_attention("self", "self_attn"), **bart_attention("cross", "encoder_attn"),
    "norm2": "encoder_attn_layer_norm", "norm3": "final_layer_norm",
}  # fmt: skip


def bart_encoder_layer(config, weights):
    layer = bart.BartEncoderLayer(bart_config(config)).train(config.training)
    return encode(bind(layer, renamed(weights, BART_ENCODER)), config)


def bart_decoder_layer(config, weights):
    layer = bart.BartDecoderLayer(bart_config(config), layer_idx=0).train(config.training)
    return decode(bind(layer, renamed(weights, BART_DECODER)))


def bart_token_embedding(config, weights):
    scale = config.dim**0.5  # as BartModel gives it with scale_embedding
    embedding = bart.BartScaledWordEmbedding(config.vocab_size, config.dim, config.padding_id, scale)
    return bind(embedding, {"weight": weights["table.weight"]})


# -- GPT-2: pre-norm, causal, weights that stand the other way round


def gpt2_config(config, **more):
    demand(config, norm_first=True, norm="layer", gated=False, bias=True)
    return transformers.GPT2Config(
        vocab_size=1, n_embd=config.embed_dim, n_head=config.num_heads, n_inner=config.hidden_dim,
        activation_function=ACTIVATIONS[config.activation], layer_norm_epsilon=config.eps, attn_pdrop=config.dropout,
        resid_pdrop=config.dropout, embd_pdrop=0.0, attn_implementation="eager", **more,
    )  # fmt: skip


def fused(weights, parts, name):
    """Return the state of a Conv1D that makes several projections."""
    return {
        f"{name}.weight": torch.cat([weights[f"{part}.weight"] for part in parts]).T,
        f"{name}.bias": torch.cat([weights[f"{part}.bias"] for part in parts]),
    }


def gpt2_state(weights):
    attention = "attn" if "attn.q.weight" in weights else "self"
    state = fused(weights, [f"{attention}.{part}" for part in "qkv"], "attn.c_attn")
    for ours, theirs in {f"{attention}.out": "attn.c_proj", "ff.up": "mlp.c_fc", "ff.down": "mlp.c_proj"}.items():
        state |= fused(weights, [ours], theirs)
    if attention == "attn":
        return state | renamed(weights, {"norm1": "ln_1", "norm2": "ln_2"})
    state |= fused(weights, ["cross.k", "cross.v"], "crossattention.c_attn")
    state |= fused(weights, ["cross.q"], "crossattention.q_attn") | fused(
        weights, ["cross.out"], "crossattention.c_proj"
    )
    return state | renamed(weights, {"norm1": "ln_1", "norm2": "ln_cross_attn", "norm3": "ln_2"})


def gpt2_feed_forward(config, weights):
    demand(config, gated=False, bias=True)
    refuse_hidden_dropout(config)
    theirs = transformers.GPT2Config(n_embd=config.embed_dim, activation_function=ACTIVATIONS[config.activation])
    state = fused(weights, ["up"], "c_fc") | fused(weights, ["down"], "c_proj")
    return bind(gpt2.GPT2MLP(config.hidden_dim, theirs).eval(), state)


def gpt2_encoder_layer(config, weights):
    demand(config, causal=True)
    block = gpt2.GPT2Block(gpt2_config(config), layer_idx=0).train(config.training)
    call = bind(block, gpt2_state(weights))
    return encode(lambda x, mask: call(x, attention_mask=mask), config)


def gpt2_decoder_layer(config, weights):
    block = gpt2.GPT2Block(gpt2_config(config, add_cross_attention=True), layer_idx=0).train(config.training)
    call = bind(block, gpt2_state(weights))
    return decode(
        lambda x, mask, memory, hidden: call(
            x, attention_mask=mask, encoder_hidden_states=memory, encoder_attention_mask=hidden
        )
    )


def gpt2_model(config, weights, **more):
    """Return the whole model on vectors. Its table of positions is zeros: ours has none."""
    demand(config, final_norm=True)
    theirs = gpt2_config(config, n_layer=config.num_layers, n_positions=POSITIONS, use_cache=False, **more)
    model = gpt2.GPT2Model(theirs).train(config.training)
    state = stacked(weights, gpt2_state, "h") | renamed(weights, {"norm": "ln_f"})
    like = weights["norm.weight"]
    state |= {"wte.weight": like.new_zeros(1, len(like)), "wpe.weight": like.new_zeros(POSITIONS, len(like))}
    call = bind(model, state)
    return lambda **given: call(**given).last_hidden_state


def gpt2_encoder(config, weights):
    demand(config, causal=True)
    call = gpt2_model(config, weights)

    def forward(x, *, key_mask=None, attn_mask=None):
        return call(inputs_embeds=x, attention_mask=given_to_model(config, x, key_mask, attn_mask))

    return forward


def gpt2_decoder(config, weights):
    call = gpt2_model(config, weights, add_cross_attention=True)

    def forward(x, memory, *, key_mask=None, memory_mask=None):
        return call(
            inputs_embeds=x, attention_mask=key_mask, encoder_hidden_states=memory, encoder_attention_mask=memory_mask
        )

    return forward


COMMON = {"norm-kind": "layer", "gated": "no", "fully-masked-row": "mean", "attention-scale": "sqrt"}
variants = {
    "bert": {
        "encoder_layer": bert_encoder_layer,
        "encoder": bert_encoder,
        "decoder_layer": bert_decoder_layer,
        "decoder": bert_decoder,
        "declares": {**COMMON, "norm-order": "post", "final-norm": "never", "activation": "gelu"},
    },
    "vit": {
        "encoder_layer": vit_encoder_layer,
        "feed_forward": vit_feed_forward,
        "declares": {**COMMON, "norm-order": "pre", "activation": "gelu"},
    },
    "bart": {
        "encoder_layer": bart_encoder_layer,
        "decoder_layer": bart_decoder_layer,
        "token_embedding": bart_token_embedding,
        "declares": {**COMMON, "norm-order": "post", "activation": "gelu", "embedding-scale": "sqrt"},
    },
    "gpt2": {
        "encoder_layer": gpt2_encoder_layer,
        "encoder": gpt2_encoder,
        "decoder_layer": gpt2_decoder_layer,
        "decoder": gpt2_decoder,
        "feed_forward": gpt2_feed_forward,
        "declares": {
            **COMMON, "norm-order": "pre", "final-norm": "always", "activation": "gelu-tanh", "causality": "always",
        },
    },
}  # fmt: skip
