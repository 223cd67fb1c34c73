"""transformers: norms, networks, layers and stacks with RMS norm, of Llama, Gemma and T5, a variant for each model.

Positions are left out: every token of Llama and Gemma stands at position 0, where nothing turns, and T5's bias is zero.
"""

import torch
import transformers
from transformers.models.gemma import modeling_gemma as gemma
from transformers.models.llama import modeling_llama as llama
from transformers.models.t5 import modeling_t5 as t5

from attnconf.adapters import bind
from attnconf.adapters.kit.hugging_face import ACTIVATIONS, decode, encode, given_to_model
from attnconf.adapters.kit.weight_names import demand, inside, renamed, stacked, under

__version__ = transformers.__version__

PROJECTIONS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "out": "o_proj"}
NETWORK = {name: f"{name}_proj" for name in ("up", "gate", "down")}
LAYER = {
    **{f"attn.{ours}": f"self_attn.{theirs}" for ours, theirs in PROJECTIONS.items()},
    **{f"ff.{ours}": f"mlp.{theirs}" for ours, theirs in NETWORK.items()},
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
}  # fmt: skip


def make_rms_norm(kind):
    def rms_norm(config, weights):
        return bind(kind(config.dim, config.eps), weights)

    return rms_norm


def refuse_dropout(config):
    if config.training and config.dropout:
        raise NotImplementedError("dropout but on attention weights")


def make_feed_forward(kind, options):
    def feed_forward(config, weights):
        refuse_dropout(config)
        theirs = options(
            config, hidden_size=config.embed_dim, intermediate_size=config.hidden_dim, num_attention_heads=1,
            head_dim=2, hidden_act=ACTIVATIONS[config.activation],
        )  # fmt: skip
        return bind(kind(theirs), renamed(weights, NETWORK))

    return feed_forward


def llama_options(config, **more):
    demand(config, gated=True)
    return transformers.LlamaConfig(**more, mlp_bias=config.bias, attention_bias=config.bias)


def gemma_options(config, **more):
    demand(config, gated=True, bias=False)
    if config.activation == "gelu":
        raise NotImplementedError("the exact GELU: GemmaConfig takes gelu for its approximation")
    return transformers.GemmaConfig(**more)


def layer_options(options, config, **more):
    """Return their configuration of a layer or a stack: each head has keys and values of its own."""
    demand(config, norm_first=True, norm="rms", causal=True)
    refuse_dropout(config)
    width = config.embed_dim // config.num_heads
    if width % 2 and width > 3:  # their configurations let 1 and 3 through
        raise NotImplementedError("heads of an odd width")
    return options(
        config, hidden_size=config.embed_dim, intermediate_size=config.hidden_dim, rms_norm_eps=config.eps,
        num_attention_heads=config.num_heads, num_key_value_heads=config.num_heads, vocab_size=1, pad_token_id=None,
        head_dim=width, hidden_act=ACTIVATIONS[config.activation],
        attn_implementation="eager", **more,
    )  # fmt: skip


def make_encoder_layer(kind, options):
    def encoder_layer(config, weights):
        call = bind(kind(layer_options(options, config), layer_idx=0), renamed(weights, LAYER))
        width = config.embed_dim // config.num_heads

        def run(x, mask):
            turns = x.new_ones(*x.shape[:2], width), x.new_zeros(*x.shape[:2], width)
            return call(x, attention_mask=mask, position_embeddings=turns)

        return encode(run, config)

    return encoder_layer


def make_encoder(kind, options):
    def encoder(config, weights):
        demand(config, final_norm=True)
        if config.embed_dim // config.num_heads % 2:
            raise NotImplementedError("heads of an odd width")
        model = kind(layer_options(options, config, num_hidden_layers=config.num_layers, use_cache=False))
        state = stacked(weights, lambda layer: renamed(layer, LAYER)) | renamed(weights, {"norm": "norm"})
        call = bind(model, state | {"embed_tokens.weight": torch.zeros_like(weights["norm.weight"])[None]})

        def forward(x, *, key_mask=None, attn_mask=None):
            first = torch.zeros(x.shape[:2], dtype=torch.int64, device=x.device)
            # without a mask they would take positions that do not count up for many sequences in one
            keys = torch.ones_like(first, dtype=torch.bool) if key_mask is None else key_mask
            mask = given_to_model(config, x, keys, attn_mask)
            return call(inputs_embeds=x, attention_mask=mask, position_ids=first).last_hidden_state

        return forward

    return encoder


