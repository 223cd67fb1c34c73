"""Besides for encodings of positions: tables that are handed in, positions of keys, longer sequences."""
