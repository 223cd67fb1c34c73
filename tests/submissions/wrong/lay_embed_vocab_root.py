import torch

class WordEmbedding(torch.nn.Module):
    def __init__(self, embedding_dim, num_embeddings):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(num_embeddings, embedding_dim).normal_(std=embedding_dim ** -0.5))

    def forward(self, tokens):
        vectors = torch.nn.functional.embedding(tokens, self.weight)
        return vectors * self.weight.shape[0] ** 0.5
