"""Gemma 3n and Gemma 4 in plain numpy (float64), from their files alone; see check.py."""

import math

import numpy as np

from plain_forward import Plain, gelu_tanh, softmax

ARCHITECTURES = ("gemma3n", "gemma4")


def root_mean_square(x):
    return np.sqrt((x * x).mean(-1, keepdims=True))


class Gemma(Plain):
    def unit(self, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)

    def normed(self, x, name):
        return self.unit(x) * self.W(name + ".weight")

    def rotated(self, x, windowed):
        """Halves of heads [n, heads, size]."""
        base = self.key("rope.freq_base_swa") if windowed else self.key("rope.freq_base")
        half = x.shape[-1] // 2
        frequencies = base ** (-np.arange(half) / half)
        if not windowed and "rope_freqs.weight" in self.T:
            frequencies = frequencies / self.W("rope_freqs.weight")
        angles = np.arange(self.n)[:, None, None] * frequencies
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)

    def attention(self, x, i):
        windowed = bool(self.key("attention.sliding_window_pattern")[i])
        size = self.key("attention.key_length_swa") if windowed and self.key("attention.key_length_swa") else self.key("attention.key_length")
        p = f"blk.{i}."
        q = self.rotated(self.normed(self.linear(x, p + "attn_q").reshape(self.n, -1, size), p + "attn_q_norm"), windowed)
        if i < self.layers - self.key("attention.shared_kv_layers"):
            k = self.linear(x, p + "attn_k").reshape(self.n, -1, size)
            v = self.linear(x, p + "attn_v").reshape(self.n, -1, size) if p + "attn_v.weight" in self.T else k
            self.stored[windowed] = self.rotated(self.normed(k, p + "attn_k_norm"), windowed), self.unit(v)
        k, v = (np.repeat(a, q.shape[1] // a.shape[1], 1) for a in self.stored[windowed])
        behind = np.arange(self.n)[:, None] - np.arange(self.n)
        seen = (behind >= 0) & ((behind < self.key("attention.sliding_window")) if windowed else True)
        scores = np.where(seen, np.einsum("qhd,khd->hqk", q, k), -np.inf)
        y = np.einsum("hqk,khd->qhd", softmax(scores), v).reshape(self.n, -1)
        return self.normed(self.linear(y, p + "attn_output"), p + "post_attention_norm")

    def dense(self, x, p, i):
        gate = self.linear(x, p + "ffn_gate")
        cutoffs = self.key("activation_sparsity_scale")
        if cutoffs and math.isfinite(cutoffs[i]):
            gate = np.maximum(gate - gate.mean(-1, keepdims=True) - cutoffs[i] * gate.std(-1, keepdims=True), 0)
        return self.linear(gelu_tanh(gate) * self.linear(x, p + "ffn_up"), p + "ffn_down")

    def experts(self, x, p):
        shares = softmax(self.linear(self.unit(x) * self.W(p + "ffn_gate_inp.scale") / math.sqrt(x.shape[-1]), p + "ffn_gate_inp"))
        best = np.argsort(-shares, -1)[:, :self.key("expert_used_count")]
        h, y = self.normed(x, p + "pre_ffw_norm_2"), np.zeros_like(x)
        gate_up, down, factors = self.W(p + "ffn_gate_up_exps.weight"), self.W(p + "ffn_down_exps.weight"), self.W(p + "ffn_down_exps.scale")
        for t in range(self.n):
            for e in best[t]:
                gate, up = np.split(gate_up[e] @ h[t], 2)
                y[t] += shares[t, e] / shares[t, best[t]].sum() * factors[e] * (down[e] @ (gelu_tanh(gate) * up))
        return self.normed(y, p + "post_ffw_norm_2")

    def feed_forward(self, x, p, i):
        y = self.dense(self.normed(x, p + "ffn_norm"), p, i)
        if p + "ffn_gate_inp.weight" in self.T:
            y = self.normed(y, p + "post_ffw_norm_1") + self.experts(x, p)
        return self.normed(y, p + "post_ffw_norm")

    def of_layer(self, x, p, i):
        opened = gelu_tanh(self.linear(x, p + "inp_gate")) * self.inputs[:, i]
        return self.normed(self.linear(opened, p + "proj"), p + "post_norm")

    def layer(self, x, i):
        p = f"blk.{i}."
        h = self.normed(x, p + "attn_norm")
        y = x + self.attention(h, i)
        if p + "laurel_l.weight" in self.T:
            low = h + self.normed(self.linear(self.linear(h, p + "laurel_l"), p + "laurel_r"), p + "laurel_post_norm")
            y = (y + low) / math.sqrt(2)
        return y + self.feed_forward(y, p, i)

    def weights(self, x, p):
        return np.tanh(self.linear(self.normed(x, p + "altup_router_norm") / x.shape[-1], p + "altup_router"))

    def alternate(self, streams, i):
        """A layer of several streams, [streams, n, width]."""
        p, count, active = f"blk.{i}.", len(streams), self.key("altup.active_idx")
        mixed = self.linear(self.weights(streams[active], p), p + "altup_predict_coef").reshape(self.n, count, count)
        predictions = streams + np.einsum("tji,itw->jtw", mixed, streams)
        computed = self.layer(predictions[active], i)
        shares = 1 + self.linear(self.weights(computed, p), p + "altup_correct_coef")
        streams = predictions + shares.T[:, :, None] * (computed - predictions[active])
        part = self.of_layer(streams[active] * self.W(p + "altup_correct_scale.weight"), p, i)
        streams[1:] += part
        return streams

    def as_large(self, name, i, x, size):
        y = x @ self.W(name)[i].T
        return y * size / np.sqrt(np.maximum((y * y).mean(-1, keepdims=True), 1e-5))

    def logits(self):
        self.layers, self.stored = self.key("block_count"), {}
        tokens, width = np.array(self.tokens), self.key("embedding_length")
        x = self.W("token_embd.weight")[tokens] * math.sqrt(width)
        size = self.key("embedding_length_per_layer_input")
        if size:
            table = self.W("per_layer_token_embd.weight")
            own = table[np.where(tokens < len(table), tokens, 0)].reshape(self.n, -1, size) * math.sqrt(size)
            projected = (self.linear(x, "per_layer_model_proj") / math.sqrt(width)).reshape(self.n, -1, size)
            self.inputs = (self.normed(projected, "per_layer_proj_norm") + own) / math.sqrt(2)
        count = self.key("altup.num_inputs", 1)
        if count > 1:
            x = np.stack([x] + [self.as_large("altup_proj.weight", i, x, root_mean_square(x)) for i in range(count - 1)])
        for i in range(self.layers):
            if count > 1:
                x = self.alternate(x, i)
                continue
            x = self.layer(x, i)
            if size:
                x = x + self.of_layer(x, f"blk.{i}.", i)
            if f"blk.{i}.layer_output_scale.weight" in self.T:
                x = x * self.W(f"blk.{i}.layer_output_scale.weight")
        if count > 1:
            large = root_mean_square(x[0])
            x = (x[0] + sum(self.as_large("altup_unembd_proj.weight", i, x[i + 1], large) for i in range(count - 1))) / count
        y = self.normed(x, "output_norm") @ self.W("token_embd.weight").T
        cap = self.key("final_logit_softcapping")
        assert self.used == set(self.T), set(self.T) - self.used
        return np.tanh(y / cap) * cap if cap else y


def forward(path, tokens):
    return Gemma(path, tokens).logits()
