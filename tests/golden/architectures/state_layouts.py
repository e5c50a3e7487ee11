"""How converters lay out the tensors of the models of state_cases.py; see layouts.py."""

import numpy as np

import layouts

def lfm2(tensors, config):
    """A convolution loses a dimension; experts that are one tensor become two."""
    out = {}
    for key, a in tensors.items():
        if key.endswith("conv.conv.weight"):
            a = a.squeeze(1)
        out[key.replace(".expert_bias", ".expert_bias.bias")] = a
    return experts(out, ".feed_forward")


def experts(tensors, part=".mlp"):
    """Gate and up of all experts in one tensor become two."""
    out = {}
    for key, a in tensors.items():
        if key.endswith(".experts.gate_up_proj"):
            gate, up = np.split(a, 2, axis=1)
            out[key.replace("gate_up_proj", "gate_proj").replace(part, ".mlp") + ".weight"] = gate
            out[key.replace("gate_up_proj", "up_proj").replace(part, ".mlp") + ".weight"] = up
        elif key.endswith(".experts.down_proj"):
            out[key.replace(part, ".mlp") + ".weight"] = a
        else:
            out[key] = a
    return out


def nemotron_h(tensors, config):
    renamed = {key.replace("model.", "backbone.", 1): a for key, a in tensors.items()}
    return layouts.mamba2(renamed, config)


def nemotron_h_moe(tensors, config):
    named = {}
    for key, a in nemotron_h(tensors, config).items():
        if ".mixer.experts." in key:  # the converter stacks them under this name
            key = key.replace("backbone.", "model.").replace(".mixer.", ".mlp.") + ".weight"
        named[key.replace("e_score_correction_bias", "e_score_correction.bias")] = a
    return named


def falcon_h1(tensors, config):
    """The factors of the configuration become part of the weights."""
    inner, bc = config.mamba_d_ssm, config.mamba_n_groups * config.mamba_d_state
    parts = np.repeat(config.ssm_multipliers, [inner, inner, bc, bc, config.mamba_n_heads])[:, None]
    factors = {
        "embed_tokens.weight": config.embedding_multiplier, "lm_head.weight": config.lm_head_multiplier,
        "q_proj.weight": config.attention_in_multiplier, "v_proj.weight": config.attention_in_multiplier,
        "k_proj.weight": config.attention_in_multiplier * config.key_multiplier, "o_proj.weight": config.attention_out_multiplier,
        "mamba.in_proj.weight": config.ssm_in_multiplier * parts, "mamba.out_proj.weight": config.ssm_out_multiplier,
        "gate_proj.weight": config.mlp_multipliers[0], "down_proj.weight": config.mlp_multipliers[1]}
    out = {key: a * next((f for end, f in factors.items() if key.endswith(end)), 1.0) for key, a in tensors.items()}
    return layouts.mamba2(out, config)


def mamba(tensors, config):
    out = {}
    for key, a in tensors.items():
        if key.endswith("A_log"):
            a = -np.exp(a)
        out[key] = a.squeeze(1) if key.endswith("conv1d.weight") else a
    return out


def jamba(tensors, config):
    return layouts.stacked(mamba(tensors, config), config)


def delta(tensors, config):
    out = {}
    for key, a in tensors.items():
        if key.endswith("norm.weight") and not key.endswith("linear_attn.norm.weight"):
            a = a + 1.0
        if key.endswith("shared_expert_gate.weight") and a.ndim == 2:
            a = a[0]
        if key.endswith("A_log"):
            a = -np.exp(a)
        out[key.replace(".dt_bias", ".dt_proj.bias")] = a.squeeze(1) if key.endswith("conv1d.weight") else a
    return out


def qwen3next(tensors, config):
    """The rows of each group of keys (queries, keys, values, gates) are put together with those of the others."""
    out, groups = {}, config.linear_num_key_heads
    sizes = [config.linear_key_head_dim] * 2 + [config.linear_num_value_heads // groups * config.linear_value_head_dim] * 2
    for key, a in delta(layouts.stacked(tensors, config), config).items():
        if key.endswith("in_proj_qkvz.weight"):
            parts = np.split(a.reshape(groups, -1, a.shape[1]), np.cumsum(sizes)[:-1], axis=1)
            q, k, v, z = (part.reshape(-1, a.shape[1]) for part in parts)
            out[key.replace("qkvz", "qkv")] = np.concatenate([q, k, v])
            out[key.replace("qkvz", "z")] = z
        else:
            out[key] = a
    return out


def qwen3next_whole(tensors, config):
    """As converters did it at first."""
    return delta(layouts.stacked(tensors, config), config)


def qwen35(tensors, config):
    """Heads of values lie by groups in the model, and in the file first all first ones of each group."""
    groups, heads, size = config.linear_num_key_heads, config.linear_num_value_heads, config.linear_value_head_dim
    keys = 2 * groups * config.linear_key_head_dim

    def interleaved(a, axis, each):
        shape = a.shape
        a = a.reshape(*shape[:axis], groups, heads // groups, each, *shape[axis + 1:])
        return np.ascontiguousarray(a.swapaxes(axis, axis + 1)).reshape(shape)

    out = {}
    for key, a in experts(delta(tensors, config)).items():
        if ".linear_attn." in key:
            if key.endswith(("in_proj_qkv.weight", "conv1d.weight")):
                a = np.concatenate([a[:keys], interleaved(a[keys:], 0, size)])
            elif key.endswith("in_proj_z.weight"):
                a = interleaved(a, 0, size)
            elif key.endswith(("in_proj_b.weight", "in_proj_a.weight", "A_log", "dt_proj.bias")):
                a = interleaved(a, 0, 1)
            elif key.endswith("out_proj.weight"):
                a = interleaved(a, 1, size)
        out[key] = a
    return out
