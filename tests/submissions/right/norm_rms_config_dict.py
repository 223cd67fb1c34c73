import torch

CFG = {"d_model": 48, "norm_eps": 1e-6}


class T5StyleNorm(torch.nn.Module):
    """no mean, no bias"""

    def __init__(self, cfg=CFG):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(cfg["d_model"]))
        self.variance_epsilon = cfg["norm_eps"]

    def forward(self, hidden):
        assert hidden.size(-1) == self.w.numel(), "wrong width"
        accumulate = torch.promote_types(hidden.dtype, torch.float32)
        power = hidden.to(accumulate).pow(2).mean(-1, keepdim=True)
        hidden_f = hidden.to(accumulate) * torch.rsqrt(power + self.variance_epsilon)
        if self.w.dtype in (torch.float16, torch.bfloat16):
            hidden_f = hidden_f.to(self.w.dtype)
        return self.w * hidden_f
