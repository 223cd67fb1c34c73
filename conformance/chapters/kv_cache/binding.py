"""What attention with a cache looks like in somebody's file: it is judged by an adapter, and not looked for."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {"cached_attention": Appearance("by_adapter")}
