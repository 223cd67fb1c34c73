import torch
import torch.nn as nn

# src: [seq_len, batch_size, emsize] everywhere, as in the pytorch tutorial


class SeqEncoder(nn.Module):

    def __init__(self, ninp, nhead, nhid, nlayers, dropout=0.5):
        super(SeqEncoder, self).__init__()
        self.model_type = 'Transformer'
        encoder_layers = nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout)
        self.transformer_encoder = nn.TransformerEncoder(encoder_layers, nlayers, enable_nested_tensor=False)

    def forward(self, src, src_mask=None, src_key_padding_mask=None):
        return self.transformer_encoder(src, src_mask, src_key_padding_mask)


if __name__ == '__main__':
    net = SeqEncoder(20, 2, 40, 2)
    L = 6
    causal = torch.triu(torch.full((L, L), float('-inf')), diagonal=1)
    print(net(torch.randn(L, 3, 20), causal).size())
