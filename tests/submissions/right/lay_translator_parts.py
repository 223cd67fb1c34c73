"""Translation: encoder and decoder embed their own ids (positions are learned), the model makes the masks."""
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, hid_dim, n_heads, p):
        super().__init__()
        self.n_heads = n_heads
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(hid_dim, hid_dim) for _ in range(4))
        self.drop = nn.Dropout(p)

    def forward(self, query, key, value, mask=None):
        def heads(t):
            return t.view(*t.shape[:2], self.n_heads, -1).permute(0, 2, 1, 3)

        Q, K, V = heads(self.fc_q(query)), heads(self.fc_k(key)), heads(self.fc_v(value))
        energy = Q @ K.transpose(-1, -2) / Q.shape[-1] ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-inf"))
        attention = torch.softmax(energy, dim=-1)
        x = self.drop(attention) @ V
        return self.fc_o(x.permute(0, 2, 1, 3).flatten(2)), attention


class Network(nn.Sequential):
    def __init__(self, hid_dim, pf_dim, p):
        super().__init__(nn.Linear(hid_dim, pf_dim), nn.ReLU(), nn.Dropout(p), nn.Linear(pf_dim, hid_dim))


class EncoderLayer(nn.Module):
    def __init__(self, hid_dim, n_heads, pf_dim, p):
        super().__init__()
        self.attention, self.network = Attention(hid_dim, n_heads, p), Network(hid_dim, pf_dim, p)
        self.norm_a, self.norm_n = nn.LayerNorm(hid_dim), nn.LayerNorm(hid_dim)
        self.drop = nn.Dropout(p)

    def forward(self, src, src_mask):
        found, _ = self.attention(src, src, src, src_mask)
        src = self.norm_a(src + self.drop(found))
        return self.norm_n(src + self.drop(self.network(src)))


class DecoderLayer(nn.Module):
    def __init__(self, hid_dim, n_heads, pf_dim, p):
        super().__init__()
        self.own, self.other = Attention(hid_dim, n_heads, p), Attention(hid_dim, n_heads, p)
        self.network = Network(hid_dim, pf_dim, p)
        self.norm_own, self.norm_other, self.norm_n = (nn.LayerNorm(hid_dim) for _ in range(3))
        self.drop = nn.Dropout(p)

    def forward(self, trg, enc_src, trg_mask, src_mask):
        trg = self.norm_own(trg + self.drop(self.own(trg, trg, trg, trg_mask)[0]))
        found, attention = self.other(trg, enc_src, enc_src, src_mask)
        trg = self.norm_other(trg + self.drop(found))
        return self.norm_n(trg + self.drop(self.network(trg))), attention


class Encoder(nn.Module):
    def __init__(self, input_dim, hid_dim, n_layers, n_heads, pf_dim, dropout, device, max_length=100):
        super().__init__()
        self.tok_embedding = nn.Embedding(input_dim, hid_dim, device=device)
        self.pos_embedding = nn.Embedding(max_length, hid_dim, device=device)
        self.layers = nn.ModuleList([EncoderLayer(hid_dim, n_heads, pf_dim, dropout) for _ in range(n_layers)])
        self.drop, self.scale = nn.Dropout(dropout), hid_dim ** 0.5

    def forward(self, src, src_mask):
        pos = torch.arange(src.shape[1], device=src.device).expand(src.shape)
        src = self.drop(self.tok_embedding(src) * self.scale + self.pos_embedding(pos))
        for layer in self.layers:
            src = layer(src, src_mask)
        return src


class Decoder(nn.Module):
    def __init__(self, output_dim, hid_dim, n_layers, n_heads, pf_dim, dropout, device, max_length=100):
        super().__init__()
        self.tok_embedding = nn.Embedding(output_dim, hid_dim, device=device)
        self.pos_embedding = nn.Embedding(max_length, hid_dim, device=device)
        self.layers = nn.ModuleList([DecoderLayer(hid_dim, n_heads, pf_dim, dropout) for _ in range(n_layers)])
        self.fc_out = nn.Linear(hid_dim, output_dim)
        self.drop, self.scale = nn.Dropout(dropout), hid_dim ** 0.5

    def forward(self, trg, enc_src, trg_mask, src_mask):
        pos = torch.arange(trg.shape[1], device=trg.device).expand(trg.shape)
        trg = self.drop(self.tok_embedding(trg) * self.scale + self.pos_embedding(pos))
        for layer in self.layers:
            trg, attention = layer(trg, enc_src, trg_mask, src_mask)
        return self.fc_out(trg), attention


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder, src_pad_idx, trg_pad_idx):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.src_pad_idx, self.trg_pad_idx = src_pad_idx, trg_pad_idx

    def make_src_mask(self, src):
        return (src != self.src_pad_idx)[:, None, None, :]

    def make_trg_mask(self, trg):
        seen = torch.ones(trg.shape[1], trg.shape[1], dtype=torch.bool, device=trg.device).tril()
        return (trg != self.trg_pad_idx)[:, None, None, :] & seen

    def forward(self, src, trg):
        src_mask, trg_mask = self.make_src_mask(src), self.make_trg_mask(trg)
        return self.decoder(trg, self.encoder(src, src_mask), trg_mask, src_mask)
