"""Besides for layers, stacks and models: how they are called, which parameter is which, options, pictures."""
