"""How masks and biases on the scores are taken, and how the attention weights come back."""
