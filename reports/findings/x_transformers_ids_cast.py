"""x_transformers' TokenEmbedding: ids are cut to integers: 1.9 and True are taken for 1.

Requirement: EMB-FLOAT-1, EMB-BOOL-1
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py calls x.long(); nothing
    was found that says why.
This is: an ambiguity: narrow integers have to be widened for nn.Embedding, and the same call takes what is no id.

Prints:

    x_transformers, 1.9: the row of id 1
    torch.nn.Embedding, 1.9: RuntimeError
    x_transformers, True: the row of id 1
    torch.nn.Embedding, True: RuntimeError
"""

import torch
from x_transformers.x_transformers import TokenEmbedding

layer = TokenEmbedding(2, 5)
for name, ids in {"1.9": torch.tensor([1.9]), "True": torch.tensor([True])}.items():
    same = torch.equal(layer(ids), layer(torch.tensor([1])))
    print(f"x_transformers, {name}:", "the row of id 1" if same else "another")
    try:
        torch.nn.Embedding(5, 2)(ids)
    except RuntimeError:
        print(f"torch.nn.Embedding, {name}: RuntimeError")
