"""How something is built: what its constructor takes, which sizes those are, what stands in a configuration."""
