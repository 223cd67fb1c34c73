"""The same mathematics as the spec, to be read: plain PyTorch functions, one module per chapter."""
