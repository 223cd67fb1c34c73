import torch


def attention_of(settings: dict):
    """Returns a function of queries, keys and values, (batch, heads, length, width); hidden keys are True in `hide`."""
    causal = settings.get("causal", False)

    def attend(q, k, v, hide=None):
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        if hide is not None:
            scores = scores.masked_fill(hide, float("-inf"))
        return scores.softmax(-1) @ v

    return attend
