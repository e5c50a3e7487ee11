"""The models of more_cases.py in plain numpy (float64), from their files alone; see check.py."""

import math

import numpy as np
from gguf import GGUFReader

import state_forward


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def squared(x):
    return np.maximum(x, 0) ** 2


# What no key says. rope: how pairs lie, None without; norms: where ("before", "behind", "around"); heads: norms of queries and keys
# ("each", "together", "rotated"); act: of a feed-forward part without a gate; windowed: of so many layers all but the last;
# added: to the sum that the weights of experts are divided by; ffn_norm: the name of the norm before the feed-forward part; scales: of
# embeddings, the depth that what layers add is scaled by, and the width of logits, where no keys say it; scale: of scores.
HALVES = dict(rope="halves")
ADJACENT = dict(rope="adjacent")
TRAITS = {
    "olmo": ADJACENT, "olmo2": dict(HALVES, norms="behind", heads="together"), "olmoe": dict(HALVES, heads="together", whole=True),
    "qwen2moe": dict(HALVES, whole=True), "granitemoe": ADJACENT, "granitehybrid": ADJACENT, "hunyuan-dense": dict(HALVES, heads="rotated"),
    "hunyuan-moe": dict(HALVES, heads="rotated"), "chatglm": ADJACENT, "glm4": dict(ADJACENT, norms="around"), "phi3": HALVES,
    "phi2": dict(HALVES, act=gelu_tanh, parallel=True), "exaone4": dict(HALVES, norms="behind", heads="each", only_windows=True),
    "arcee": dict(ADJACENT, act=squared), "nemotron": dict(HALVES, act=squared), "starcoder": dict(rope=None, act=gelu_tanh),
    "gpt2": dict(rope=None, act=gelu_tanh), "starcoder2": dict(HALVES, act=gelu_tanh), "stablelm": dict(HALVES, heads="each"),
    "command-r": dict(ADJACENT, heads="each", parallel=True, multiplies=True),
    "cohere2": dict(ADJACENT, parallel=True, multiplies=True, windowed=4, only_windows=True), "gptneox": dict(HALVES, act=gelu),
    "falcon": dict(HALVES, act=gelu, parallel=True, ffn_norm="attn_norm"), "mamba2": dict(rope=None),
    "llama4": dict(ADJACENT, whole=True, windowed=4, only_windows=True),
    "mpt": dict(rope=None, act=gelu), "bloom": dict(rope=None, act=gelu_tanh), "deepseek2": ADJACENT,
    "ernie4_5-moe": ADJACENT, "glm4moe": dict(HALVES, heads="each", ffn_norm="post_attention_norm"), "dots1": dict(HALVES, heads="each"),
    "phimoe": dict(HALVES, layer_norm=True), "apertus": dict(HALVES, heads="each"), "mistral3": ADJACENT, "minimax-m2": dict(HALVES, heads="together"),
    "lfm2": dict(HALVES, heads="each"), "lfm2moe": dict(HALVES, heads="each", added=1e-6), "nemotron_h": dict(rope=None, act=squared),
    "nemotron_h_moe": dict(rope=None, act=squared, scores=2), "falcon-h1": HALVES,
    "mamba": dict(rope=None), "jamba": dict(rope=None, whole=True), "dbrx": dict(HALVES, ffn_norm="attn_output_norm"),
    "minicpm": dict(ADJACENT, scales=(12.0, 1.4, 256)), "minicpm3": dict(HALVES, scales=(12.0, 1.4, 256)), "internlm2": ADJACENT,
    "gptj": dict(ADJACENT, act=gelu_tanh, parallel=True), "xverse": ADJACENT, "baichuan": ADJACENT, "orion": HALVES, "qwen": HALVES,
    "codeshell": dict(HALVES, act=gelu_tanh), "deepseek": dict(ADJACENT, whole=True), "bailingmoe": dict(ADJACENT, whole=False),
    **{name: dict(HALVES, heads="each", ffn_norm="post_attention_norm") for name in ("qwen3next", "qwen35", "qwen35moe")},
    "qwen2vl": HALVES, "qwen3vl": dict(HALVES, heads="each"), "qwen3vlmoe": dict(HALVES, heads="each"), "exaone": HALVES,
    "exaone-moe": dict(HALVES, heads="each", only_windows=True), "jais2": dict(HALVES, act=squared), "bitnet": HALVES,
    "mellum": dict(HALVES, heads="each"), "bailingmoe2": dict(HALVES, heads="each", scores=2),
    "opt": dict(rope=None, act=lambda x: np.maximum(x, 0)), "gptneo": dict(rope=None, act=gelu_tanh, scale=1.0),
}


