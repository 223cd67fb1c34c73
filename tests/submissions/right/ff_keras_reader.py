# I come from Keras, so: units, activation as a string
import torch
from torch import nn

ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": nn.functional.gelu,
    "swish": lambda t: t * torch.sigmoid(t),
}


class DenseDense(nn.Module):
    def __init__(self, model_units, ff_units, activation="relu", rate=0.1):
        super().__init__()
        self.dense_in = nn.Linear(model_units, ff_units)
        self.dense_out = nn.Linear(ff_units, model_units)
        self.activation = ACTIVATIONS[activation]
        self.rate = rate

    def call(self, x):
        x = self.activation(self.dense_in(x))
        x = nn.functional.dropout(x, p=self.rate, training=self.training)
        return self.dense_out(x)

    forward = call
