"""Besides for norms and feed-forward networks: their parts, activations, and what stands around them."""
