"""The same mathematics as the spec, to be read: plain PyTorch functions, one module per chapter.

Functions are cut where mistakes are made. Each can be replaced by a wrong one, and that is what a mutant is: the
reference with one function changed. So ``score`` is apart from ``weigh``, since people forget the scale, and
``split_heads`` from ``merge_heads``, since people reshape where they should transpose; most bodies have one line.

To read a chapter, begin with the function that composes the others, in most modules the last, and look up what you do
not know. Shapes stand at the ends of lines, in the letters of the chapter's page: ``# (B, H, L, E)`` is what the line
gives.
"""
