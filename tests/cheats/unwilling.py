"""Says what it does not do."""


def attention(config, weights):
    raise NotImplementedError("attention on Saturdays")
