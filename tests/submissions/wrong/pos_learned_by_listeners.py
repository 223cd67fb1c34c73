"""Places in the listening history of a music service, learned."""

import torch
from torch import nn


class PlaceInHistory(nn.Module):
    """songs [n_users, places, width]: each song gets the vector of its place."""

    def __init__(self, places, width):
        super().__init__()
        self.of_place = nn.Embedding(places, width)

    def forward(self, songs):
        n_users, places, _ = songs.shape
        place = torch.arange(n_users, device=songs.device)[:, None].expand(n_users, places)
        return songs + self.of_place(place)
