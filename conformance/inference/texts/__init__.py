"""Attention and layers as the text of an adapter's function, what is asked of them, and what they are made of."""
