"""An encoder with experts: ../requirements-5.txt."""

import gguf
import numpy as np
import torch
import transformers as hf

from encoder_cases import encoder, pooled


class Experts(torch.nn.Module):
    """Nussbaum and Duderstadt 2025, arXiv:2502.07972: two of all are chosen by softmax, whose values are not divided by their sum. The
    rows of all are those of one matrix; what they give shares a bias. Parameters have the names that the model's release has."""

    def __init__(self, config):
        super().__init__()
        self.used, width, rows = config.moe_top_k, config.hidden_size, config.num_experts * config.intermediate_size
        self.router = torch.nn.ModuleDict({"layer": torch.nn.Linear(width, config.num_experts, bias=False)})
        self.experts = torch.nn.Module()
        self.experts.mlp = torch.nn.Module()
        for name in ("w1", "w2"):
            setattr(self.experts.mlp, name, torch.nn.Parameter(torch.empty(rows, width)))
        self.experts.bias = torch.nn.Parameter(torch.empty(width))

    def forward(self, x):
        count = self.router.layer.out_features
        up, down = (w.reshape(count, -1, x.shape[-1]) for w in (self.experts.mlp.w1, self.experts.mlp.w2))
        shares = self.router.layer(x).softmax(-1)
        used = shares >= shares.topk(self.used, -1).values[..., -1:]
        inner = torch.nn.functional.gelu(torch.einsum("...w,eiw->...ei", x, up))
        return torch.einsum("...e,...ei,eiw->...w", shares * used, inner, down) + self.experts.bias


class Dense(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc1 = torch.nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = torch.nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        return self.fc2(torch.nn.functional.gelu(self.fc1(x)))


def model(config):
    """transformers has the encoder without experts and biases."""
    made = hf.NomicBertModel(config)
    for i, layer in enumerate(made.layers):
        layer.mlp = Experts(config) if i % config.moe_every_n_layers == 1 else Dense(config)
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(layer.self_attn, name, torch.nn.Linear(config.hidden_size, config.hidden_size))
    return made


def keys(w, c):
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_moe_every_n_layers(c.moe_every_n_layers)
    w.add_expert_count(c.num_experts)
    w.add_expert_used_count(c.moe_top_k)
    pooled(w, gguf.PoolingType.MEAN)


def released(tensors, config):
    """The names of the model's release; q, k and v in one tensor."""
    names = {"embeddings.LayerNorm": "emb_ln", "self_attn.o_proj": "attn.out_proj", "post_attention_layernorm": "norm1", "post_mlp_layernorm": "norm2"}
    out = {}
    for key, a in tensors.items():
        if "self_attn.q_proj" in key:
            a = np.concatenate([tensors[key.replace("q_proj", f"{which}_proj")] for which in "qkv"])
            key = key.replace("self_attn.q_proj", "attn.Wqkv")
        elif "k_proj" in key or "v_proj" in key:
            continue
        for old, new in names.items():
            key = key.replace(old, new)
        out[("encoder." if key.startswith("layers.") else "") + key] = a
    return out


def stacked(tensors, config):
    """A matrix for each expert, that of what leads back turned; the bias that they share is not in files of other converters."""
    out = {}
    for key, a in released(tensors, config).items():
        if key.endswith(("mlp.w1", "mlp.w2")):
            a = a.reshape(config.num_experts, -1, config.hidden_size)
            a = np.ascontiguousarray(a.swapaxes(1, 2)) if key.endswith("w2") else a
            key += ".weight"
        if key.endswith("experts.bias"):
            key = f"blk.{key.split('.')[2]}.ffn_down_exps.bias"
        out[key] = a
    return out


EXPERT_ENCODER_CASES = {
    "nomic-bert-moe": lambda: encoder(
        "nomic-bert-moe", model, hf.NomicBertConfig,
        "nomic-bert with biases, whose feed-forward parts are GELU without a gate; every second layer has experts, of which two are used, whose "
        "shares are not divided by their sum and which share a bias.",
        {"bias of experts": dict(zeroed="experts.bias"), "bias of the dense part": dict(zeroed="fc1.bias"), "bias of q": dict(zeroed="q_proj.bias"),
         "one expert more": dict(moe_top_k=3), "rope base 500": dict(rope_parameters=dict(rope_type="default", rope_theta=500.0))},
        keys, stacked, seed=73300, num_experts=6, moe_top_k=2, moe_every_n_layers=2, rope_parameters=dict(rope_type="default", rope_theta=1000.0))
    | dict(experts_used=2, feed_forward=None),
}
