"""encoder layer that gives a dict; config is a plain class with class attributes"""
import torch
import torch.nn as nn


class Config:
    d_model = 64
    n_heads = 4
    d_ff = 128
    n_layers = 2
    dropout = 0.1
    layer_norm_eps = 1e-6


class Layer(nn.Module):
    def __init__(self, cfg=Config):
        super().__init__()
        self.h = cfg.n_heads
        self.qkv = nn.Linear(cfg.d_model, 3 * cfg.d_model)
        self.merge = nn.Linear(cfg.d_model, cfg.d_model)
        self.up = nn.Linear(cfg.d_model, cfg.d_ff)
        self.down = nn.Linear(cfg.d_ff, cfg.d_model)
        self.ln_a = nn.LayerNorm(cfg.d_model, cfg.layer_norm_eps)
        self.ln_b = nn.LayerNorm(cfg.d_model, cfg.layer_norm_eps)
        self.drop = nn.Dropout(cfg.dropout)

    def attend(self, x, attention_mask):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, self.h, 3, c // self.h).unbind(3)
        s = torch.einsum("bihd,bjhd->bhij", q, k) * (c // self.h) ** -0.5
        if attention_mask is not None:
            s = s + (1.0 - attention_mask[:, None, None, :].to(s.dtype)) * -10000.0
        p = self.drop(s.softmax(-1))
        return self.merge(torch.einsum("bhij,bjhd->bihd", p, v).reshape(b, t, c)), p

    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        a, p = self.attend(self.ln_a(hidden_states), attention_mask)
        h = hidden_states + self.drop(a)
        h = h + self.drop(self.down(nn.functional.gelu(self.up(self.ln_b(h)))))
        out = {"hidden_states": h}
        if output_attentions:
            out["attentions"] = p
        return out


class Model(nn.Module):
    def __init__(self, cfg=Config):
        super().__init__()
        self.layers = nn.ModuleList([Layer(cfg) for _ in range(cfg.n_layers)])
        self.ln_out = nn.LayerNorm(cfg.d_model, cfg.layer_norm_eps)

    def forward(self, hidden_states, attention_mask=None):
        all_states = [hidden_states]
        for layer in self.layers:
            hidden_states = layer(hidden_states, attention_mask)["hidden_states"]
            all_states.append(hidden_states)
        return {"last_hidden_state": self.ln_out(hidden_states), "hidden_states": all_states}
