"""Returns what it was handed."""


def attention(config, weights):
    return lambda query, key, value: value
