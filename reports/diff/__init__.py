"""What changed from one results file to another, made from the two records alone."""
