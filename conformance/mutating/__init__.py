"""Machine-made changes of one file, which of them alter what it computes, and which of these the suite rejects."""
