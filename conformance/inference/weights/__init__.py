"""Where the weights lie: read off derivatives, shapes and the keys of dicts; names are tried first."""
