"""What is shown under a failure, and searched around it: smallest example, trace, map of dependence, exploration."""
