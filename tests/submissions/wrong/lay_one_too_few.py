import argparse
import torch
import torch.nn as nn


def get_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--d_model", type=int, default=32)
    parser.add_argument("--n_head", type=int, default=4)
    parser.add_argument("--d_ff", type=int, default=64)
    parser.add_argument("--n_layers", type=int, default=4)
    parser.add_argument("--p", type=float, default=0.1)
    return parser.parse_args(argv)


class Encoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.n_layers = args.n_layers
        self.blocks = nn.ModuleDict()
        for i in range(args.n_layers):
            self.blocks[f"block_{i}"] = nn.TransformerEncoderLayer(
                args.d_model, args.n_head, args.d_ff, args.p, activation="gelu", batch_first=True
            )

    def forward(self, x, pad_mask=None):
        i = 0
        while i < self.n_layers - 1:
            x = self.blocks[f"block_{i}"](x, src_key_padding_mask=pad_mask)
            i += 1
        return x


if __name__ == "__main__":
    a = get_args()
    print(Encoder(a)(torch.zeros(1, 3, a.d_model)).shape)
