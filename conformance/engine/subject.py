"""A subject: one component of one implementation, seen through one lens. Checks talk to nothing else."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NoReturn

import torch
from torch import Tensor

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, GradientsNotAsked, Unsupported
from attnconf.conformance.engine.lens import LENSES, OPTIONAL_INPUTS, Options, offered
from attnconf.conformance.engine.member_lens import is_member
from attnconf.conformance.engine.request import Call, Implementation, Reply, Request
from attnconf.conformance.worker.slopes import slopes

# What a subject lacks because of a declaration: need -> (convention, choices that exclude it).
_LACKING: dict[str, tuple[str, tuple[str, ...]]] = {
    "value-width": ("value-width", ("key",)),
    "weights": ("returned-weights", ("none",)),
    "pre-norm": ("norm-order", ("post", "sandwich", "output", "parallel", "parallel-two")),
    "post-norm": ("norm-order", ("pre", "sandwich", "output", "parallel", "parallel-two")),
    "in-sequence": ("norm-order", ("parallel", "parallel-two")),
    "two-norms": ("norm-order", ("parallel",)),
    "final-norm": ("final-norm", ("never",)),
    "no-final-norm": ("final-norm", ("always",)),
    "free-causality": ("causality", ("always",)),
    "no-places": ("rotary-inside", ("interleaved", "half")),  # a token's output says nothing of where it stands
    "several-heads": ("heads", ("one",)),
    "mask": ("masks", ("none",)),
    "key-mask": ("masks", ("none",)),
    "head-masks": ("masks", ("keys", "shared", "none")),
    "input-biases": ("biases", ("none", "output")),
    "output-projection": ("output-projection", ("no",)),
    "dropped-weights": ("dropout-place", ("output", "both")),
    "output-bias": ("biases", ("none", "inputs")),
    "layer-bias": ("layer-bias", ("no",)),
    "layer-norm": ("norm-kind", ("rms",)),
    "segment-ids": ("packing", ("cu-seqlens",)),
    "bounds": ("packing", ("segment-ids",)),
    "kept-cache": ("earlier-cache", ("consumed",)),
    "words": ("token-kind", ("character",)),
    "word-tokens": ("token-kind", ("character", "byte-pair")),
    "characters": ("token-kind", ("word", "byte-pair")),
    "whole-tokens": ("token-kind", ("byte-pair",)),
    "byte-pairs": ("token-kind", ("word", "character")),
    "ungated": ("gated", ("yes",)),
    "untied": ("tying", ("head", "all")),
    "tied": ("tying", ("none",)),
}
_LACKING_TOO: dict[str, tuple[str, tuple[str, ...]]] = {
    "words": ("word-end", ("none",)),
    "no-places": ("score-bias", ("both-ways", "one-way")),
}  # likewise, for another reason

# What a subject offers only where it declares another choice than the first of the convention of that name.
_DECLARED = frozenset(
    {"kv-heads", "head-dim", "score-scale", "score-cap", "window", "rotary-part", "head-bias", "logit-cap"}
)

# What a member of the attention family has inside: need -> (convention, choices that have it).
_INSIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "rotary-inside": ("positions-inside", ("rotary", "any")),
    "alibi-inside": ("positions-inside", ("alibi", "any")),
    "relative-inside": ("positions-inside", ("relative-bias", "any")),
    "shaw-inside": ("positions-inside", ("shaw", "any")),
    "relative-values": ("relative-values", ("yes", "any")),
    "qk-norm": ("qk-norm", ("rms", "layer", "any")),
    "sinks": ("sinks", ("learned", "add-one", "any")),
    "no-added-score": ("sinks", ("none", "learned", "any")),
    "no-slope": ("positions-inside", ("none", "rotary", "relative-bias", "shaw", "any")),
    "free-length": ("qk-norm", ("none", "any")),
    "learned-sinks": ("sinks", ("learned", "any")),
    "output-gate": ("output-gate", ("features", "heads", "any")),
}

# Likewise of the norms of an encoder's layers, of factors on what these add, and of what is added to their scores.
_PLACED: dict[str, tuple[str, tuple[str, ...]]] = {
    "placed-norms": ("norm-order", ("sandwich", "output", "parallel", "parallel-two", "any")),
    "norms-behind": ("norm-order", ("sandwich", "output", "any")),
    "side-by-side": ("norm-order", ("parallel", "parallel-two", "any")),
    "branch-scale": ("branch-scale", ("vector", "scalar", "one-scalar", "any")),
    "score-bias": ("score-bias", ("both-ways", "one-way", "any")),
}

# Entries of a layer's configuration that a declaration fixes: (entry, convention).
_STYLE = (
    ("norm", "norm-kind"), ("activation", "activation"), ("gated", "gated"), ("bias", "layer-bias"),
    ("norm_variance", "layer-norm-variance"), ("norm_eps", "layer-norm-eps"), ("rms_eps", "rms-norm-eps"),
)  # fmt: skip
_SAID: dict[Any, str] = {True: "yes", False: "no"}


class NotAsked(Mapping[str, Tensor]):
    """The gradients of a reply where none were asked for: reading them raises GradientsNotAsked."""

    def _none(self, *_: object) -> NoReturn:
        raise GradientsNotAsked

    __getitem__ = __iter__ = __len__ = _none


class Subject:
    """A component of an implementation as a check sees it; ``log`` keeps every request with its reply or failure.

    Without ``gradients``, or where it says that it has none, none are asked of it; the check ends where it reads one.
    """

    def __init__(self, implementation: Implementation, component: str, lens: str, gradients: bool = True):
        self.gradients = gradients
        self.implementation = implementation
        self.component = component
        self.lens = lens
        self.offered = offered(component, lens)
        self.declares = implementation.declared(component)
        self.log: list[tuple[Request, Reply | Failure]] = []

    def offers(self, what: str) -> bool:
        """Return whether the component offers ``what`` (a word of a requirement's ``needs:``) through its lens."""
        if what == "member":
            return self.choice("kv-heads") == "one" or any(self.offers(part) for part in (*_DECLARED, *_INSIDE))
        if what == "plain":
            return not is_member(self.declares)
        if what in _INSIDE or what in _PLACED:
            convention, choices = {**_INSIDE, **_PLACED}[what]
            return what in self.offered and self.choice(convention) in choices
        if what == "several-heads" and self.choice("kv-heads") == "one":
            return False
        if what in _DECLARED and self.choice(what) in (CONVENTIONS[what][0], "one"):
            return False
        lacking = (_LACKING.get(what, ("", ())), _LACKING_TOO.get(what, ("", ())))
        return what in self.offered and all(
            self.declares.get(convention) not in choices for convention, choices in lacking
        )

    def choice(self, convention: str) -> str:
        """Return the declared choice of a convention, else the spec's default."""
        return self.declares.get(convention, CONVENTIONS[convention][0])

    def ask(
        self, config: Any, inputs: Mapping[str, Any], out_shape: tuple[int, ...],
        weights: Mapping[str, Tensor] | None = None, **options: Any,
    ) -> Reply:  # fmt: skip
        """Return the component's reply to these inputs. Options (mode, cotangent, wrt, before, …) as in Request.

        Raises Failure or Unsupported.
        """
        return self.call(Request(self.component, config, weights or {}, inputs, out_shape, **options))

    def call(self, request: Request) -> Reply:
        """Return the implementation's reply, and add the request and the reply to the log."""
        if request.cotangent is not None and not self.gradients:
            return replace(self.call(replace(request, cotangent=None, wrt=())), grads=NotAsked())
        self._keep_to_what_is_declared(request.config)
        try:
            reply = call(self.implementation, request)
        except Failure as failure:
            self.log.append((request, failure))
            raise
        except Unsupported as words:
            if request.cotangent is None or not str(words).startswith("gradients"):
                raise
            self.gradients = False  # it has none: its outputs are judged
            return self.call(request)
        self.log.append((request, reply))
        return reply

    def _keep_to_what_is_declared(self, config: Any) -> None:
        """Raise Unsupported for a layer of another kind than the one that is declared: it is asked for no other."""
        if not hasattr(config, "activation"):
            return
        for entry, convention in _STYLE:
            asked = getattr(config, entry, None)
            asked = _SAID.get(asked, asked)
            declared = self.declares.get(convention)
            if declared is not None and asked is not None and asked != declared:
                raise Unsupported(f"{convention} {asked}: it is declared to be {declared}")

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, *, need_weights: bool = False, cotangent: Tensor | None = None,
        wrt: str = "qkv", before: tuple[tuple[Tensor, Tensor, Tensor], ...] = (), **extra: Any,
    ) -> Reply:  # fmt: skip
        """Return attention on q, k and v as the component computes it.

        Shapes:
            q  (B, H, L, E)     k  (B, H, S, E)     v  (B, H, S, F)
            key_mask  (B, S)    attn_mask, attn_bias  broadcastable to (B, H, L, S)
            Reply.out  (B, H, L, F)    Reply.weights  (B, H, L, S), with ``need_weights``
            Reply.grads  of <cotangent, out>, under "q", "k", "v" (those named in ``wrt``) and "attn_bias"

        ``before``: triples for earlier calls of the same callable. Further keywords are those of Options (scale,
        causal, …), masks (key_mask, …) and those of Request (mode, layout, seed).
        Raises Failure or Unsupported.
        """
        if cotangent is not None and not self.gradients:
            reply = self.attend(q, k, v, need_weights=need_weights, before=before, **extra)
            return replace(reply, grads=NotAsked())
        options = Options(**{f.name: extra.pop(f.name) for f in fields(Options) if f.name in extra})
        given = {name: extra.pop(name) for name in OPTIONAL_INPUTS if extra.get(name) is not None}
        leaves = {"q": q, "k": k, "v": v, **given}
        if cotangent is not None:
            names = [*wrt, *(name for name in given if given[name].is_floating_point())]
            leaves = {n: x.detach().clone().requires_grad_() if n in names else x for n, x in leaves.items()}
        placed = self._place(leaves, options)
        if cotangent is not None:
            extra["cotangent"], extra["wrt"] = self._push(placed, cotangent)
        request = placed.asked(
            inputs={name: x.detach() for name, x in placed.inputs.items()},
            weights_shape=placed.weights_shape if need_weights else None,
            averaged_shape=self._averaged(placed),
            before=tuple(self._place({"q": a, "k": b, "v": c}, options).inputs for a, b, c in before),
            **extra,
        )
        reply = self.call(request)
        grads: Mapping[str, Tensor] = reply.grads
        if cotangent is not None and self.gradients:
            grads = _pull(placed, reply, leaves)
        attention = (
            placed.read_weights(reply.weights)
            if reply.weights is not None and reply.weights.ndim == 4
            else reply.weights
        )
        return Reply(placed.read(reply.out), attention, grads, reply.changed, reply.counts)

    def attending(self, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Call:
        """Return the call with which the component computes attention on q, k and v, without asking for weights.

        ``options`` as in Options, and key_mask, attn_mask and attn_bias as in ``attend``.
        """
        given = {name: options.pop(name) for name in OPTIONAL_INPUTS if name in options}
        return replace(self._place({"q": q, "k": k, "v": v, **given}, Options(**options)), weights_shape=None)

    def _place(self, leaves: Mapping[str, Tensor], options: Options) -> Call:
        extra = {name: x for name, x in leaves.items() if name in OPTIONAL_INPUTS}
        return LENSES[self.component, self.lens].place(
            leaves["q"], leaves["k"], leaves["v"], extra, options, {**self.declares, **options.inside}
        )

    def _averaged(self, placed: Call) -> tuple[int, ...] | None:
        if placed.weights_shape is None or self.declares.get("returned-weights") != "averaged":
            return None
        return (placed.weights_shape[0], *placed.weights_shape[2:])

    def _push(self, placed: Call, cotangent: Tensor) -> tuple[Tensor, tuple[str, ...]]:
        """Return the cotangent of the component's own output, and the names of the inputs that need gradients."""
        probe = torch.zeros(placed.out_shape, dtype=cotangent.dtype, device=cotangent.device, requires_grad=True)
        (pushed,) = slopes([(placed.read(probe), cotangent)], [probe])
        return pushed, tuple(name for name, x in placed.inputs.items() if x.requires_grad)


def _pull(placed: Call, reply: Reply, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the gradients with respect to the leaves, from the gradients with respect to the component's inputs."""
    names = [name for name, x in leaves.items() if x.requires_grad]
    pairs = [(placed.inputs[name], grad) for name, grad in reply.grads.items()]
    return dict(zip(names, slopes(pairs, [leaves[name] for name in names]), strict=True))
