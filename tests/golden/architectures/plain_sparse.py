"""The models of sparse_cases.py in plain numpy (float64), from their files alone; see check.py."""

import math

import numpy as np

from plain_forward import ADJACENT, HALVES, Plain, silu, softmax
from state_forward import sigmoid

SIGMOID = dict(HALVES, scores=2)
TRAITS = {
    "afmoe": dict(SIGMOID, norms="around", windowed=4), "hy_v3": SIGMOID, "mimo2": SIGMOID, "step35": SIGMOID,
    "deepseek32": dict(ADJACENT, scores=2), "glm-dsa": dict(ADJACENT, scores=2), "minimax-01": HALVES,
    "kimi-linear": dict(rope=None, scores=2), "dots3note": dict(ADJACENT, scores=2),
    "laguna": dict(SIGMOID, windowed=4, first_sees_all=True),
    "cohere2moe": dict(ADJACENT, scores=2, parallel=True, multiplies=True, windowed=4),
}


class Sparse(Plain):
    def __init__(self, path, tokens, changes):
        super().__init__(path, tokens, changes)
        self.trait = TRAITS[self.arch].get
        squares = self.key("attention.layer_norm_rms_epsilon")
        if squares:  # a file may have both
            self.layer_norm, self.epsilon = False, squares
        self.used |= {name for name in self.T if ".indexer." in name}  # all positions would be chosen

    def scales(self):
        return (math.sqrt(self.key("embedding_length")) if self.arch == "afmoe" else 1.0), 1.0, 1.0

    def of_layer(self, name, layer, default=None):
        value = self.key(name, default)
        return value[layer] if isinstance(value, list) else value

    def has_window(self, layer):
        if self.trait("first_sees_all") and self.key("attention.sliding_window_pattern") is None:
            return bool(self.key("attention.sliding_window")) and layer % self.trait("windowed") > 0
        return bool(self.key("attention.sliding_window")) and self.windowed(layer)

    def turned(self, x, layer):
        window = self.has_window(layer)
        dense = self.arch == "cohere2moe" and layer < self.key("leading_dense_block_count")
        if self.arch in ("afmoe", "cohere2moe") and not window and not dense:
            return x
        d = self.key("rope.dimension_count", x.shape[-1])
        base = self.key("rope.freq_base")
        if self.arch == "step35" and not window:
            d //= 2
        if window:
            base = self.key("rope.freq_base_swa", base)
        if window:
            d = self.key("rope.dimension_count_swa", d)
        i, scale = np.arange(d // 2), 1.0
        frequencies = base ** (-2.0 * i / d)
        if self.arch == "laguna" and not window:  # yarn, whose scale of rotated parts is in the file
            length, s = self.key("rope.scaling.original_context_length"), self.key("rope.scaling.factor")
            ends = [d * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (32, 1)]
            low, high = max(0, math.floor(ends[0])), min(d - 1, math.ceil(ends[1]))
            ramp = np.clip((i - low) / max(high - low, 0.001), 0, 1)
            frequencies, scale = frequencies * ((1 - ramp) + ramp / s), self.key("rope.scaling.yarn_attn_factor")
        if "rope_freqs.weight" in self.T and not window:
            frequencies = frequencies / self.W("rope_freqs.weight")[:d // 2]
        angle = (np.arange(self.n)[:, None] * frequencies)[:, None]
        first, second = (np.s_[..., 0:d:2], np.s_[..., 1:d:2]) if self.trait("rope") == "adjacent" else (np.s_[..., :d // 2], np.s_[..., d // 2:d])
        a, b, out = x[first], x[second], x.copy()
        cos, sin = scale * np.cos(angle), scale * np.sin(angle)
        out[first], out[second] = a * cos - b * sin, b * cos + a * sin
        return out

    def attention(self, h, p, layer):
        if self.arch == "dots3note":
            return self.two_kinds(h, p, layer)
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
            gate = self.linear(h, p + "attn_gate").reshape(n, heads, -1)
            y = y * (np.logaddexp(0, gate) if self.arch == "laguna" else sigmoid(gate))
        return self.linear(y.reshape(n, -1), p + "attn_output")

    def two_kinds(self, h, p, layer):
        """Latent attention whose sizes are others in layers with a window."""
        n, heads, end = self.n, self.key("attention.head_count")[layer], "_swa" if self.has_window(layer) else ""
        rank, length, rotated = self.key("attention.kv_lora_rank" + end), self.key("attention.key_length_mla" + end), self.key("rope.dimension_count")
        q = self.linear(self.norm(self.linear(h, p + "attn_q_a"), p + "attn_q_a_norm"), p + "attn_q_b").reshape(n, heads, length)
        short, k = np.split(self.linear(h, p + "attn_kv_a_mqa"), [rank], -1)
        short, k = self.norm(short, p + "attn_kv_a_norm"), self.turned(self.norm(k, p + "attn_k_norm")[:, None], layer)[:, 0]
        plain, q = q[..., :length - rotated], self.turned(q[..., length - rotated:], layer)
        score = np.einsum("ihd,jr,hrd->hij", plain, short, self.W(p + "attn_k_b.weight")) + np.einsum("ihd,jd->hij", q, k)
        distance = np.arange(n)[:, None] - np.arange(n)[None]
        seen = (distance >= 0) & (distance < (self.key("attention.sliding_window") if end else n))
        y = np.einsum("hij,jr,hvr->ihv", softmax(np.where(seen, score / math.sqrt(length), -np.inf)), short, self.W(p + "attn_v_b.weight"))
        y = y * sigmoid(self.linear(h, p + "attn_gate"))[:, :, None]
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
        if p + "ffn_up_shexp.weight" not in self.T:
            return y
        return (y + self.gated(h, p, "_shexp")) * (0.5 if self.arch == "cohere2moe" else 1.0)

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
