"""The encoders in plain numpy (float64), from their files alone; see check.py."""

import math

import numpy as np
from gguf import GGUFReader

from plain_forward import gelu, gelu_tanh, silu, softmax


def encode(path, tokens, changes={}, jina_gelu=gelu):
    """The rows of the last layer. `changes`: of metadata; `jina_gelu`: what llama.cpp has in place of GELU with erf."""
    file = GGUFReader(path)
    meta = {k: f.contents() for k, f in file.fields.items()} | changes
    arch = meta["general.architecture"]
    key = lambda name, default=None: meta.get(f"{arch}.{name}", default)
    T = {t.name: np.array(t.data, dtype=np.float64) for t in file.tensors}
    used, n, heads = set(), len(tokens), key("attention.head_count")
    jina, modern, gemma = arch == "jina-bert-v2", arch == "modern-bert", arch == "gemma-embedding"
    before = key("attention.layer_norm_rms_epsilon") or modern  # norms are before attention and feed-forward
    assert key("attention.causal") is False

    def W(name):
        used.add(name)
        return T[name]

    def with_bias(x, name):
        return x + W(name + ".bias") if name + ".bias" in T else x

    def linear(x, name):
        return with_bias(x @ W(name + ".weight").T, name)

    def norm(x, name):
        if epsilon := key("attention.layer_norm_rms_epsilon"):
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * W(name + ".weight")
        x = x - x.mean(-1, keepdims=True)
        return with_bias(x / np.sqrt((x * x).mean(-1, keepdims=True) + key("attention.layer_norm_epsilon")) * W(name + ".weight"), name)

    def rope(x, base):
        half = x.shape[-1] // 2
        angle = np.arange(n)[:, None] * base ** (-np.arange(half) / half)
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    def attention(x, p, sees_all):
        if p + "attn_qkv.weight" in T:
            q, k, v = np.split(linear(x, p + "attn_qkv"), 3, -1)
        else:
            q, k, v = (linear(x, p + "attn_" + which) for which in "qkv")
        q, k, v = (a.reshape(n, -1, key("attention.key_length", x.shape[1] // heads)) for a in (q, k, v))
        if gemma:
            q, k = norm(q, p + "attn_q_norm"), norm(k, p + "attn_k_norm")
        k, v = np.repeat(k, heads // k.shape[1], 1), np.repeat(v, heads // v.shape[1], 1)
        if base := key("rope.freq_base") if sees_all else key("rope.freq_base_swa", 10000.0):
            q, k = rope(q, base), rope(k, base)
        distance = np.abs(np.arange(n)[:, None] - np.arange(n))
        score = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[-1])
        if jina:  # slopes to both sides, of a number of heads that is a power of two
            score -= 2.0 ** (-key("attention.max_alibi_bias", 8.0) * np.arange(1, heads + 1) / heads)[:, None, None] * distance
        if not sees_all:  # half of the window on each side
            score = np.where(distance <= key("attention.sliding_window") // 2, score, -np.inf)
        return linear(np.einsum("hij,jhd->ihd", softmax(score), v).reshape(n, -1), p + "attn_output")

    def experts(x, p):
        shares = softmax(linear(x, p + "ffn_gate_inp"))
        best = np.argsort(-shares, -1)[:, :key("expert_used_count")]
        y = np.zeros_like(x)
        for t in range(n):
            for e in best[t]:
                y[t] += shares[t, e] * (W(p + "ffn_down_exps.weight")[e] @ gelu(W(p + "ffn_up_exps.weight")[e] @ x[t]))
        return with_bias(y, p + "ffn_down_exps")

    def feed_forward(x, p):
        if p + "ffn_gate_inp.weight" in T:
            return experts(x, p)
        up = linear(x, p + "ffn_up")
        if modern or jina:
            gate, up = np.split(up, 2, -1) if p + "ffn_gate.weight" not in T else (linear(x, p + "ffn_gate"), up)
            up = (jina_gelu if jina else gelu)(gate) * up
        elif p + "ffn_gate.weight" in T:
            up = (gelu_tanh if gemma else silu)(linear(x, p + "ffn_gate")) * up
        else:
            up = gelu(up)
        return linear(up, p + "ffn_down")

    x = W("token_embd.weight")[tokens]
    if gemma:
        x = x * math.sqrt(x.shape[1])
    if not before:
        x = x + W("token_types.weight")[0]
    if "position_embd.weight" in T:
        x = x + W("position_embd.weight")[:n]
    if "token_embd_norm.weight" in T:
        x = norm(x, "token_embd_norm")
    for l in range(key("block_count")):
        p = f"blk.{l}."
        sees_all = l % key("attention.sliding_window_pattern") == 0 if modern else l % 6 == 5 if gemma else True
        if before:
            h = attention(norm(x, p + "attn_norm") if l > 0 or not modern else x, p, sees_all)
            x = x + (norm(h, p + "post_attention_norm") if gemma else h)
            h = feed_forward(norm(x, p + "ffn_norm"), p)
            x = x + (norm(h, p + "post_ffw_norm") if gemma else h)
        else:
            x = norm(x + attention(x, p, True), p + "attn_output_norm")
            x = norm(x + feed_forward(x, p), p + "layer_output_norm")
    if before:
        x = norm(x, "output_norm")
    assert used == set(T), set(T) - used
    return x
