"""What the null implementations of test_null_encodings.py pass by definition: data, each entry with its reason."""

from dataclasses import dataclass

from null_encodings import CONTROLS, ENCODINGS

from attnconf.adapters.contract import COMPONENTS

ALL = tuple(CONTROLS)
ZERO_APART = ("ones", "constant")
CONSTANT = ("zeros", *ZERO_APART)
NUMBERS = (*CONSTANT, "echo")  # the same finite numbers in every call
WITH_TENSORS = tuple(name for name in ENCODINGS if COMPONENTS[name].returns == "tensor")


@dataclass(frozen=True)
class Allowed:
    """Controls that pass requirements by definition, on every component that has them, or on those named."""

    controls: tuple[str, ...]
    requirements: str
    reason: str
    components: tuple[str, ...] = ()


ALLOWED = [
    Allowed(ALL, "CALL-IMMUT-1", "nothing is written to what is handed over"),
    Allowed(NUMBERS, "CALL-REPEAT-1", "the same sizes and values give the same output", WITH_TENSORS),
    Allowed(ALL, "CALL-SHAPE-1 CALL-DTYPE-1", "shape and dtype are right, whatever the numbers"),
    Allowed(
        NUMBERS,
        "SIN-MAXLEN-1 SIN-BEYOND-1 SIN-DROP-1 LRN-DROP-1 ROPE-STRIDE-1 "
        "ROPE-CACHE-1 ROPE-CACHE-2 ROPE-MAX-1 ALIBI-ALIGN-1 FOUR-RFIXED-1 "
        "SIN-POS-6 LRN-POS-7",
        "the same sizes and values give the same output, whatever the layout, the mode, the settings or earlier calls",
    ),
    Allowed(
        NUMBERS,
        "SIN-BATCH-1 LRN-BATCH-1 ROPE-BATCH-1 ROPE-HEAD-1 ROPE-PART-1 FOUR-POINTS-1 FOUR-AXES-1 "
        "FOUR-RPOINTS-1 CMLP-POINTS-1",
        "an output depends on the input in its own place, or on nothing",
    ),
    Allowed((*ZERO_APART, "echo"), "SIN-DROP-2 LRN-DROP-2", "a module without dropout is right, and not 0"),
    Allowed(("echo",), "SIN-GRID-9", "0, 1, 2, … are different in every cell"),
    Allowed(NUMBERS, "CMLP-RELU-1 CMLP-RELU-2", "no weight has an effect, neither has what ReLU cuts off"),
    Allowed(NUMBERS, "ROPE-POS-5", "queries and keys are not read, and so no position is"),
    Allowed(NUMBERS, "ALIBI-CAUSAL-1 REL-CAUSAL-1", "no key is read, later ones included"),
    # zeros and constants
    Allowed(("zeros", "echo"), "ROPE-LINEAR-1", "0 and the input are linear in the input"),
    Allowed(("zeros",), "CMLP-LAST-1", "0 is linear in the last layer"),
    Allowed(CONSTANT, "SIN-GRID-3 SIN-GRID-7", "features that are the same everywhere are so along each axis"),
    Allowed(
        ZERO_APART,
        "SIN-SHIFT-1 SIN-POS-1 SIN-POS-2 SIN-POS-3 FOUR-ORDER-1",
        "what is the same at every position is so at all positions and beside all coordinates",
    ),
    Allowed(("zeros", "ones"), "REL-HALF-1", "half precision holds 0 and 1 exactly"),
    Allowed(CONSTANT, "REL-ALIGN-1", "the same bias everywhere"),
    # no bias: laws of what it is proportional to, not of how large it is
    Allowed(
        (*CONSTANT, "echo"),
        "ALIBI-DISTANCE-1 ALIBI-LINEAR-1 ALIBI-LONG-1",
        "no penalty is linear in the distance, and so are 0, 1, 2, …",
        ("alibi",),
    ),
    Allowed(CONSTANT, "ALIBI-BOTH-1", "the same on both sides", ("alibi",)),
    Allowed(("echo",), "ALIBI-SIGN-1", "0, 1, 2, … are larger for nearer keys", ("alibi",)),
    Allowed(
        ZERO_APART,
        "ALIBI-DISTANCE-1 ALIBI-LINEAR-1 ALIBI-LONG-1 ALIBI-BOTH-1 ALIBI-WIDTH-1 ALIBI-SAMPLE-1",
        "equal weights have log odds of 0: as above",
        ("alibi_attention",),
    ),
    Allowed(
        ZERO_APART,
        "REL-ENTRY-1 REL-HEAD-1 REL-RELATIVE-1 REL-SAMPLE-1",
        "equal weights are those of one bucket for all keys",
        ("relative_bias_attention",),
    ),
    Allowed(ZERO_APART, "ROPE-REL-2", "equal weights depend on nothing, so on distances only"),
    # echo
    Allowed(("echo",), "SIN-ADD-1 LRN-ADD-1", "x + 0"),
    Allowed(
        ("echo",),
        "ROPE-NORM-1 ROPE-ZERO-1 ROPE-REL-1 ROPE-PAIR-1 ROPE-POS-1 ROPE-POS-2 ROPE-POS-4 ROPE-REST-1",
        "the identity is a rotation by 0",
    ),
    Allowed(
        ("echo",),
        "SIN-GRAD-1 LRN-GRAD-4 ROPE-GRAD-1 FOUR-GRAD-1 FOUR-RGRAD-1",
        "autograd differentiates what was computed",
        ("sinusoidal", "learned", "rotary", "fourier", "random_fourier"),
    ),
    # layer_norm and rms_norm
    Allowed(
        NUMBERS,
        "LN-MODE-1 LN-STRIDE-1 RMS-MODE-1 RMS-STRIDE-1",
        "the same values give the same output, whatever the layout, the mode or earlier calls",
    ),
    Allowed(
        NUMBERS,
        "LN-TOKEN-1 LN-LEAD-1 LN-WIDE-1 RMS-TOKEN-1 RMS-LEAD-1 RMS-WIDE-1",
        "an output depends on the input in its own place, or on nothing",
    ),
    Allowed(NUMBERS, "LN-PLAIN-1 LN-NOBIAS-1 LN-AXES-1", "no weight is read, and the shape is that of x"),
    Allowed(CONSTANT, "LN-SHIFT-1", "what does not depend on x does not depend on its mean"),
    Allowed(
        ("zeros",),
        "LN-MEAN-1 LN-GAIN-1 LN-SCALE-1 RMS-GAIN-1 RMS-SCALE-1 RMS-ZERO-1",
        "0 has mean 0, and is 0 times any gain and any sign",
    ),
    Allowed(("echo",), "LN-LINE-1 RMS-LINE-1 RMS-ZERO-1", "x is in line with x, and 0 with 0"),
    Allowed(("ones",), "RMS-SQUARE-1", "1 has mean square 1"),
    Allowed(
        ("echo",),
        "LN-CONST-2 LN-GRAD-5 RMS-ZERO-2 RMS-GRAD-3",
        "autograd differentiates what was computed",
    ),
    # -- encoder
    Allowed(("echo",), "ENC-LEARN-3 ENC-LEARN-4", "what learns nothing learns no order, and foresees nothing"),
    Allowed((*NUMBERS, "random"), "ENC-LENGTH-1", "finite numbers, as many as there are tokens"),
    Allowed(
        NUMBERS,
        "ENC-TOKEN-1 ENC-BATCH-1 ENC-PERM-1 ENC-CAUSAL-1 ENC-PAD-1 ENC-ALONE-1 ENC-EMPTY-1 ENC-MASK-1 "
        "ENC-MASK-2 ENC-MASK-3 ENC-DEPTH-1 ENC-MODE-1 ENC-MODE-2 ENC-DROP-1 ENC-DROP-2 ENC-BIAS-1",
        "an output that depends on its own token, or on nothing, depends on no other, no mask, no mode and no weight",
    ),
    Allowed(CONSTANT, "ENC-ORDER-1", "the same for every input", ("encoder_layer", "encoder")),
    Allowed(NUMBERS, "ENC-STACK-1", "many times the same or the identity is once the same"),
    Allowed(("echo",), "ENC-PRE-1 ENC-GRAD-2", "the identity, whose gradient autograd knows"),
    Allowed(("random",), "ENC-REACH-1 ENC-OWN-1", "noise changes with every token and every weight"),
    # tokenizer: as many ids as words, as many words as ids, as many merges as are asked for
    Allowed(ALL, "TOK-EMPTY-1 TOK-DECODE-7", "of nothing comes nothing"),
    Allowed(ALL, "TOK-TRAIN-6", "the number of merges is right, whatever they are"),
    Allowed(
        ("zeros", "ones", "echo"),
        "TOK-SPLIT-1 TOK-SPECIAL-3",
        "ids that depend on the number of words only",
    ),
    Allowed(("zeros", "ones", "echo"), "CALL-REPEAT-1", "the same ids for as many words", ("tokenizer",)),
    Allowed(("zeros", "ones"), "TOK-WORD-1", "the same id for every word"),
    Allowed((*NUMBERS, "nan"), "CALL-REPEAT-1", "the same in every call", ("detokenizer", "bpe_trainer")),
    Allowed((*NUMBERS, "nan"), "TOK-TRAIN-9", "the words are not read, and so their order is not"),
    # -- decoder
    Allowed(
        NUMBERS,
        "DEC-MODE-1 DEC-DROP-1 DEC-DROP-2",
        "the same inputs give the same output, whatever the mode, the settings or earlier calls",
    ),
    Allowed(
        NUMBERS,
        "DEC-BATCH-1 DEC-CAUSAL-1 DEC-PREFIX-1 DEC-PAD-1 DEC-PAD-2 DEC-PERM-1 DEC-HIDE-1 DEC-EMPTY-1 DEC-KV-1",
        "an output depends on the target in its own place, or on nothing: not on masks, memory or other targets",
    ),
    Allowed(NUMBERS, "DEC-NORM-1 DEC-ORDER-1 DEC-STACK-1", "no weight is read, and three times a constant is once"),
    Allowed(("echo",), "DEC-ZERO-1", "the identity"),
    Allowed(("random",), "DEC-CAUSAL-2 DEC-MEMORY-1", "noise differs everywhere, as if every token were seen"),
    # -- feed_forward
    Allowed(NUMBERS, "FF-STRIDE-1 FF-DROP-1", "the same values give the same output"),
    Allowed(NUMBERS, "FF-TOKEN-1 FF-BATCH-1 FF-PLACE-1", "an output depends on its own token, or on nothing"),
    Allowed(("zeros",), "FF-DOWN-1", "0 is linear in the second layer"),
    Allowed(CONSTANT, "FF-UP-1 FF-BIAS-1 FF-GATE-3", "neither x nor the first layer has an effect"),
    Allowed(("zeros", "echo"), "FF-NOBIAS-1", "0 at 0, and no bias has an effect"),
    Allowed(("echo",), "FF-NONE-1", "without activation one hidden feature can be the input"),
    Allowed((*ZERO_APART, "echo"), "FF-DROP-2", "a module without dropout is right, and not 0"),
    # -- token_embedding
    Allowed(ALL, "EMB-EMPTY-1", "of no tokens come no vectors"),
    Allowed(NUMBERS, "EMB-SAMPLE-1 EMB-INT-1", "no id has an effect"),
    Allowed(CONSTANT, "EMB-SAME-1", "the same for all tokens", ("token_embedding",)),
    Allowed(NUMBERS, "EMB-SAME-1", "what it adds to that of a table of zeros is nothing", ("token_attention",)),
    Allowed(CONSTANT, "EMB-MASK-1", "the same beside padding and without"),
    Allowed(("zeros",), "EMB-PAD-3", "zeros for the padding are a choice"),
    # transformer
    Allowed(
        NUMBERS,
        "TRF-MODE-1 TRF-ORDER-1 TRF-MEMORY-3 TRF-FINAL-2 TRF-PAD-1 TRF-PAD-2 TRF-MAXLEN-1 TRF-TIE-1 TRF-DROP-1",
        "the same sizes give the same numbers, whatever the weights, the sources, the masks or the mode",
    ),
    Allowed(CONSTANT, "TRF-BATCH-1 TRF-PREFIX-1 TRF-PAD-3", "one number everywhere"),
    Allowed(
        ("echo",), "TRF-PAD-3", "0, 1, 2, … are the same features apart, whatever the target", ("encoder_decoder",)
    ),
    Allowed(ZERO_APART, "TRF-CAUSAL-1 TRF-CAUSAL-2 TRF-MEMORY-1", "what depends on nothing does not on later targets"),
    Allowed(("random",), "TRF-LAYERS-1", "no two calls agree, so every weight seems to matter"),
    Allowed(
        ("random", "echo"), "TRF-TARGET-1 TRF-MEMORY-2", "numbers that differ between samples seem to tell them apart"
    ),
    Allowed(("random",), "TRF-SOURCE-1", "as above"),
    Allowed(("echo",), "TRF-SOURCE-1", "as above", ("transformer",)),
]
