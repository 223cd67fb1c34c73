import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        if hidden_states.shape[-1] != self.weight.shape[0]:
            raise ValueError("hidden_size")
        h = hidden_states.to(torch.promote_types(hidden_states.dtype, torch.float32))
        variance = h.var(-1, keepdim=True, unbiased=False)
        h = (h - h.mean(-1, keepdim=True)) * torch.rsqrt(variance + self.variance_epsilon)
        return (self.weight * h).to(hidden_states.dtype)
