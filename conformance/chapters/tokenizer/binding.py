"""What tokenizers, and what learns merges for them, look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {
    "tokenizer": Appearance(
        "tokenizers",
        names=((70, r"tokeni[sz]|vocab|^bpe|byte_?pair|text_to_ids?|^encode$"),),
        unnamed=6,
        function=True,
        arrays=True,
    ),
    "detokenizer": Appearance(
        "tokenizers", names=((60, r"detoken|decode_?ids|ids?_to_(text|str)|^decode$"),), function=True, arrays=True
    ),
    "bpe_trainer": Appearance(
        "merges",
        names=(
            (50, r"train.*(bpe|merges)|(bpe|merges).*train|(learn|fit).*(bpe|merges)|byte_?pair|^bpe|^[^_]+_?bpe$"),
            (71, r"tokeni[sz]|vocab"),  # that learns its vocabulary itself
        ),
        unnamed=7,
        function=True,
        arrays=True,
    ),
}
