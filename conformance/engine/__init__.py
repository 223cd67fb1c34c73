"""What judges one check: a requirement, its cases, the subject behind the boundary to foreign code, the outcome."""
