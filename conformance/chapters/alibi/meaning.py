"""What of a reply of ALiBi has a meaning: what a row has in common cancels in the softmax."""

from dataclasses import replace

from attnconf.conformance.chapters.alibi.checks import against_own_key
from attnconf.conformance.engine.request import Reply, Request


def bias(reply: Reply, request: Request) -> Reply:
    """Return the bias of every key against that of the query's own; nothing of later ones, where it is causal."""
    return replace(reply, out=against_own_key(reply.out.double(), request.config.causal))


MEANINGS = {"alibi": bias}
