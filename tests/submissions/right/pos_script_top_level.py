"""Does a learned position table find the order of letters? Run me: python pos_script_top_level.py --steps 200"""
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--width", type=int, default=16)
args, _ = parser.parse_known_args()

torch.manual_seed(4)
WIDTH = args.width
LENGTH = 12


class PlaceTable(nn.Module):
    def __init__(self, length=LENGTH, width=WIDTH):
        super().__init__()
        self.places = nn.Parameter(torch.zeros(length, width))
        nn.init.trunc_normal_(self.places, std=0.02)

    def forward(self, x):
        length = x.size(-2)
        if length > self.places.size(0):
            raise ValueError("more letters than places")
        return x + self.places[:length]


net = nn.Sequential(PlaceTable(), nn.Linear(WIDTH, LENGTH))
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for step in range(args.steps):
    loss = nn.functional.cross_entropy(net(torch.zeros(1, LENGTH, WIDTH))[0], torch.arange(LENGTH))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step {step}: loss {loss.item():.3f}")
