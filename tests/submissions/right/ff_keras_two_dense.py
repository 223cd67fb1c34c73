from keras import layers


class FeedForward(layers.Layer):
    """The two dense layers of a block, as in the Keras examples."""

    def __init__(self, embed_dim, ff_dim, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(ff_dim, activation="relu")
        self.second = layers.Dense(embed_dim)

    def call(self, inputs):
        return self.second(self.first(inputs))
