"""Ways to get packed sequences wrong."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, Vacuous
from attnconf.reference import attention, kv_cache
from attnconf.reference import packed_sequences as packed

VACUOUS = (
    Vacuous(
        (*CONSTANT, "echo"),
        "PACK-OTHER-1 PACK-APART-1 PACK-BOTH-1 PACK-ROW-1 PACK-ID-1 PACK-BOUNDS-1 PACK-ROTARY-1 PACK-WINDOW-1",
        "what reads no other token gives each token the same, whatever it stands beside",
    ),
    Vacuous(("echo",), "PACK-GRAD-1", "its gradients are the cotangent"),
)


def all_of_a_row(segments):
    return torch.ones_like(packed.same_document(segments))


mask_forgotten = Mutant(
    "PACK-causal-alone",
    story="documents see those before them: there is a causal mask, and none of documents",
    breaks={"PACK-OTHER-1"},
    hint="intersect the causal mask with segments[:, :, None] == segments[:, None, :]",
    replace={packed.same_document: all_of_a_row},
)

dropping = Mutant(
    "PACK-drops-in-evaluation",
    story="dropout is on outside training",
    breaks={"CALL-FLOAT-1", "CALL-LAYOUT-1", "CALL-MODE-1", "CALL-REPEAT-1"},
    hint="F.dropout(…, training=self.training)",
    replace={
        packed.packed_attention: lambda x, segments, weights, num_heads, member, causal=True: attention.drop(
            packed.packed_attention(x, segments, weights, num_heads, member, causal), 0.1
        )
    },
)

only_where_causal = Mutant(
    "PACK-both-ways-forgotten",
    story="documents are kept apart where attention is causal, and without causality the row is one sequence",
    breaks={"PACK-BOTH-1"},
    hint="the mask of documents holds with causality and without",
    replace={
        packed.packed_attention: lambda x, segments, weights, num_heads, member, causal=True: packed.packed_attention(
            x, segments if causal else torch.zeros_like(segments), weights, num_heads, member, causal
        )
    },
)

causal_everywhere = Mutant(
    "PACK-always-causal",
    story="documents are causal though that was not asked for, and the row's first document is not",
    breaks={"PACK-BOTH-1"},
    hint="causal where it is asked for, and nowhere else",
    replace={
        packed.packed_attention: lambda x, segments, weights, num_heads, member, causal=True: packed.packed_attention(
            x, segments, weights, num_heads, member, causal or bool((segments != segments[:, :1]).any())
        )
    },
)


def moved(by):
    """Return ``same_document`` with each document beginning so many tokens later (or, below 0, earlier)."""

    def same_document(segments):
        if by > 0:
            return packed.same_document(torch.cat([segments[:, :1], segments[:, :-1]], dim=1))
        return packed.same_document(torch.cat([segments[:, 1:], segments[:, -1:]], dim=1))

    return same_document


begins_late = Mutant(
    "PACK-begins-late",
    story="a document begins one token late: its first token belongs to the one before",
    breaks={"PACK-OTHER-1"},
    hint="the token after an end-of-text is the first of the next document",
    replace={packed.same_document: moved(1)},
)

begins_early = Mutant(
    "PACK-begins-early",
    story="a document begins one token early: the last token of the one before belongs to it",
    breaks={"PACK-OTHER-1"},
    hint="the end-of-text is the last token of its document",
    replace={packed.same_document: moved(-1)},
)


def last_seen(segments):
    same = packed.same_document(segments)
    return same | same.roll(1, dims=2) & (torch.arange(same.shape[2]) > 0)[:, None].to(same.device)


sees_the_last = Mutant(
    "PACK-sees-the-last",
    story="a document's first token sees the last document as well, as the token before it does",
    breaks={"PACK-OTHER-1"},
    hint="compare the document of the query's own token",
    replace={packed.same_document: last_seen},
)


# -- how they are told


def not_later(segments):
    return (segments[:, :, None] >= segments[:, None, :])[:, None]


compared_by_size = Mutant(
    "PACK-compared-by-size",
    story="a query sees the documents with smaller numbers, too",
    breaks={"PACK-OTHER-1", "PACK-ID-1"},
    hint="segments[:, :, None] == segments[:, None, :], not >=",
    replace={packed.same_document: not_later},
)


def as_padding(segments):
    return packed.same_document(segments) & (segments != 0)[:, None, None, :]


zero_is_padding = Mutant(
    "PACK-zero-is-padding",
    story="the document with number 0 is taken for padding, and hidden",
    breaks={"PACK-ID-1", "PACK-APART-1"},
    hint="hide padding by a mask of its own, or say that documents are counted from 1",
    replace={packed.same_document: as_padding},
)

first_row_for_all = Mutant(
    "PACK-first-row-for-all",
    story="the documents of the first row are taken for those of all rows",
    breaks={"PACK-ROW-1", "PACK-OTHER-1"},
    hint="a mask for each row: (B, 1, L, L)",
    replace={packed.same_document: lambda segments: packed.same_document(segments[:1].expand_as(segments))},
)


def as_lengths(bounds, length):
    return packed.documents_between(torch.cat([bounds[:1], bounds[1:].cumsum(0)]), length)


bounds_as_lengths = Mutant(
    "PACK-bounds-as-lengths",
    story="bounds are taken for lengths, and summed up once more",
    breaks={"PACK-BOUNDS-1"},
    hint="cu_seqlens are sums already: document d has the tokens cu_seqlens[d] … cu_seqlens[d + 1] - 1",
    replace={packed.documents_between: as_lengths},
)


def including(bounds, length):
    return torch.bucketize(torch.arange(length, device=bounds.device), bounds[1:])[None]


bound_included = Mutant(
    "PACK-bound-included",
    story="the token at a bound is counted to the document before it",
    breaks={"PACK-BOUNDS-1"},
    hint="searchsorted(bounds, i, right=True): the token at a bound is the next document's first",
    replace={packed.documents_between: including},
)


# -- what is inside


def late_places(segments):
    """Return places that start again one token late."""
    right = packed.places(segments)
    late = torch.cat([right[:, :1], right[:, :-1] + 1], dim=1)
    return torch.where(
        right == 0, late, right - (late.gather(1, (torch.arange(right.shape[1]) - right).clamp(min=0)) > 0).long()
    )


places_late = Mutant(
    "PACK-places-late",
    story="positions start again one token late: a document's first token goes on where the last one ended",
    breaks={"PACK-ROTARY-1"},
    hint="position 0 is the first token of a document",
    replace={packed.places: late_places},
)


def turned_on(x, weights, num_heads, member, positions):
    running = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    return kv_cache.new_keys(x, weights, num_heads, member, running)


keys_run_on = Mutant(
    "PACK-keys-run-on",
    story="positions start again for queries, and run on for keys",
    breaks={"PACK-ROTARY-1"},
    hint="one row of positions for queries and keys",
    replace={kv_cache.new_keys: turned_on},
)


def of_the_longest(segments):
    """Return places in blocks as long as the row's first document, as if all were as long."""
    first = packed.same_document(segments)[:, 0, 0].sum(1, keepdim=True)
    return torch.arange(segments.shape[1], device=segments.device) % first


