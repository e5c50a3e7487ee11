"""The models of sparse_cases.py in plain numpy (float64), from their files alone; see check.py."""

import math

import numpy as np

from plain_forward import ADJACENT, HALVES, Plain, silu, softmax
from state_forward import sigmoid

SIGMOID = dict(HALVES, scores=2)
TRAITS = {
    "afmoe": dict(SIGMOID, norms="around", windowed=4), "hy_v3": SIGMOID, "mimo2": SIGMOID, "step35": SIGMOID,
    "deepseek32": dict(ADJACENT, scores=2), "glm-dsa": dict(ADJACENT, scores=2), "minimax-01": HALVES,
    "kimi-linear": dict(rope=None, scores=2),
}


class Sparse(Plain):
    def __init__(self, path, tokens, changes):
        super().__init__(path, tokens, changes)
        self.trait = TRAITS[self.arch].get
        self.used |= {name for name in self.T if ".indexer." in name}  # all positions would be chosen

    def scales(self):
        return (math.sqrt(self.key("embedding_length")) if self.arch == "afmoe" else 1.0), 1.0, 1.0

    def of_layer(self, name, layer, default=None):
        value = self.key(name, default)
        return value[layer] if isinstance(value, list) else value

    def has_window(self, layer):
        return bool(self.key("attention.sliding_window")) and self.windowed(layer)

    def turned(self, x, layer):
        window = self.has_window(layer)
        if self.arch == "afmoe" and not window:
            return x
        d = self.key("rope.dimension_count", x.shape[-1])
        base = self.key("rope.freq_base")
        if self.arch == "step35" and not window:
            d //= 2
        if window:
            base = self.key("rope.freq_base_swa", base)
        frequencies = base ** (-2.0 * np.arange(d // 2) / d)
        if "rope_freqs.weight" in self.T and not window:
            frequencies = frequencies / self.W("rope_freqs.weight")[:d // 2]
        angle = (np.arange(self.n)[:, None] * frequencies)[:, None]
        a, b, out = x[..., :d // 2], x[..., d // 2:d], x.copy()
        out[..., :d // 2], out[..., d // 2:d] = a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)
        return out

    def attention(self, h, p, layer):
        if self.key("attention.kv_lora_rank"):
            return self.latent_attention(h, p, layer)
        n, heads, kv_heads = self.n, self.of_layer("attention.head_count", layer), self.of_layer("attention.head_count_kv", layer)
        d = self.key("attention.key_length")
        q, k, v = (self.linear(h, p + f"attn_{which}").reshape(n, count, -1) for which, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        if p + "attn_q_norm.weight" in self.T:
            q, k = self.norm(q, p + "attn_q_norm"), self.norm(k, p + "attn_k_norm")
        q, k = self.turned(q, layer), self.turned(k, layer)
        k, v = np.repeat(k, heads // kv_heads, 1), np.repeat(v, heads // kv_heads, 1)
        score = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(d)
        distance = np.arange(n)[:, None] - np.arange(n)[None]
        seen = (distance >= 0) & ((distance < self.key("attention.sliding_window")) if self.has_window(layer) else True)
        score = np.where(seen, score, -np.inf)
        if p + "attn_sinks.weight" in self.T:
            sinks = np.broadcast_to(self.W(p + "attn_sinks.weight")[:, None, None], (heads, n, 1))
            share = softmax(np.concatenate([score, sinks], -1))[..., :-1]
        else:
            share = softmax(score)
        y = np.einsum("hij,jhd->ihd", share, v) * self.key("attention.value_scale", 1.0)
        if p + "attn_gate.weight" in self.T:  # a number for each element, or for each head
            y = y * sigmoid(self.linear(h, p + "attn_gate")).reshape(n, heads, -1)
        return self.linear(y.reshape(n, -1), p + "attn_output")

    def gated(self, h, p, end=""):
        limit = self.of_layer("swiglu_clamp_shexp", int(p.split(".")[1]), 0.0) or np.inf
        gate, up = self.linear(h, p + "ffn_gate" + end), self.linear(h, p + "ffn_up" + end)
        return self.linear(np.minimum(silu(gate), limit) * np.clip(up, -limit, limit), p + "ffn_down" + end)

    def experts(self, h, p):
        limit = self.of_layer("swiglu_clamp_exp", int(p.split(".")[1]), 0.0) or np.inf
        gate, up, down = (self.W(p + f"ffn_{which}_exps.weight") for which in ("gate", "up", "down"))
        inner = np.minimum(silu(np.einsum("ti,esi->tes", h, gate)), limit) * np.clip(np.einsum("ti,esi->tes", h, up), -limit, limit)
        y = np.einsum("tes,eos,te->to", inner, down, self.shares(h, p))
        return y + self.gated(h, p, "_shexp") if p + "ffn_up_shexp.weight" in self.T else y

    def lightning(self, h, p, layer):
        n, heads, d, layers = self.n, self.key("attention.head_count"), self.key("attention.key_length"), self.key("block_count")
        q, k, v = np.split(silu(self.linear(h, p + "attn_qkv")).reshape(n, heads, 3 * d), 3, -1)
        kept = np.exp(-2.0 ** (-8.0 * np.arange(1, heads + 1) / heads) * (1 - layer / (layers - 1 + 1e-5) + 1e-5))
        state, y = np.zeros((heads, d, d)), np.empty_like(q)
        for t in range(n):
            state = kept[:, None, None] * state + v[t][:, :, None] * k[t][:, None]
            y[t] = np.einsum("hpn,hn->hp", state, q[t])
        y = self.norm(y.reshape(n, heads * d), p + "attn_norm_2", 1e-6)
        return self.linear(y * sigmoid(self.linear(h, p + "attn_gate")), p + "attn_output")

    def columns(self, h, p):
        n, heads, d = self.n, self.key("attention.head_count"), self.key("kda.head_dim")
        convolved = lambda which: self.convolved(self.linear(h, p + f"attn_{which}"), p + f"ssm_conv1d_{which}").reshape(n, heads, d)
        through = lambda which: self.linear(self.linear(h, p + f"ssm_{which}_a"), p + f"ssm_{which}_b")
        unit = lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)
        q, k, v = unit(convolved("q")) / math.sqrt(d), unit(convolved("k")), convolved("v")
        kept = np.exp(self.W(p + "ssm_a").reshape(heads, 1) * np.logaddexp(0, through("f") + self.W(p + "ssm_dt.bias")).reshape(n, heads, d))
        rate = sigmoid(self.linear(h, p + "ssm_beta"))
        state, y = np.zeros((heads, d, d)), np.empty_like(v)
        for t in range(n):
            state = state * kept[t][:, None]
            change = rate[t][:, None] * (v[t] - np.einsum("hpn,hn->hp", state, k[t]))
            state = state + change[:, :, None] * k[t][:, None]
            y[t] = np.einsum("hpn,hn->hp", state, q[t])
        y = self.norm(y, p + "ssm_norm").reshape(n, heads * d) * sigmoid(through("g"))
        return self.linear(y, p + "attn_output")

    def convolved(self, x, name):
        kernel = self.W(name + ".weight")
        kernel = kernel.reshape(x.shape[1], -1)
        past = np.concatenate([np.zeros((kernel.shape[1] - 1, x.shape[1])), x])
        return silu(sum(kernel[:, j] * past[j:j + len(x)] for j in range(kernel.shape[1])))

    def mixed(self, h, p, layer):
        return self.columns(h, p) if p + "ssm_a" in self.T else self.attention(h, p, layer)

    def layer(self, x, layer):
        if self.arch != "minimax-01":
            return super().layer(x, layer)
        p, carried = f"blk.{layer}.", self.key("residual_scale")
        h = self.norm(x, p + "attn_norm")
        x = carried * h + (self.lightning if self.key("attention.recurrent_layers")[layer] else self.attention)(h, p, layer)
        h = self.norm(x, p + "ffn_norm")
        return carried * h + self.experts(h, p)


def forward(path, tokens, changes={}):
    """`changes`: of metadata."""
    return Sparse(path, tokens, changes).run()
