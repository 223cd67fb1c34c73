"""transformers: rotary positions of Llama (with its attention), GPT-NeoX and GPT-J, a variant for each model."""

import torch
import transformers
from torch import nn
from transformers.models.gpt_neox import modeling_gpt_neox as gpt_neox
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama

__version__ = transformers.__version__
transformers.logging.set_verbosity_error()  # its advice on scalings is meant for those who configure models


def in_their_words(config, scaling):
    """Return rope_parameters, and max_position_embeddings: how many positions there are after scaling."""
    if scaling is None:
        return {"rope_type": "default", "rope_theta": config.base}, config.max_len
    named = dict(scaling)
    kind = named.pop("kind")
    if kind == "ntk":
        raise NotImplementedError("the scaling ntk, but for one that follows the length of the sequence")
    if "original_max_position" not in named:
        return {"rope_type": kind, "rope_theta": config.base, **named}, config.max_len
    original = int(named.pop("original_max_position"))
    named["original_max_position_embeddings"] = original
    return {"rope_type": kind, "rope_theta": config.base, **named}, int(original * named["factor"])


def as_ids(x, positions):
    """Return position_ids, (1, L) or (B, L), for x (B, H, L, E)."""
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    return positions if positions.ndim == 2 else positions[None]


def make_llama(config, heads=1, scaling=None):
    """Return Llama's configuration for this one, and its module for cos and sin."""
    parameters, length = in_their_words(config, scaling)
    theirs = transformers.LlamaConfig(
        hidden_size=heads * config.head_dim, num_attention_heads=heads, head_dim=config.head_dim,
        max_position_embeddings=length, rope_parameters=parameters, attn_implementation="sdpa",
    )  # fmt: skip
    return theirs, llama.LlamaRotaryEmbedding(theirs).to(config.device, config.dtype)


def llama_rotary(config, weights):
    if config.rotary_dim != config.head_dim:
        raise NotImplementedError("features that do not turn")
    _, embedding = make_llama(config, scaling=config.scaling)

    def forward(x, *, positions=None):
        return llama.apply_rotary_pos_emb(x, x, *embedding(x, as_ids(x, positions)))[0]

    return forward


class Part(nn.Module):
    """A projection that takes its third of the hidden states: so query, key and value come in from outside."""

    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, hidden_states):
        return hidden_states.chunk(3, dim=-1)[self.index]


def llama_rotary_attention(config, weights):
    theirs, embedding = make_llama(config, config.num_heads)
    attention = llama.LlamaAttention(theirs, layer_idx=0).eval()
    attention.q_proj, attention.k_proj, attention.v_proj = Part(0), Part(1), Part(2)
    attention.o_proj = nn.Identity()

    def forward(query, key, value, *, positions=None):
        hidden = torch.cat([x.transpose(1, 2).flatten(2) for x in (query, key, value)], dim=-1)
        turning = embedding(hidden, as_ids(query, positions))
        out, _ = attention(hidden, turning, attention_mask=None, is_causal=config.causal)
        return out.unflatten(-1, (config.num_heads, config.head_dim)).transpose(1, 2)

    return forward


def gpt_neox_rotary(config, weights):
    parameters, length = in_their_words(config, config.scaling)
    parameters["partial_rotary_factor"] = (config.rotary_dim + 0.5) / config.head_dim  # they round down
    theirs = transformers.GPTNeoXConfig(
        hidden_size=config.head_dim, num_attention_heads=1, max_position_embeddings=length, rope_parameters=parameters,
    )  # fmt: skip
    embedding = gpt_neox.GPTNeoXRotaryEmbedding(theirs).to(config.device, config.dtype)

    def forward(x, *, positions=None):
        return gpt_neox.apply_rotary_pos_emb(x, x, *embedding(x, as_ids(x, positions)))[0]

    return forward


def gptj_rotary(config, weights):
    if config.scaling is not None:
        raise NotImplementedError("scaled frequencies")
    if config.base != 10000:
        raise NotImplementedError("a base other than 10000")
    table = gptj.create_sinusoidal_positions(config.max_len, config.rotary_dim).to(config.device, config.dtype)

    def forward(x, *, positions=None):
        ids = as_ids(x, positions)  # from here on as in GPTJAttention.forward
        everywhere = gptj.get_embed_positions(table, ids)
        sincos = torch.gather(everywhere, 1, ids.unsqueeze(-1).repeat(1, 1, everywhere.shape[-1])).to(x.dtype)
        sin, cos = torch.split(sincos, sincos.shape[-1] // 2, dim=-1)
        tensor = x.transpose(1, 2)
        turned = gptj.apply_rotary_pos_emb(tensor[..., : config.rotary_dim], sin, cos)
        return torch.cat([turned, tensor[..., config.rotary_dim :]], dim=-1).transpose(1, 2)

    return forward


variants = {
    "llama": {
        "rotary": llama_rotary,
        "rotary_attention": llama_rotary_attention,
        "declares": {"rope-pairing": "half"},
    },
    "gpt_neox": {"rotary": gpt_neox_rotary, "declares": {"rope-pairing": "half"}},
    "gptj": {"rotary": gptj_rotary, "declares": {"rope-pairing": "interleaved"}},
}
