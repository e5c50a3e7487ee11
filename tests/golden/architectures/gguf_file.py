"""A model as a file, as llama.cpp's converter writes it."""

import math

import gguf
import numpy as np

from layouts import permute
from vocabularies import write_tokenizer


def llama3_factors(config):
    s = config.rope_scaling
    d = config.head_dim
    out = []
    for i in range(0, d, 2):
        wave = 2 * math.pi * config.rope_theta ** (i / d)
        turns = s["original_max_position_embeddings"] / wave
        if turns > s["high_freq_factor"]:
            out.append(1.0)
        elif turns < s["low_freq_factor"]:
            out.append(s["factor"])
        else:
            smooth = (turns - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
            out.append(1.0 / ((1.0 - smooth) / s["factor"] + smooth))
    return np.array(out, dtype=np.float32)


def hybrid_tensors(key, a, config):
    """Tensors of a recurrent layer or a shared expert, under names that the map of names knows."""
    if key.endswith("A_log"):
        a = -np.exp(a)
        rounded = a.astype(np.float32).astype(np.float64)
        assert np.allclose(rounded, a, rtol=1e-15, atol=0), key  # fill() took the logarithm of a float32
        a = rounded
    if key.endswith(("A_log", ".D")):
        a = a.reshape(-1, 1)
    if key.endswith("conv1d.weight"):
        a = a.squeeze(1)
    if key.endswith("mamba.norm.weight"):
        a = a.reshape(config.mamba_n_groups, -1)
    a32 = np.ascontiguousarray(a, dtype=np.float32)
    assert np.array_equal(a32.astype(np.float64), a), key
    if "input_linear" in key:
        gate, up = np.split(a32, 2)
        return {key.replace("shared_mlp.input_linear", f"mlp.{which}_proj"): part for which, part in (("gate", gate), ("up", up))}
    return {key.replace("shared_mlp.output_linear", "mlp.down_proj").replace(".dt_bias", ".dt_proj.bias"): a32}


def write_more(path, name, c, model):
    """A model of more_cases.py."""
    config, arch = model.config.get_text_config(), c["arch"]
    w = gguf.GGUFWriter(path, arch)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_block_count(config.num_hidden_layers)
    w.add_context_length(getattr(config, "max_position_embeddings", 2**20) - c.get("unused_positions", 0))
    w.add_embedding_length(config.hidden_size)
    w.add_feed_forward_length(c["config"]["intermediate_size"] if c["feed_forward"] is None else c["feed_forward"])
    w.add_head_count(c["heads"](config) if "heads" in c else config.num_attention_heads)
    if c["kv"]:
        w.add_head_count_kv(config.num_key_value_heads if c["kv"] is True else c["kv"])
    c["keys"](w, config)
    if "parts" in c:
        c["parts"](w, model)
    write_tokenizer(w, arch, config)
    known = {name: known for known, name in gguf.MODEL_ARCH_NAMES.items()}
    # Of an architecture that the package does not know, tensors have the names that those of others have.
    maps = [gguf.get_tensor_name_map(known[name], config.num_hidden_layers) for name in c.get("names", [arch])]
    tensors = {key: p.detach().numpy() for key, p in model.named_parameters()}
    tensors |= {key: b.numpy() for key, b in model.named_buffers() if key.endswith(("e_score_correction_bias", ".expert_bias", "layer_scalar"))}
    for key, a in c.get("made", lambda config: {})(config).items():
        w.add_tensor(key, np.array(a, np.float32))
    for key, a in c["layout"](tensors, config).items():
        out = key if key.startswith("blk.") else next(filter(None, (names.get_name(key, try_suffixes=(".weight", ".bias")) for names in maps)), None)
        assert out, key
        a32 = np.ascontiguousarray(a, dtype=np.float32)
        assert np.allclose(a32.astype(np.float64), a, rtol=1e-15, atol=0), key  # what is stored is what the oracle had
        w.add_tensor(out, a32)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write(path, name, c, model):
    if "keys" in c:
        return write_more(path, name, c, model)
    arch, set_, config = c["arch"], c["config"], model.config
    granite, hybrid = arch.startswith("granite"), arch == "granitehybrid"
    w = gguf.GGUFWriter(path, arch)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_block_count(config.num_hidden_layers)
    w.add_context_length(2**20 if hybrid else config.max_position_embeddings)
    w.add_embedding_length(config.hidden_size)
    each = lambda key: [layer[key] for layer in set_["layers"]] if "layers" in set_ else getattr(config, key)
    heads, kv_heads = each("num_attention_heads"), each("num_key_value_heads")
    w.add_feed_forward_length(each("intermediate_size"))
    w.add_head_count(heads)
    if arch == "bert":
        w.add_layer_norm_eps(config.layer_norm_eps)
        w.add_causal_attention(False)
        w.add_pooling_type(gguf.PoolingType.CLS)
    else:
        w.add_head_count_kv([kv_heads if kind == "attention" else 0 for kind in config.layer_types] if hybrid else kv_heads)
        w.add_layer_norm_rms_eps(config.rms_norm_eps)
    if set_.get("head_dim"):
        w.add_key_length(config.head_dim)
        w.add_value_length(config.head_dim)
    if arch not in ("gemma", "gemma2", "bert"):
        w.add_rope_freq_base(config.rope_theta)
    if arch == "llama" or granite:
        w.add_vocab_size(config.vocab_size)
        w.add_rope_dimension_count(set_.get("head_dim") or config.hidden_size // config.num_attention_heads)
    scaling = set_.get("rope_scaling")
    if scaling and scaling["rope_type"] in ("linear", "yarn"):
        w.add_rope_scaling_type(gguf.RopeScalingType(scaling["rope_type"]))
        w.add_rope_scaling_factor(scaling["factor"])
        if scaling["rope_type"] == "yarn":
            w.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
    if set_.get("sliding_window"):
        w.add_sliding_window(set_["sliding_window"])
    if arch == "gemma2":
        w.add_attn_logit_softcapping(config.attn_logit_softcapping)
        w.add_final_logit_softcapping(config.final_logit_softcapping)
    if set_.get("num_experts_per_tok"):
        w.add_expert_count(set_.get("num_local_experts") or set_["num_experts"])
        w.add_expert_used_count(set_["num_experts_per_tok"])
    if set_.get("moe_intermediate_size"):
        w.add_expert_feed_forward_length(set_["moe_intermediate_size"])
    if arch == "gpt-oss":
        w.add_expert_feed_forward_length(config.intermediate_size)
    if granite:
        w.add_attention_scale(config.attention_multiplier)
        w.add_embedding_scale(config.embedding_multiplier)
        w.add_residual_scale(config.residual_multiplier)
        w.add_logit_scale(config.logits_scaling)
    if hybrid:
        w.add_expert_count(0)
        w.add_expert_used_count(0)
        w.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
        w.add_ssm_conv_kernel(config.mamba_d_conv)
        w.add_ssm_state_size(config.mamba_d_state)
        w.add_ssm_group_count(config.mamba_n_groups)
        w.add_ssm_inner_size(config.mamba_expand * config.hidden_size)
        w.add_ssm_time_step_rank(config.mamba_n_heads)
        w.add_rope_scaling_finetuned(False)

    write_tokenizer(w, arch, config)

    known = {name: known for known, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(known[arch], config.num_hidden_layers)
    tensors, experts = {}, {}
    for key, p in model.named_parameters():
        a = p.detach().numpy()
        if arch.startswith("gemma") and key.endswith("norm.weight"):
            a = a + 1.0
        of_layer = lambda counts: counts[int(key.split(".")[2])] if isinstance(counts, list) else counts
        if (arch in ("llama", "smollm3") or granite) and "q_proj" in key:
            a = permute(a, of_layer(heads))
        if (arch in ("llama", "smollm3") or granite) and "k_proj" in key:
            a = permute(a, of_layer(kv_heads))
        if ".mamba." in key or ".shared_mlp." in key:
            tensors.update(hybrid_tensors(key, a, config))
            continue
        a32 = np.ascontiguousarray(a, dtype=np.float32)
        assert np.array_equal(a32.astype(np.float64), a), key
        if arch == "gpt-oss" and ".experts." in key:
            layer = key.split(".")[2]
            end = "bias" if key.endswith("_bias") else "weight"
            if end == "weight":  # the model multiplies from the other side
                a32 = a32.swapaxes(1, 2)
            parts = {"gate": a32[:, ::2], "up": a32[:, 1::2]} if "gate_up" in key else {"down": a32}
            for which, part in parts.items():
                w.add_tensor(f"blk.{layer}.ffn_{which}_exps.{end}", np.ascontiguousarray(part))
            continue
        if ".experts." in key:
            base, rest = key.split(".experts.")
            index, which, _ = rest.split(".")
            if which in ("w1", "w2", "w3"):
                merged = base.replace("model.", "").replace("block_sparse_moe", "feed_forward") + f".experts.{which}"
            else:
                merged = f"{base}.experts.{which}"
            experts.setdefault(merged, {})[int(index)] = a32
            continue
        tensors[key] = a32
    for key, parts in experts.items():
        tensors[key + ".weight"] = np.stack([parts[i] for i in range(len(parts))])
    if scaling and scaling["rope_type"] == "llama3":
        w.add_tensor("rope_freqs.weight", llama3_factors(config))
    for key, a in tensors.items():
        out = key if key.startswith("blk.") else names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert out, key
        if key.endswith(".sinks"):
            out += ".weight"
        w.add_tensor(out, a)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
