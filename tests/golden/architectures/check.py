#!/usr/bin/env python3
"""Reads every NAME.gguf back, runs it in plain numpy (float64) and compares with NAME.logits.f32.

make.py computes the logits from the models it builds; this computes them from the files alone, so a
mistake in a tensor's name, layout or metadata shows. It also spells out, in few lines, the
conventions of the files.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFReader

import plain_encoders
import plain_forward
import plain_gemma
import plain_sparse

HERE = Path(__file__).resolve().parent


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def forward(path, tokens):
    file = GGUFReader(path)
    meta = {k: f.contents() for k, f in file.fields.items()}
    arch = meta["general.architecture"]
    key = lambda name, default=None: meta.get(f"{arch}.{name}", default)
    T = {t.name: np.array(t.data, dtype=np.float64) for t in file.tensors}
    used = set()

    def W(name, optional=False):
        if optional and name not in T:
            return None
        used.add(name)
        return T[name]

    hidden, layers = key("embedding_length"), key("block_count")
    of_layers = lambda name: key(name) if isinstance(key(name), list) else [key(name)] * layers
    all_heads, all_kv_heads = of_layers("attention.head_count"), of_layers("attention.head_count_kv")
    d = key("attention.key_length", hidden // all_heads[0])
    eps, window = key("attention.layer_norm_rms_epsilon"), key("attention.sliding_window")
    gemma, sandwich = arch.startswith("gemma"), arch in ("gemma2", "gemma3")
    gpt_oss, granite, n = arch == "gpt-oss", arch.startswith("granite"), len(tokens)

    # rotary angles and the factor on cos and sin
    base = key("rope.freq_base", 10000.0)
    i = np.arange(d // 2)
    freq, mscale = base ** (-2.0 * i / d), 1.0
    scaling, s = key("rope.scaling.type"), key("rope.scaling.factor")
    if scaling == "linear":
        freq = freq / s
    elif scaling == "yarn":
        L = key("rope.scaling.original_context_length")
        dim = lambda turns: d * math.log(L / (2 * math.pi * turns)) / (2 * math.log(base))
        low, high = (dim(32), dim(1)) if gpt_oss else (math.floor(dim(32)), math.ceil(dim(1)))
        low, high = max(0, low), min(d - 1, high)
        ramp = np.clip((i - low) / max(high - low, 0.001), 0, 1)
        freq = freq * ((1 - ramp) + ramp / s)
        mscale = 0.1 * math.log(s) + 1
    if "rope_freqs.weight" in T:
        freq = freq / W("rope_freqs.weight")

    def windowed(layer):
        pattern = key("attention.sliding_window_pattern")
        if isinstance(pattern, list):
            return bool(pattern[layer])
        if arch == "gemma3":
            return layer % 6 < 5
        return layer % 2 == 0 if arch in ("gemma2", "gpt-oss") else True

    def rope(x, layer):  # x: token, head, d
        if arch == "smollm3" and layer % 4 == 3 or not key("attention.rope_pattern", [True] * layers)[layer]:
            return x
        local = arch == "gemma3" and windowed(layer)
        angle = np.arange(n)[:, None] * (10000.0 ** (-2.0 * i / d) if local else freq)
        cos, sin = np.cos(angle)[:, None] * mscale, np.sin(angle)[:, None] * mscale
        out = np.empty_like(x)
        adjacent = arch in ("llama", "smollm3", "ernie4_5") or granite
        a, b = (np.s_[..., 0::2], np.s_[..., 1::2]) if adjacent else (np.s_[..., :d // 2], np.s_[..., d // 2:])
        out[a], out[b] = x[a] * cos - x[b] * sin, x[b] * cos + x[a] * sin
        return out

    def norm(x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * W(name)

    def linear(x, name):
        y = x @ W(name + ".weight").T
        b = W(name + ".bias", optional=True)
        return y if b is None else y + b

    def activation(x):
        if gemma:
            return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
        return x / (1 + np.exp(-x))

    def gated(gate, up):
        if not gpt_oss:
            return activation(gate) * up
        gate, up = np.minimum(gate, 7), np.clip(up, -7, 7)
        return gate / (1 + np.exp(-1.702 * gate)) * (up + 1)

    def attention(h, p, l):
        heads, kv_heads = all_heads[l], all_kv_heads[l]
        q = linear(h, p + "attn_q").reshape(n, heads, d)
        k = linear(h, p + "attn_k").reshape(n, kv_heads, d)
        v = linear(h, p + "attn_v").reshape(n, kv_heads, d)
        if p + "attn_q_norm.weight" in T:
            q, k = norm(q, p + "attn_q_norm.weight"), norm(k, p + "attn_k_norm.weight")
        q, k = rope(q, l), rope(k, l)
        k, v = np.repeat(k, heads // kv_heads, 1), np.repeat(v, heads // kv_heads, 1)
        score = np.einsum("ihd,jhd->hij", q, k) * key("attention.scale", 1 / math.sqrt(d))
        cap = key("attn_logit_softcapping")
        if cap:
            score = np.tanh(score / cap) * cap
        seen = distance >= 0
        if window and windowed(l):
            seen &= distance < window
        score = np.where(seen, score, -np.inf)
        if p + "attn_sinks.weight" in T:  # one more position, which has no value
            sinks = np.broadcast_to(W(p + "attn_sinks.weight")[:, None, None], (heads, n, 1))
            score = softmax(np.concatenate([score, sinks], -1))[..., :-1]
        else:
            score = softmax(score)
        h = np.einsum("hij,jhd->ihd", score, v).reshape(n, heads * d)
        return linear(h, p + "attn_output")

    x = W("token_embd.weight")[tokens] * key("embedding_scale", math.sqrt(hidden) if gemma else 1.0)
    residual = key("residual_scale", 1.0)
    distance = np.arange(n)[:, None] - np.arange(n)[None]
    for l in range(layers):
        p = f"blk.{l}."
        h = norm(x, p + "attn_norm.weight")
        h = attention(h, p, l)
        x = x + (norm(h, p + "post_attention_norm.weight") if sandwich else h) * residual

        h = norm(x, p + ("post_attention_norm.weight" if arch in ("gpt-oss", "seed_oss") else "ffn_norm.weight"))
        if key("expert_count"):
            share = softmax(linear(h, p + "ffn_gate_inp"))
            best = np.argsort(-share, -1)[:, :key("expert_used_count")]
            if p + "ffn_gate_up_exps.weight" in T:
                gate, up = np.split(W(p + "ffn_gate_up_exps.weight"), 2, 1)
            else:
                gate, up = (W(p + f"ffn_{m}_exps.weight") for m in ("gate", "up"))
            down = W(p + "ffn_down_exps.weight")
            biases = [W(p + f"ffn_{m}_exps.bias", optional=True) for m in ("gate", "up", "down")]
            gate_b, up_b, down_b = (np.zeros(w.shape[:2]) if b is None else b for w, b in zip((gate, up, down), biases))
            y = np.zeros_like(h)
            for t in range(n):
                total = share[t, best[t]].sum()
                for e in best[t]:
                    inner = gated(gate[e] @ h[t] + gate_b[e], up[e] @ h[t] + up_b[e])
                    y[t] += share[t, e] / total * (down[e] @ inner + down_b[e])
            if p + "ffn_up_shexp.weight" in T:  # with the rows of its gate before its own
                y = y + linear(gated(*np.split(linear(h, p + "ffn_up_shexp"), 2, -1)), p + "ffn_down_shexp")
        else:
            y = linear(gated(linear(h, p + "ffn_gate"), linear(h, p + "ffn_up")), p + "ffn_down")
        x = x + (norm(y, p + "post_ffw_norm.weight") if sandwich else y) * residual

    x = norm(x, "output_norm.weight")
    logits = x @ W("output.weight" if "output.weight" in T else "token_embd.weight").T / key("logit_scale", 1.0)
    cap = key("final_logit_softcapping")
    assert used == set(T), set(T) - used
    return np.tanh(logits / cap) * cap if cap else logits


def main():
    worst = 0.0
    for path in sorted(HERE.glob("*.gguf")):
        info = json.loads(path.with_suffix(".json").read_text())
        expected = np.fromfile(path.with_suffix(".logits.f32"), "<f4").reshape(-1, info.get("width", info["n_vocab"]))
        compute = (plain_encoders.encode if "width" in info else plain_gemma.forward if info["architecture"] in plain_gemma.ARCHITECTURES
                   else plain_sparse.forward if info["architecture"] in plain_sparse.TRAITS
                   else plain_forward.forward if info["architecture"] in plain_forward.TRAITS else forward)
        # Large logits are stored less exactly.
        difference = np.abs(compute(path, info["tokens"]) - expected).max() / max(1.0, info["logits_std"] / 4)
        worst = max(worst, difference)
        print(f"{path.stem:18} {difference:.2e}")
    sys.exit(1 if worst > 2e-6 else 0)


if __name__ == "__main__":
    main()
