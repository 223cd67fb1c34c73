"""Ways to waste memory and time: the reference with one function replaced. What comes out is the same."""

import torch
from torch import einsum
from torch.nn import functional

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, layer_norm, learned, multi_head_attention, rotary

# -- operations


def query_by_query(q, k, scale):
    if q.shape[-2] == 0:
        return attention.score(q, k, scale)
    rows = [einsum("...e,...se->...s", q[..., i, :] * scale, k) for i in range(q.shape[-2])]
    return torch.stack(rows, dim=-2)


loop_over_queries = Mutant(
    "PERF-loop-over-queries",
    story="a Python loop computes the scores query by query",
    breaks={"PERF-OPS-1"},
    hint="one product of matrices does them all: q @ k.transpose(-2, -1)",
    replace={attention.score: query_by_query},
)


def token_by_token(x, axes):
    if x.ndim != 3 or x.shape[1] < 2 or axes != (-1,):
        return layer_norm.variance(x, axes)
    return torch.stack([layer_norm.variance(token, axes) for token in x.unbind(1)], dim=1)


loop_over_tokens_in_norm = Mutant(
    "PERF-loop-over-tokens-in-norm",
    story="a Python loop takes the variance of one token after the other",
    breaks={"PERF-OPS-1"},
    hint="reduce over the last axis of the whole tensor: x.var(dim=-1, unbiased=False)",
    replace={layer_norm.variance: token_by_token},
    silent_on={"multi_head_attention": "what is counted has no norms inside"},
)


def angle_by_angle(positions, omega):
    flat = positions.flatten()
    if not flat.numel():
        return rotary.angles(positions, omega)
    rows = [rotary.angles(p, omega.to(positions.device)) for p in flat.unbind()]
    return torch.stack(rows).unflatten(0, positions.shape)


loop_over_positions = Mutant(
    "PERF-loop-over-positions",
    story="the table of angles is filled row by row, in every call",
    breaks={"PERF-OPS-1"},
    hint="an outer product is the whole table: torch.outer(positions, frequencies)",
    replace={rotary.angles: angle_by_angle},
    silent_on=dict.fromkeys(
        ("multi_head_attention", "encoder_layer", "encoder"), "what is counted has no positions inside"
    ),
)