class Plain:
    def __init__(self, path, tokens, changes):
        file = GGUFReader(path)
        self.meta = {k: f.contents() for k, f in file.fields.items()} | changes
        self.arch = self.meta["general.architecture"]
        self.trait = TRAITS.get(self.arch, {}).get
        self.T = {t.name: np.array(t.data, dtype=np.float64) for t in file.tensors}
        self.used, self.tokens, self.n = set(), tokens, len(tokens)
        self.plain_norm = self.arch == "olmo"
        self.epsilon = self.key("attention.layer_norm_epsilon")
        self.layer_norm = self.epsilon is not None or self.trait("layer_norm", False)
        self.epsilon = self.epsilon or self.key("attention.layer_norm_rms_epsilon")

    def key(self, name, default=None):
        return self.meta.get(f"{self.arch}.{name}", default)

    def W(self, name):
        self.used.add(name)
        return self.T[name]

    def linear(self, x, name):
        y = x @ self.W(name + ".weight").T
        return y + self.W(name + ".bias") if name + ".bias" in self.T else y

    def norm(self, x, name, epsilon=None):
        if self.layer_norm:
            x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + (epsilon or self.epsilon))
        if self.plain_norm:
            return x
        x = x * self.W(name + ".weight" if name + ".weight" in self.T else name)
        return x + self.W(name + ".bias") if name + ".bias" in self.T else x

    def windowed(self, layer):
        pattern, every = self.key("attention.sliding_window_pattern"), self.trait("windowed")
        if pattern is not None:
            return bool(pattern[layer])
        return layer % every < every - 1 if every else True

    def rope(self, x, layer):
        window = self.key("attention.sliding_window")
        if not self.trait("rope") or self.most_slope() is not None or not self.key("rope.scaling.finetuned", True) or self.trait("only_windows") and window and not self.windowed(layer):
            return x
        d = self.key("rope.dimension_count", x.shape[-1])
        i, base = np.arange(d // 2), self.key("rope.freq_base", 10000.0)
        if window and self.windowed(layer):
            base = self.key("rope.freq_base_swa", base)
        freq, scale = base ** (-2.0 * i / d), 1.0
        if self.key("rope.scaling.type") == "yarn" and not (window and self.windowed(layer)):
            length, s = self.key("rope.scaling.original_context_length"), self.key("rope.scaling.factor")
            ends = [d * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (32, 1)]
            low, high = max(0, math.floor(ends[0])), min(d - 1, math.ceil(ends[1]))
            ramp = np.clip((i - low) / max(high - low, 0.001), 0, 1)
            freq = freq * ((1 - ramp) + ramp / s)
            scale = (0.1 * math.log(s) + 1) / (0.1 * self.key("rope.scaling.yarn_log_multiplier", 0.0) * math.log(s) + 1)
            scale = 1.0 if self.key("attention.kv_lora_rank") and self.arch != "minicpm3" else scale
        if "rope_factors_long.weight" in self.T:
            factors = [self.W(f"rope_factors_{which}.weight") for which in ("short", "long")]
            freq = freq / factors[self.n > self.key("rope.scaling.original_context_length")]
            scale = self.key("rope.scaling.attn_factor", 1.0)
        if "rope_freqs.weight" in self.T:
            freq = freq / self.W("rope_freqs.weight")
        angle = np.arange(self.n)[:, None] * freq
        cos, sin = np.cos(angle)[:, None] * scale, np.sin(angle)[:, None] * scale
        a, b = (np.s_[..., 0:d:2], np.s_[..., 1:d:2]) if self.trait("rope") == "adjacent" else (np.s_[..., :d // 2], np.s_[..., d // 2:d])
        out = x.copy()
        out[a], out[b] = x[a] * cos - x[b] * sin, x[b] * cos + x[a] * sin
        return out

    def attention(self, h, p, layer):
        n, heads = self.n, self.key("attention.head_count")
        kv_heads = self.key("attention.head_count_kv", heads)
        kv_heads = kv_heads[layer] if isinstance(kv_heads, list) else kv_heads
        d = self.key("attention.key_length", self.key("embedding_length") // heads)
        if self.key("attention.kv_lora_rank"):  # latent
            return self.latent_attention(h, p, layer)
        if p + "attn_qkv.weight" in self.T:
            limit = self.key("attention.clamp_kqv", np.inf)
            q, k, v = np.split(self.linear(h, p + "attn_qkv").clip(-limit, limit), [heads * d, (heads + kv_heads) * d], -1)
        else:
            q, k, v = (self.linear(h, p + "attn_" + which) for which in "qkv")
        if self.key("attention.clamp_kqv"):
            q, k, v = (np.clip(x, -self.key("attention.clamp_kqv"), self.key("attention.clamp_kqv")) for x in (q, k, v))
        if self.key("attention.temperature_scale") and self.arch == "mistral3":
            steps = np.arange(n) // self.key("rope.scaling.original_context_length")
            q = q * (1 + self.key("attention.temperature_scale") * np.log(1 + steps))[:, None]
        if q.shape[1] == 2 * heads * d:  # for each head its queries, then a gate
            q, gate = np.split(q.reshape(n, heads, 2 * d), 2, -1)
        else:
            gate = None
        how = self.trait("heads")
        normed = lambda q, k: (self.norm(q, p + "attn_q_norm"), self.norm(k, p + "attn_k_norm"))
        if how == "together":
            q, k = normed(q, k)
        q, k, v = q.reshape(n, heads, d), k.reshape(n, kv_heads, d), v.reshape(n, kv_heads, d)
        if how == "each" and p + "attn_q_norm.weight" in self.T:
            q, k = normed(q, k)
        q, k = self.rope(q, layer), self.rope(k, layer)
        if how == "rotated":
            q, k = normed(q, k)
        if self.arch == "llama4" and self.windowed(layer):
            q, k = (x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) for x in (q, k))
        elif self.arch == "llama4":
            lengths = (np.arange(n) + 1) // self.key("attention.temperature_length")
            q = q * (1 + self.key("attention.temperature_scale") * np.log(1 + lengths))[:, None, None]
        k, v = np.repeat(k, heads // kv_heads, 1), np.repeat(v, heads // kv_heads, 1)
        score = np.einsum("ihd,jhd->hij", q, k) * self.key("attention.scale", self.trait("scale", 1 / math.sqrt(d)))
        distance = np.arange(n)[:, None] - np.arange(n)[None]
        score -= self.slopes(heads)[:, None, None] * distance
        seen = distance >= 0
        if self.arch == "llama4" and self.windowed(layer):
            chunk = np.arange(n) // self.key("attention.sliding_window")
            seen &= chunk[:, None] == chunk[None]
        elif self.key("attention.sliding_window") and self.windowed(layer):
            seen &= distance < self.key("attention.sliding_window")
        share = softmax(np.where(seen, score, -np.inf))
        y = np.einsum("hij,jhd->ihd", share, v)
        y = y if gate is None else y * state_forward.sigmoid(gate)
        y = y.reshape(n, heads * d)
        if p + "attn_sub_norm.weight" in self.T:
            y = self.norm(y, p + "attn_sub_norm")
        return self.linear(y, p + "attn_output")

    def most_slope(self):
        implied = self.arch == "bloom" or self.arch == "baichuan" and self.key("block_count") == 40
        return self.key("attention.max_alibi_bias", 8.0 if implied else None)

    def slopes(self, heads):
        most = self.most_slope()
        if most is None:
            return np.zeros(heads)
        n = 2 ** int(math.log2(heads))
        odd = np.arange(1, 2 * n, 2) / (2 * n)
        scale = math.sqrt(heads / self.key("embedding_length")) if self.arch == "falcon" else 1.0  # as that of scores
        return scale * 2.0 ** (-most * np.concatenate([np.arange(1, n + 1) / n, odd])[:heads])

    def latent_attention(self, h, p, layer):
        n, heads, rank, rotated = self.n, self.key("attention.head_count"), self.key("attention.kv_lora_rank"), self.key("rope.dimension_count")
        length, size = (self.key(f"attention.{which}_length_mla", self.key(f"attention.{which}_length")) for which in ("key", "value"))
        if self.key("attention.q_lora_rank"):
            h_q, name = self.norm(self.linear(h, p + "attn_q_a"), p + "attn_q_a_norm", 1e-6), "attn_q_b"
        else:
            h_q, name = h, "attn_q"
        q_plain, q = np.split(self.linear(h_q, p + name).reshape(n, heads, length), [length - rotated], -1)
        short, k = np.split(self.linear(h, p + "attn_kv_a_mqa"), [rank], -1)
        short = self.norm(short, p + "attn_kv_a_norm", 1e-6)
        if p + "attn_kv_b.weight" in self.T:
            both = self.W(p + "attn_kv_b.weight").reshape(heads, -1, rank)
            key_up, value_up = both[:, :length - rotated], both[:, length - rotated:]
        else:
            key_up, value_up = self.W(p + "attn_k_b.weight").swapaxes(1, 2), self.W(p + "attn_v_b.weight")
        q, k = self.rope(q, layer), self.rope(k[:, None], layer)[:, 0]
        score = np.einsum("ihd,jr,hdr->hij", q_plain, short, key_up) + np.einsum("ihd,jd->hij", q, k)
        score *= (1 + self.key("rope.scaling.yarn_log_multiplier", 0.0) * math.log(self.key("rope.scaling.factor", 1.0))) ** 2 / math.sqrt(length)
        share = softmax(np.where(np.tril(np.ones((n, n), bool)), score, -np.inf))
        y = np.einsum("hij,jr,hvr->ihv", share, short, value_up)
        return self.linear(y.reshape(n, heads * size), p + "attn_output")

    def mixed(self, h, p, layer):
        has = lambda name: p + name in self.T
        y = 0.0
        if has("attn_q.weight") or has("attn_kv_a_mqa.weight") or has("attn_qkv.weight") and not has("ssm_a"):
            y = y + self.attention(h, p, layer)
        if has("shortconv.in_proj.weight"):
            y = y + state_forward.short_conv(self, h, p)
        elif self.arch.startswith("qwen3") and has("ssm_a"):
            y = y + state_forward.delta(self, h, p)
        elif has("ssm_x.weight"):
            y = y + state_forward.mamba(self, h, p)
        elif has("ssm_in.weight"):
            y = y + state_forward.mamba2(self, h, p)
        return y

    def xielu(self, x, layer):
        softplus = lambda which: np.log1p(np.exp(self.meta[f"xielu.alpha_{which}"][layer]))
        beta, epsilon = self.meta["xielu.beta"][layer], self.meta["xielu.eps"][layer]
        return beta * x + np.where(x > 0, softplus("p") * x * x, (beta + softplus("n")) * (np.expm1(np.minimum(x, epsilon)) - x))

    def gated(self, h, p, end=""):
        if self.arch == "apertus":
            return self.linear(self.xielu(self.linear(h, p + "ffn_up"), int(p.split(".")[1])), p + "ffn_down")
        if self.trait("act"):
            act = gelu if self.key("hidden_activation") == "gelu" else self.trait("act")
            return self.linear(act(self.linear(h, p + "ffn_up")), p + "ffn_down")
        up = self.linear(h, p + "ffn_up" + end)
        gate, up = (self.linear(h, p + "ffn_gate" + end), up) if p + f"ffn_gate{end}.weight" in self.T else np.split(up, 2, -1)
        y = (squared if self.key("hidden_activation") == "relu2" else silu)(gate) * up
        if p + "ffn_sub_norm.weight" in self.T:
            y = self.norm(y, p + "ffn_sub_norm")
        return self.linear(y, p + "ffn_down" + end)

    def shares(self, h, p):
        """Of all experts; 0 where one is not chosen."""
        logits, used = self.linear(h, p + "ffn_gate_inp"), self.key("expert_used_count")
        if self.arch == "phimoe":
            return self.one_by_one(logits, used)
        biased = self.arch == "deepseek2" and p + "exp_probs_b.bias" in self.T
        sigmoids = self.key("expert_gating_func", 2 if biased else self.trait("scores", 1)) == 2
        share = 1 / (1 + np.exp(-logits)) if sigmoids else softmax(logits)
        bias = next((name for name in (p + "exp_probs_b.bias", p + "exp_probs_b") if name in self.T), None)
        order = share + self.W(bias) if bias else share
        groups = self.key("expert_group_count", 1)
        if groups > 1:  # those of the groups whose best two together, or whose best one, are most
            grouped = order.reshape(self.n, groups, -1)
            counted = 2 if sigmoids else 1
            best = np.argsort(-np.sort(grouped, -1)[..., -counted:].sum(-1), -1)[:, :self.key("expert_group_used_count")]
            mask = np.zeros((self.n, groups), bool)
            np.put_along_axis(mask, best, True, -1)
            order = np.where(mask[..., None], grouped, -np.inf).reshape(order.shape)
        best = np.argsort(-order, -1)[:, :used]
        kept = np.zeros_like(share)
        np.put_along_axis(kept, best, np.take_along_axis(share, best, -1), -1)
        if not self.trait("whole") and self.key("expert_weights_norm", self.arch != "deepseek2"):
            kept = kept / (kept.sum(-1, keepdims=True) + self.trait("added", 0.0))
        return kept * self.key("expert_weights_scale", 1.0)

    def one_by_one(self, logits, used):
        """One after another, each by its share of those left that are near."""
        out, left = np.zeros_like(logits), np.ones(logits.shape, bool)
        rows = np.arange(self.n)
        for _ in range(used):
            best = np.argmax(np.where(left, logits, -np.inf), -1)
            most = logits[rows, best][:, None]
            near = left & ((most - logits) / np.maximum(np.abs(logits), most) <= 0.02)
            out[rows, best] = 1 / np.where(near, np.exp(logits - most), 0).sum(-1)
            left[rows, best] = False
        return out

    def experts(self, h, p):
        if self.arch == "nemotron_h_moe":  # no gate; what experts read and give is shorter than a row
            up, down = (self.W(p + f"ffn_{which}_exps.weight") for which in ("up", "down"))
            inner = squared(np.einsum("ti,esi->tes", self.linear(h, p + "ffn_latent_down"), up))
            y = np.einsum("tes,eos,te->to", inner, down, self.shares(h, p))
            return self.linear(y, p + "ffn_latent_up") + self.linear(squared(self.linear(h, p + "ffn_up_shexp")), p + "ffn_down_shexp")
        gate, up, down = (self.W(p + f"ffn_{which}_exps.weight") for which in ("gate", "up", "down"))
        if self.arch == "llama4":  # the input is multiplied, not the result
            logits = self.linear(h, p + "ffn_gate_inp")
            best = logits.argmax(-1)
            given = h / (1 + np.exp(-logits[np.arange(self.n), best]))[:, None]
            inner = silu(np.einsum("ti,tsi->ts", given, gate[best])) * np.einsum("ti,tsi->ts", given, up[best])
            y = np.einsum("ts,tos->to", inner, down[best])
        else:
            inner = silu(np.einsum("ti,esi->tes", h, gate)) * np.einsum("ti,esi->tes", h, up)
            y = np.einsum("tes,eos,te->to", inner, down, self.shares(h, p))
        if p + "ffn_up_shexp.weight" in self.T:
            shared = self.gated(h, p, "_shexp")
            if p + "ffn_gate_inp_shexp.weight" in self.T:
                shared = shared / (1 + np.exp(-h @ self.W(p + "ffn_gate_inp_shexp.weight")))[:, None]
            y = y + shared
        return y

    def layer(self, x, layer):
        p = f"blk.{layer}."
        if self.arch in ("mamba", "mamba2"):
            return x + self.mixed(self.norm(x, p + "attn_norm"), p, layer)
        if self.arch in ("nemotron_h", "nemotron_h_moe"):  # one part
            h = self.norm(x, p + "attn_norm")
            if p + "ffn_gate_inp.weight" in self.T:
                return x + self.experts(h, p)
            return x + (self.gated(h, p) if p + "ffn_up.weight" in self.T else self.mixed(h, p, layer))
        before, behind = self.trait("norms", "before") != "behind", self.trait("norms", "before") != "before"
        scale = self.key("residual_scale", self.scales()[1])
        feed_forward = lambda h: self.experts(h, p) if p + "ffn_gate_inp.weight" in self.T else self.gated(h, p)
        own = p + "attn_norm_2" if p + "attn_norm_2.weight" in self.T else p + "attn_norm"
        h = self.norm(x, own) if before else x
        y = self.mixed(h, p, layer)
        if self.key("use_parallel_residual", self.trait("parallel", False)):
            second = p + ("attn_norm" if self.arch == "falcon" else "ffn_norm")
            return x + y + feed_forward(self.norm(x, second) if second + ".weight" in self.T else h)
        x = x + (self.norm(y, p + "post_attention_norm") if behind else y) * scale
        y = feed_forward(self.norm(x, p + self.trait("ffn_norm", "ffn_norm")) if before else x)
        return x + (self.norm(y, p + "post_ffw_norm") if behind else y) * scale

    def scales(self):
        """What no key says: of embeddings, of what layers add, of logits."""
        embedding, depth, width = self.trait("scales", (1.0, None, self.key("embedding_length")))
        return embedding, depth / math.sqrt(self.key("block_count")) if depth else 1.0, self.key("embedding_length") / width

    def run(self):
        x = self.W("token_embd.weight")[self.tokens] * self.key("embedding_scale", self.scales()[0])
        if "position_embd.weight" in self.T:
            x = x + self.W("position_embd.weight")[:self.n]
        if "token_embd_norm.weight" in self.T:
            x = self.norm(x, "token_embd_norm")
        for layer in range(self.key("block_count")):
            x = self.layer(x, layer)
        logits = self.linear(self.norm(x, "output_norm" if "output_norm.weight" in self.T else "token_embd_norm"), "output" if "output.weight" in self.T else "token_embd")
        scale = self.key("logit_scale", self.scales()[2])
        assert self.used == set(self.T), set(self.T) - self.used
        return logits * scale if self.trait("multiplies") else logits / scale


def forward(path, tokens, changes={}):
    """`changes`: of metadata."""
    return Plain(path, tokens, changes).run()
