import torch
from torch import nn


class SpeechToSpeech(nn.Module):
    """Encoder-decoder on spectrogram frames.

    n_mels      width of a frame (= width of the model, no projection)
    n_head      attention heads
    n_state     hidden width of the MLPs
    n_layer     layers on each side
    """

    def __init__(self, n_mels: int, n_head: int, n_state: int, n_layer: int):
        super().__init__()
        enc = nn.TransformerEncoderLayer(n_mels, n_head, n_state, 0.0, "gelu", batch_first=True, norm_first=True)
        dec = nn.TransformerDecoderLayer(n_mels, n_head, n_state, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(enc, n_layer, nn.LayerNorm(n_mels), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(dec, n_layer, nn.LayerNorm(n_mels))

    def embed_audio(self, mel):
        with torch.no_grad():
            return self.encoder(mel)

    def forward(self, mel, frames):
        memory = self.embed_audio(mel)
        n = frames.shape[1]
        mask = torch.empty(n, n, device=frames.device, dtype=frames.dtype).fill_(float("-inf")).triu_(1)
        return self.decoder(frames, memory, tgt_mask=mask)