places_in_blocks = Mutant(
    "PACK-places-in-blocks",
    story="positions start again as often as the first document is long",
    breaks={"PACK-ROTARY-1"},
    hint="start again where a document begins",
    replace={packed.places: of_the_longest},
)


def without_documents(x, segments, weights, num_heads, member, causal=True):
    own = segments if member.window is None else torch.zeros_like(segments)
    return packed.packed_attention(x, own, weights, num_heads, member, causal)


window_alone = Mutant(
    "PACK-window-alone",
    story="a window takes the place of the mask of documents: it reaches into the one before",
    breaks={"PACK-WINDOW-1"},
    hint="intersect the window with the mask of documents",
    replace={packed.packed_attention: without_documents},
)


# -- gradients, and all of it


class Averaged(torch.autograd.Function):
    """Weights whose gradient is divided by a number of documents."""

    @staticmethod
    def forward(ctx, x, number):
        ctx.number = number
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient / ctx.number, None


def averaging(x, segments, weights, num_heads, member, causal=True):
    number = 1 + int((segments[0, 1:] != segments[0, :-1]).sum())
    mean = {name: Averaged.apply(w, number) for name, w in weights.items()}
    return packed.packed_attention(x, segments, mean, num_heads, member, causal)


gradients_averaged = Mutant(
    "PACK-gradients-averaged",
    story="weights get the mean of the documents' gradients, not their sum",
    breaks={"PACK-GRAD-1"},
    hint="a loop over documents adds up: .grad is the sum",
    replace={packed.packed_attention: averaging},
)

scaled_by_the_model = Mutant(
    "PACK-scaled-by-the-model",
    story="the scores are divided by the root of the model's width",
    breaks={"PACK-ORACLE-1"},
    hint="1/√D, D the width of one head",
    replace={attention.score: lambda q, k, scale: attention.score(q, k, scale / q.shape[1] ** 0.5)},
)