def head_by_head(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    if q.ndim != 4 or not q.shape[:2] == k.shape[:2] == v.shape[:2]:
        return attention.attend(q, k, v, mask, bias, scale, dropout)
    masks = [None if x is None else x.expand(*q.shape[:-1], k.shape[-2]) for x in (mask, bias)]
    done = [
        attention.attend(q[:, h], k[:, h], v[:, h], *[x if x is None else x[:, h] for x in masks], scale, dropout)
        for h in range(q.shape[1])
    ]
    return tuple(torch.stack(parts, dim=1) for parts in zip(*done, strict=True))


loop_over_heads = Mutant(
    "PERF-loop-over-heads",
    story="a Python loop attends head by head",
    breaks={"PERF-OPS-2"},
    hint="make the heads an axis, (B, H, L, E): matmul treats all axes but the last two as a batch",
    replace={attention.attend: head_by_head},
    source="teaching code with nn.ModuleList([Head(…) for _ in range(num_heads)]): 7 of 110 public files",
)


def sample_by_sample(weights, v):
    if v.ndim < 4 or len(v) == 0:
        return attention.mix(weights, v)
    return torch.stack([attention.mix(*pair) for pair in zip(weights, v, strict=True)])


loop_over_samples = Mutant(
    "PERF-loop-over-samples",
    story="a Python loop weighs the values of one sample after the other",
    breaks={"PERF-OPS-3"},
    hint="keep the batch as the first axis: matmul treats all axes but the last two as a batch",
    replace={attention.mix: sample_by_sample},
)

# -- FLOPs


def scores_twice(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    if dropout:
        return out, weights  # drawn once, so they cannot be computed again
    return out, attention.weigh(
        attention.hide(
            attention.add_bias(attention.score(q, k, attention.default_scale(q) if scale is None else scale), bias),
            mask,
        )
    )


scores_computed_twice = Mutant(
    "PERF-scores-twice",
    story="the weights that are returned are computed a second time",
    breaks={"PERF-FLOP-1"},
    hint="return the weights that multiplied the values, or compute none where none are asked for",
    replace={attention.attend: scores_twice},
)


def padded(x):
    return functional.pad(x, (0, -x.shape[-1] % 64))


padded_heads = Mutant(
    "PERF-padded-heads",
    story="queries and keys are filled up with zeros to a width of 64 before they are multiplied",
    breaks={"PERF-FLOP-1"},
    hint="multiply heads as wide as they are; a kernel that needs a multiple of 8 or 16 pads to that",
    replace={attention.score: lambda q, k, scale: attention.score(padded(q), padded(k), scale)},
)


def project_everything(query, weights):
    names = [name for name in "qkv" if weights[f"{name}.weight"].shape[1] == query.shape[-1]]
    if len(names) < 3:
        return multi_head_attention.project_query(query, weights)
    fused = torch.cat([weights[f"{name}.weight"] for name in names])
    q = multi_head_attention.project(query, fused, None)[..., : len(weights["q.weight"])]
    return q + weights["q.bias"] if "q.bias" in weights else q


projects_everything = Mutant(
    "PERF-projects-everything",
    story="the queries' input goes through the projections of keys and values too, and that part is thrown away",
    breaks={"PERF-FLOP-1"},
    hint="a fused projection saves work where query, key and value are one tensor; elsewhere project each by its own",
    replace={multi_head_attention.project_query: project_everything},
)


class OneGradientAtATime(torch.autograd.Function):
    """Attention whose backward goes through all of it for the gradient of q, again for k, and again for v."""

    @staticmethod
    def forward(ctx, attend, *given):
        ctx.save_for_backward(*given)
        ctx.attend = attend
        return attend(*given)

    @staticmethod
    def backward(ctx, *slopes):
        grads = []
        for at in range(len(ctx.saved_tensors)):
            leaves = [x.detach().requires_grad_() for x in ctx.saved_tensors]
            with torch.enable_grad():
                outputs = ctx.attend(*leaves)
                loss = sum((y * slope).sum() for y, slope in zip(outputs, slopes, strict=True))
            grads.append(torch.autograd.grad(loss, leaves)[at])
        return None, *grads


def differentiate_thrice(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    if dropout:
        return attention.attend(q, k, v, mask, bias, scale, dropout)

    def attend(q, k, v, bias=None):
        return attention.attend(q, k, v, mask, bias, scale)

    return OneGradientAtATime.apply(attend, q, k, v, *([] if bias is None else [bias]))


one_gradient_at_a_time = Mutant(
    "PERF-one-gradient-at-a-time",
    story="backward computes attention and all its gradients anew for each of query, key and value, and keeps one",
    breaks={"PERF-FLOP-2"},
    hint="compute forward again at most once, and take all gradients from it",
    replace={attention.attend: differentiate_thrice},
)

# -- memory


def largest_by_pairs(scores):
    empty = torch.isneginf(scores).all(dim=-1).any()
    if empty or not 1 < scores.shape[-1] <= 150:
        return attention.weigh(scores)
    largest = (scores[..., :, None] >= scores[..., None, :]).all(dim=-1)
    peak = torch.where(largest, scores, -torch.inf).amax(dim=-1, keepdim=True)
    e = torch.exp(scores - peak)
    return e / e.sum(dim=-1, keepdim=True)


every_pair_of_scores = Mutant(
    "PERF-every-pair-of-scores",
    story="a row's largest score is found by comparing each with each: (B, H, L, S, S)",
    breaks={"PERF-MEM-1"},
    hint="amax reads the row once",
    replace={attention.weigh: largest_by_pairs},
)

one_hot_rows = Mutant(
    "PERF-one-hot-rows",
    story="rows are looked up by multiplying the table with one-hot vectors, as many and as long as there are rows",
    breaks={"PERF-MEM-1"},
    hint="index: table[positions], or nn.Embedding",
    replace={
        learned.look_up: lambda table, positions: functional.one_hot(positions, len(table)).to(table) @ table,
    },
    source="BERT's published code, use_one_hot_embeddings",
)


class WithJacobian(torch.autograd.Function):
    """Softmax whose backward writes out how every weight depends on every score of its row."""

    @staticmethod
    def forward(ctx, scores):
        weights = attention.weigh(scores)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, slope):
        (p,) = ctx.saved_tensors
        jacobian = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
        return (jacobian * slope[..., None, :]).sum(dim=-1)


softmax_jacobian = Mutant(
    "PERF-softmax-jacobian",
    story="the gradient of the softmax writes out its Jacobian, S × S for each query",
    breaks={"PERF-MEM-2"},
    hint="it times a slope is p · (slope - Σ p · slope), which needs one row",
    replace={attention.weigh: lambda scores: WithJacobian.apply(scores)},
)

products_kept = Mutant(
    "PERF-products-kept",
    story="queries and keys are multiplied feature by feature, (B, H, L, S, E), and summed afterwards",
    breaks={"PERF-MEM-3"},
    hint="a product of matrices sums as it goes: q @ k.transpose(-2, -1)",
    replace={attention.score: lambda q, k, scale: (q[..., :, None, :] * scale * k[..., None, :, :]).sum(dim=-1)},
)
