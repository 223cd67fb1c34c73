"""Besides for what has to do with tokens: vocabularies, merges, embeddings and their padding."""
