"""transformers: LlamaAttention with a DynamicCache, eager, on the masks and positions that its model would give."""

from types import SimpleNamespace

import torch
import transformers
from torch.func import functional_call
from transformers.models.llama import modeling_llama as llama

from attnconf.adapters.kit.hugging_face import additive
from attnconf.adapters.kit.weight_names import renamed

__version__ = transformers.__version__

declares = {
    "kv-heads": "grouped", "positions-inside": "rotary", "rope-pairing": "half", "earlier-cache": "consumed",
}  # fmt: skip
PROJECTIONS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "out": "o_proj"}


def options_of(config):
    return transformers.LlamaConfig(
        hidden_size=config.embed_dim, num_attention_heads=config.num_heads, head_dim=config.head_dim,
        num_key_value_heads=config.num_kv_heads or config.num_heads, attention_bias=config.bias,
        max_position_embeddings=config.max_len, rope_parameters={"rope_type": "default", "rope_theta": config.base},
        attn_implementation="eager",
    )  # fmt: skip


def cached_attention(config, weights):
    theirs = options_of(config)
    layer, state = llama.LlamaAttention(theirs, layer_idx=0).train(config.training), renamed(weights, PROJECTIONS)
    turns = llama.LlamaRotaryEmbedding(theirs)

    def empty(batch):
        real = torch.ones(batch, 0, dtype=torch.bool, device=weights["q.weight"].device)
        return SimpleNamespace(layers=transformers.DynamicCache(config=theirs), real=real)

    def step(x, cache, *, key_mask=None, positions=None):
        first = cache.layers.get_seq_length()
        places = first + torch.arange(x.shape[1], device=x.device)
        real = torch.ones_like(x[..., 0], dtype=torch.bool) if key_mask is None else key_mask
        cache.real = torch.cat([cache.real, real], dim=1)  # the caller's attention_mask, of all tokens
        earlier = torch.arange(cache.real.shape[1], device=x.device) <= places[:, None]  # (T, S)
        mask = additive((earlier & cache.real[:, None])[:, None], x)
        where = places.expand(x.shape[:2]) if positions is None else positions
        given = {"position_embeddings": turns(x, where), "attention_mask": mask, "past_key_values": cache.layers}
        out, _ = functional_call(layer, state, x, given)  # not bind, which tries a call first: the cache would grow
        return out, cache

    def reorder(cache, order):
        cache.layers.reorder_cache(order)
        cache.real = cache.real[order]
        return cache

    return SimpleNamespace(empty=empty, step=step, reorder=reorder)
