"""How converters lay out the tensors of some models: each function takes the names and arrays of a model and its
configuration, and gives those of the file, still under names that the map of names knows."""

import numpy as np


def plain(tensors, config):
    return tensors


def permute(w, heads):
    """HF rotates halves of a head, GGUF's llama rotates adjacent pairs: interleave the rows of each head."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def permuted(tensors, config):
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    return {key: next((permute(a, n) for part, n in heads.items() if part in key), a) for key, a in tensors.items()}


def stacked(tensors, config):
    """The tensors of experts, where each has its own, become one; that of a row is a vector."""
    out, experts = {}, {}
    for key, a in tensors.items():
        if ".experts." in key and key.split(".experts.")[1][0].isdigit():
            base, rest = key.split(".experts.")
            index, end = rest.split(".", 1)
            experts.setdefault(f"{base}.experts.{end}", {})[int(index)] = a
        else:
            out[key] = a[0] if key.endswith("shared_expert_gate.weight") else a
    return out | {key: np.stack([parts[i] for i in range(len(parts))]) for key, parts in experts.items()}


def hunyuan(tensors, config):
    return stacked(tensors, config)


def selecting(tensors, config):
    """Experts, and the bias that they are chosen with."""
    return {key.replace("e_score_correction_bias", "e_score_correction.bias"): a.reshape(-1) if "e_score_correction" in key else a
            for key, a in stacked(tensors, config).items()}


def granitemoe(tensors, config):
    """One tensor for gate and up becomes two."""
    out = {}
    for key, a in permuted(tensors, config).items():
        layer, shared = key.split(".block_sparse_moe")[0].split(".shared_mlp")[0], ".shared_mlp" in key
        names = ("mlp.shared_mlp.gate_proj", "mlp.shared_mlp.up_proj", "mlp.shared_mlp.down_proj") if shared else (
            "block_sparse_moe.experts.w1", "block_sparse_moe.experts.w3", "block_sparse_moe.experts.w2")
        if key.endswith("input_linear.weight"):
            for name, part in zip(names, np.split(a, 2, axis=-2)):
                out[f"{layer}.{name}.weight"] = np.ascontiguousarray(part)
        elif key.endswith("output_linear.weight"):
            out[f"{layer}.{names[2]}.weight"] = a
        else:
            out[key] = a
    return out


def one_added(tensors, config):
    return {key: a + 1.0 if key.endswith("norm.weight") else a for key, a in tensors.items()}


def transposed(tensors, config):
    products = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    return {key: np.ascontiguousarray(a.T) if key.endswith(products) else a for key, a in tensors.items()}


def neox(tensors, config):
    heads = config.num_attention_heads
    def apart(a):
        return np.ascontiguousarray(a.reshape(heads, 3, -1, *a.shape[1:]).swapaxes(0, 1)).reshape(a.shape)
    return {key: apart(a) if "query_key_value" in key else a for key, a in tensors.items()}


def bloom(tensors, config):
    return {key.removeprefix("transformer."): a for key, a in neox(tensors, config).items()}


def latent(tensors, config):
    """What makes keys and values of their short vector becomes two tensors, a matrix for each head; that of keys is turned."""
    out, unrotated = {}, config.qk_nope_head_dim
    for key, a in selecting(tensors, config).items():
        if "kv_b_proj" not in key:
            out[key] = a
            continue
        heads = a.reshape(config.num_attention_heads, unrotated + config.v_head_dim, config.kv_lora_rank)
        out[key.replace("kv_b_proj", "k_b_proj")] = np.ascontiguousarray(heads[:, :unrotated].swapaxes(1, 2))
        out[key.replace("kv_b_proj", "v_b_proj")] = np.ascontiguousarray(heads[:, unrotated:])
    return out


def llama4(tensors, config):
    """One tensor for gate and up of experts, whose matrices multiply from the other side, becomes two."""
    out = {}
    for key, a in tensors.items():
        if key.endswith("experts.gate_up_proj"):
            for name, part in zip(("gate_proj", "up_proj"), np.split(a.swapaxes(1, 2), 2, axis=1)):
                out[key.replace("gate_up_proj", f"{name}.weight")] = np.ascontiguousarray(part)
        elif key.endswith("experts.down_proj"):
            out[key + ".weight"] = np.ascontiguousarray(a.swapaxes(1, 2))
        else:
            out[key] = a
    return out


def falcon(tensors, config):
    groups, size = config.num_kv_heads, config.hidden_size // config.num_attention_heads
    def apart(a):
        parts = a.reshape(groups, -1, size, a.shape[1])
        return np.concatenate([parts[:, :-2].reshape(-1, a.shape[1]), parts[:, -2].reshape(-1, a.shape[1]),
                               parts[:, -1].reshape(-1, a.shape[1])])
    return {key: apart(a) if "query_key_value" in key else a for key, a in tensors.items()}


def mamba2(tensors, config):
    groups = getattr(config, "n_groups", None) or config.mamba_n_groups
    out = {}
    for key, a in tensors.items():
        if key.endswith("A_log"):
            a = -np.exp(a)
        if key.endswith(("A_log", ".D")):
            a = a.reshape(-1, 1)
        if key.endswith("conv1d.weight"):
            a = a.squeeze(1)
        if key.endswith((".mixer.norm.weight", ".mamba.norm.weight")):
            a = a.reshape(groups, -1)
        out[key.replace(".dt_bias", ".dt_proj.bias")] = a
    return out


def hybrid(tensors, config):
    return granitemoe(mamba2(tensors, config), config)


def roberta(tensors, config):
    """Positions are counted from the one behind that of padding on."""
    return {key: a[config.pad_token_id + 1:] if "position_embeddings" in key else a for key, a in tensors.items()}


def nomic(tensors, config):
    """The names of the model's first release; q, k and v in one tensor."""
    names = {"embeddings.LayerNorm": "emb_ln", "self_attn.o_proj": "attn.out_proj", "post_attention_layernorm": "norm1",
             "mlp.up_proj": "mlp.fc11", "mlp.gate_proj": "mlp.fc12", "mlp.down_proj": "mlp.fc2", "post_mlp_layernorm": "norm2"}
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


def without_function(tensors, config):
    """What the function of a layer is made of is in keys."""
    return {key: a for key, a in tensors.items() if ".act_fn." not in key}


def norms_of_heads(tensors, config):
    """The norms of heads become one tensor."""
    out, heads = {}, {}
    for key, a in tensors.items():
        if ".norms." in key:
            base, number = key.removesuffix(".weight").split(".norms.")
            heads.setdefault(base + ".weight", {})[int(number)] = a
        else:
            out[key] = a
    return out | {key: np.stack([parts[i] for i in range(len(parts))]) for key, parts in heads.items()}


def minimax(tensors, config):
    """Experts as converters name them, and the bias that they are chosen with."""
    out = {}
    for key, a in tensors.items():
        key = key.replace(".mlp.gate.", ".block_sparse_moe.gate.").replace(".mlp.e_score_correction_bias", ".block_sparse_moe.e_score_correction.bias")
        base = key.split(".mlp.experts.")[0] + ".block_sparse_moe.experts."
        if key.endswith("experts.gate_up_proj"):
            gate, up = np.split(a, 2, axis=1)
            out |= {base + "w1.weight": np.ascontiguousarray(gate), base + "w3.weight": np.ascontiguousarray(up)}
        elif key.endswith("experts.down_proj"):
            out[base + "w2.weight"] = a
        else:
            out[key] = a
    return out