def gemma_token_embedding(config, weights):
    scale = config.dim**0.5  # as GemmaModel gives it
    embedding = gemma.GemmaTextScaledWordEmbedding(config.vocab_size, config.dim, config.padding_id, scale)
    return bind(embedding, {"weight": weights["table.weight"]})


# -- T5


def t5_config(config, **more):
    demand(config, norm_first=True, norm="rms", bias=False)
    return transformers.T5Config(
        vocab_size=1, d_model=config.embed_dim, d_kv=config.embed_dim // config.num_heads, d_ff=config.hidden_dim,
        num_heads=config.num_heads, dropout_rate=config.dropout,
        layer_norm_epsilon=config.eps, feed_forward_proj=t5_activation(config), attn_implementation="eager",
        use_cache=False, **more,
    )  # fmt: skip


def t5_activation(config):
    if config.gated and config.activation == "gelu":
        raise NotImplementedError("the exact GELU with a gate: T5Config takes gated-gelu for its approximation")
    return ("gated-" if config.gated else "") + ACTIVATIONS[config.activation]


def t5_feed_forward(config, weights):
    demand(config, bias=False)
    theirs = transformers.T5Config(
        d_model=config.embed_dim, d_ff=config.hidden_dim, dropout_rate=config.dropout,
        feed_forward_proj=t5_activation(config),
    )  # fmt: skip
    network = (t5.T5DenseGatedActDense if config.gated else t5.T5DenseActDense)(theirs)
    return bind(network.train(config.training), t5_network(weights))


def t5_network(weights):
    gated = {"gate": "wi_0", "up": "wi_1"} if "gate.weight" in weights else {"up": "wi"}
    return renamed(weights, {**gated, "down": "wo"})


def t5_state(weights):
    """Return the state of T5Block: its parts are a list, each with the norm before it."""
    attentions = ["attn"] if "attn.q.weight" in weights else ["self", "cross"]
    state = {}
    for i, (ours, theirs) in enumerate(zip(attentions, ("SelfAttention", "EncDecAttention"), strict=False)):
        parts = {
            f"{ours}.{a}": f"layer.{i}.{theirs}.{b}" for a, b in {"q": "q", "k": "k", "v": "v", "out": "o"}.items()
        }
        state |= renamed(weights, {**parts, f"norm{i + 1}": f"layer.{i}.layer_norm"})
    last = len(attentions)
    state |= renamed(weights, {f"norm{last + 1}": f"layer.{last}.layer_norm"})
    return state | inside(f"layer.{last}.DenseReluDense", t5_network(under(weights, "ff")))


def t5_encoder_layer(config, weights):
    call = bind(t5.T5Block(t5_config(config), layer_idx=0).train(config.training), t5_state(weights))
    return encode(lambda x, mask: call(x, mask)[0], config)


def t5_decoder_layer(config, weights):
    block = t5.T5Block(t5_config(config, is_decoder=True), layer_idx=0).train(config.training)
    call = bind(block, t5_state(weights))
    return decode(
        lambda x, mask, memory, hidden: call(x, mask, encoder_hidden_states=memory, encoder_attention_mask=hidden)[0]
    )


def t5_stack_state(config, weights):
    """Return the state of T5Stack. Its table of relative positions is zeros: ours has none."""
    like = weights["norm.weight"]
    return {
        **stacked(weights, t5_state, "block"), **renamed(weights, {"norm": "final_layer_norm"}),
        "block.0.layer.0.SelfAttention.relative_attention_bias.weight": like.new_zeros(32, config.num_heads),
    }  # fmt: skip


