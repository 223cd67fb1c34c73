from torch import nn


class ConvFeedForward(nn.Module):
    # a convolution of width 1 is a linear layer for each token
    def __init__(self, d_in, d_hid):
        super().__init__()
        self.conv1 = nn.Conv1d(in_channels=d_in, out_channels=d_hid, kernel_size=1)
        self.conv2 = nn.Conv1d(in_channels=d_hid, out_channels=d_in, kernel_size=1)
        self.relu = nn.ReLU()

    def forward(self, inputs):
        # (N, L, C) -> (N, C, L) and back, because a convolution wants its channels in the middle
        channels = inputs.permute(0, 2, 1)
        return self.conv2(self.relu(self.conv1(channels))).permute(0, 2, 1)
