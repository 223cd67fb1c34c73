"""What a search may cost: the limits of the binder, in one place.

A search is counted in calls of foreign code and of the textbook (probing.search), so that the same is tried on every
machine. The limits of single lists keep it from ending in the first of them.
"""

# -- of one class, in functions of the reference that are called

CALLS = 500_000  # in all: about 10 s
GUESSED = 400_000  # where neither its name nor its call says what it may be
A_CALL = 60  # what a call of foreign code costs
A_PART = 20  # what it costs more for each module that it goes through
FOR_HYPOTHESES = 0.6  # the part of what is left that is spent on hypotheses: the rest is for comparing with mistakes
GUARD = 20  # seconds of the processor: what takes longer for so few calls is left, wherever the search is
A_SLOW_CALL = 1e-4  # seconds more for each function: five times what they take, so that no load decides

# -- of one list, the likeliest first

COMBINED = 20_000  # combinations of what arguments may get, which are put in order
CONSTRUCTIONS = 48  # ways to build one class
GUESSED_SIZES = 24  # more ways to build it, in which arguments without telling names are sizes
FILLINGS = 40  # ways to call one thing; among very many a wrong one would find a way around its mistake
TEXTS = 160  # ways to build and call one small component
ATTENTIONS = 200  # hypotheses of one class as attention
CALLED_ALIKE = 32  # of these, built and called in one way, that run and are not right
READINGS_OF_PARAMETERS = 24  # what the parameters of a layer may be
CONVENTION_SETS = 48  # sets of conventions of one layer
LAYERS = 8  # hypotheses of one class as a layer that run and are not right
FLAGS = 8  # flags that are turned
FLAGS_TURNED = 3  # flags of a constructor, for each of which a class is bound anew
KNOBS = 20  # arguments and entries that may be sizes of one class
LAYOUTS = 4  # ways in which one parameter may lie
ORDERS = 8  # orders of parameters that have one role each
FEW = 6  # further ways of one kind, where the first ones are nearly always right
COMPARED = 20  # trials that are compared with known mistakes
LIKELIEST = 3  # the same, where a comparison is dear: layers, masks, ways of asking
