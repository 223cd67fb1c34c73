from typing import List, Optional


class Vocab:
    def __init__(self, tokens: List[str], unk_token: Optional[str] = "<unk>"):
        self.idx_to_token = list(tokens)
        self.token_to_idx = {t: i for i, t in enumerate(self.idx_to_token)}
        if unk_token is not None and unk_token not in self.token_to_idx:
            raise ValueError("the unknown token has to be in the vocabulary")
        self.unk_token = unk_token

    def __call__(self, sentence: str) -> List[int]:
        ids = []
        for word in sentence.split():
            if word in self.token_to_idx:
                ids.append(self.token_to_idx[word])
            elif self.unk_token is None:
                raise KeyError(word)
            else:
                ids.append(self.token_to_idx[self.unk_token])
        return ids