def t5_encoder(config, weights):
    demand(config, final_norm=True, causal=False)
    stack = t5.T5Stack(t5_config(config, num_layers=config.num_layers)).train(config.training)
    unused = {"embed_tokens.weight": torch.zeros_like(weights["norm.weight"])[None]}
    call = bind(stack, t5_stack_state(config, weights) | unused)

    def forward(x, *, key_mask=None, attn_mask=None):
        return call(inputs_embeds=x, attention_mask=given_to_model(config, x, key_mask, attn_mask)).last_hidden_state

    return forward


def t5_decoder(config, weights):
    demand(config, final_norm=True)
    stack = t5.T5Stack(t5_config(config, num_layers=config.num_layers, is_decoder=True)).train(config.training)
    unused = {"embed_tokens.weight": torch.zeros_like(weights["norm.weight"])[None]}
    call = bind(stack, t5_stack_state(config, weights) | unused)

    def forward(x, memory, *, key_mask=None, memory_mask=None):
        return call(
            inputs_embeds=x, attention_mask=key_mask, encoder_hidden_states=memory, encoder_attention_mask=memory_mask
        ).last_hidden_state

    return forward


def t5_encoder_decoder(config, weights):
    demand(config, final_norm=True)
    theirs = t5_config(config, num_layers=config.num_encoder_layers, num_decoder_layers=config.num_decoder_layers)
    model = t5.T5Model(theirs).train(config.training)
    state = {"shared.weight": torch.zeros_like(weights["encoder.norm.weight"])[None]}
    for part in ("encoder", "decoder"):
        state |= inside(part, t5_stack_state(config, under(weights, part)))
    call = bind(model, state)

    def forward(source, target, *, source_mask=None, target_mask=None):
        return call(
            inputs_embeds=source, attention_mask=source_mask, decoder_inputs_embeds=target,
            decoder_attention_mask=target_mask,
        ).last_hidden_state  # fmt: skip

    return forward


COMMON = {"norm-kind": "rms", "norm-order": "pre", "final-norm": "always", "fully-masked-row": "mean"}
GATED = {**COMMON, "gated": "yes", "glu-activated": "gate"}
T5 = {
    "rms_norm": make_rms_norm(t5.T5LayerNorm),
    "feed_forward": t5_feed_forward,
    "encoder_layer": t5_encoder_layer,
    "encoder": t5_encoder,
    "decoder_layer": t5_decoder_layer,
    "decoder": t5_decoder,
    "encoder_decoder": t5_encoder_decoder,
}
T5_DECLARES = {"layer-bias": "no", "attention-scale": "none", "rms-norm-weight": "plain", "rms-norm-cast": "before"}
variants = {
    "llama": {
        "rms_norm": make_rms_norm(llama.LlamaRMSNorm),
        "feed_forward": make_feed_forward(llama.LlamaMLP, llama_options),
        "encoder_layer": make_encoder_layer(llama.LlamaDecoderLayer, llama_options),
        "encoder": make_encoder(llama.LlamaModel, llama_options),
        "declares": {
            **GATED, "activation": "silu", "layer-bias": "yes", "causality": "always", "attention-scale": "sqrt",
            "rms-norm-weight": "plain", "rms-norm-cast": "before",
        },
    },
    "gemma": {
        "rms_norm": make_rms_norm(gemma.GemmaRMSNorm),
        "feed_forward": make_feed_forward(gemma.GemmaMLP, gemma_options),
        "encoder_layer": make_encoder_layer(gemma.GemmaDecoderLayer, gemma_options),
        "encoder": make_encoder(gemma.GemmaModel, gemma_options),
        "token_embedding": gemma_token_embedding,
        "declares": {
            **GATED, "activation": "gelu-tanh", "layer-bias": "no", "causality": "always", "attention-scale": "sqrt",
            "rms-norm-weight": "one-plus", "rms-norm-cast": "after", "embedding-scale": "sqrt",
        },
    },
    "t5": {**T5, "declares": {**COMMON, **T5_DECLARES, "gated": "no", "activation": "relu"}},
    "t5_gated": {**T5, "declares": {**GATED, **T5_DECLARES, "activation": "gelu-tanh"}},
}  # fmt: skip
