"""The calls of multi-head attention that the laws of every call are judged with: those of attention."""

from attnconf.conformance.chapters.attention import calls as of_attention

CALLS = {"multi_head_attention": of_attention.CALLS["attention"]}
