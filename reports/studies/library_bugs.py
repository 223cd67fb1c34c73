"""What stands against classes of libraries in reports/libraries.md, shown without this project, on plain float32 input.

``python reports/studies/library_bugs.py`` prints a line for each: what was asked for, and what came out.
"""

import equinox
import jax.numpy as jnp
import torch
from torch import Tensor, nn
from transformers.models.bart.modeling_bart import BartAttention, BartConfig
from transformers.models.bert.modeling_bert import BertConfig, BertSelfAttention
from transformers.models.gpt_neo.modeling_gpt_neo import GPTNeoConfig, GPTNeoSelfAttention
from transformers.models.marian.modeling_marian import MarianAttention, MarianConfig
from transformers.models.mbart.modeling_mbart import MBartAttention, MBartConfig
from transformers.models.t5.modeling_t5 import T5Attention, T5Config
from transformers.models.wav2vec2.modeling_wav2vec2 import Wav2Vec2Attention, Wav2Vec2Config
from transformers.models.whisper.modeling_whisper import WhisperAttention, WhisperConfig
from x_transformers import Attention


def moved(layer: nn.Module, x: Tensor) -> float:
    """Return how far the first token's output moves with the last token; 0 where attention is causal."""
    other = x.clone()
    other[:, -1] += 1.0
    return float((layer.eval()(other)[0] - layer.eval()(x)[0])[:, 0].abs().max().detach())


def causal_but_for_the_flag() -> None:
    """A layer made from its configuration attends in plain torch, which does not read ``is_causal``."""
    x = torch.randn(1, 4, 8)
    bert = BertConfig(hidden_size=8, num_attention_heads=2)
    of_embeddings = {
        BartAttention: BartConfig,
        MBartAttention: MBartConfig,
        MarianAttention: MarianConfig,
        WhisperAttention: WhisperConfig,
        Wav2Vec2Attention: Wav2Vec2Config,
    }
    others = [kind(8, 2, is_causal=True, config=configuration()) for kind, configuration in of_embeddings.items()]
    for layer in (BertSelfAttention(bert, is_causal=True), *others):
        name = type(layer).__name__
        print(f"{name}(is_causal=True): the first output moves by {moved(layer, x):.3f} with the last token")


def not_scaled() -> None:
    """GPT-Neo's and T5's scores are not divided by the root of a head's width."""
    config = GPTNeoConfig(
        hidden_size=8, num_heads=2, num_layers=2, attention_types=[[["global"], 2]], attention_dropout=0.0
    )
    neo = GPTNeoSelfAttention(config, "global").eval()
    t5 = T5Attention(T5Config(d_model=8, d_kv=4, num_heads=2)).eval()
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(1)
    from_scales(neo, (neo.q_proj, neo.k_proj, neo.v_proj, neo.out_proj), hidden)
    from_scales(t5, (t5.q, t5.k, t5.v, t5.o), torch.zeros_like(hidden))


def from_scales(layer: nn.Module, projections: tuple[nn.Module, ...], hidden: Tensor) -> None:
    """Print how far self-attention with two heads of 4 is from what its projections give with either scale."""
    x = torch.randn(1, 4, 8)
    q, k, v = (project(x).view(1, 4, 2, 4).transpose(1, 2) for project in projections[:3])
    for name, scale in {"1": 1.0, "1/√E": 0.5}.items():
        weights = (q @ k.transpose(2, 3) * scale).masked_fill(hidden, float("-inf")).softmax(-1)
        error = (projections[3]((weights @ v).transpose(1, 2).flatten(2)) - layer(x)[0]).abs().max()
        print(f"{type(layer).__name__}: {float(error.detach()):.1e} from attention with scale {name}")


def one_head_not_projected() -> None:
    """x-transformers leaves the output projection out where there is one head, however wide it is."""
    x = torch.randn(1, 4, 32)
    for heads in (2, 1):
        out = Attention(32, heads=heads, dim_head=16)(x)
        print(f"x_transformers.Attention(32, heads={heads}, dim_head=16): {tuple(x.shape)} becomes {tuple(out.shape)}")


def one_base_for_all() -> None:
    """Equinox keeps its tables of angles by width and dtype, not by ``theta``: the first one that is used stays."""
    x = jnp.ones((4, 8))
    first = equinox.nn.RotaryPositionalEmbedding(8, theta=10_000.0)(x)
    second = equinox.nn.RotaryPositionalEmbedding(8, theta=100.0)(x)
    error = float(jnp.abs(first - second).max())
    print(f"RotaryPositionalEmbedding(8, theta=100): {error:.1e} from what theta=10000 gave before")


if __name__ == "__main__":
    torch.manual_seed(0)
    causal_but_for_the_flag()
    not_scaled()
    one_head_not_projected()
    one_base_for_all()
