"""What calls keep for those after them: caches, memories, steps. What comes in parts is what the whole is."""
