"""Models that transformers has no class for, as their published folders hold them: names of tensors, their shapes, config.json. The numbers
are those of plain_forward.py and plain_encoders.py, which follow the papers and cards, beside those of llama.cpp; see make_plain.py."""

import math

import gguf
import numpy as np

import layouts
from vocabularies import N_VOCAB

WIDTH, INNER, HEADS, GROUPS = 32, 48, 4, 2
SIZE = WIDTH // HEADS
COMMON = dict(hidden_size=WIDTH, intermediate_size=INNER, num_hidden_layers=2, num_attention_heads=HEADS, num_key_value_heads=GROUPS,
              max_position_embeddings=2048, vocab_size=N_VOCAB, rms_norm_eps=1e-5, rope_theta=10000.0, hidden_act="silu",
              bos_token_id=1, eos_token_id=2, tie_word_embeddings=False)


def case(arch, model_type, note, shapes, keys, layout=layouts.plain, without={}, kv=True, seed=0, **config):
    """`shapes(config)`: of all tensors of the folder; `keys(writer, config)`: those that are not common; `layout`: makes of the folder's tensors
    those of the file; `without`: changes of the file's metadata that must change the numbers; `kv`: head_count_kv is written."""
    return dict(arch=arch, note=note, shapes=shapes, keys=keys, layout=layout, without=without, kv=kv, seed=seed,
                config={**COMMON, "model_type": model_type, **config})


def llama(c):
    width, inner = c["hidden_size"], c["intermediate_size"]
    groups = c["num_key_value_heads"] * (width // c["num_attention_heads"])
    out = {"model.embed_tokens.weight": (N_VOCAB, width), "model.norm.weight": (width,)}
    if not c["tie_word_embeddings"]:
        out["lm_head.weight"] = (N_VOCAB, width)
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        out |= {p + "input_layernorm.weight": (width,), p + "post_attention_layernorm.weight": (width,),
                p + "self_attn.q_proj.weight": (width, width), p + "self_attn.k_proj.weight": (groups, width),
                p + "self_attn.v_proj.weight": (groups, width), p + "self_attn.o_proj.weight": (width, width),
                p + "mlp.gate_proj.weight": (inner, width), p + "mlp.up_proj.weight": (inner, width), p + "mlp.down_proj.weight": (width, inner)}
    return out


def rms(w, c):
    w.add_layer_norm_rms_eps(c["rms_norm_eps"])
    w.add_rope_freq_base(c["rope_theta"])


def paired(tensors, c):
    heads = {"q_proj": HEADS, "k_proj": c["num_key_value_heads"]}
    return {key: next((layouts.permute(a, n) for part, n in heads.items() if part in key), a) for key, a in tensors.items()}


def minicpm_factors(w, c):
    w.add_embedding_scale(c["scale_emb"])
    w.add_residual_scale(c["scale_depth"] / math.sqrt(c["num_hidden_layers"]))
    w.add_logit_scale(WIDTH / c["dim_model_base"])


def minicpm_long(w, c):
    rms(w, c)
    minicpm_factors(w, c)
    rope = c["rope_scaling"]
    original = rope["original_max_position_embeddings"]
    w.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
    w.add_rope_scaling_orig_ctx_len(original)
    w.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(c["max_position_embeddings"] / original) / math.log(original)))


def with_factors(tensors, c):
    return paired(tensors, c) | {f"rope_factors_{which}.weight": np.array(c["rope_scaling"][f"{which}_factor"]) for which in ("short", "long")}


def internlm2(c):
    out = {"model.tok_embeddings.weight": (N_VOCAB, WIDTH), "model.norm.weight": (WIDTH,), "output.weight": (N_VOCAB, WIDTH)}
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        out |= {p + "attention_norm.weight": (WIDTH,), p + "ffn_norm.weight": (WIDTH,),
                p + "attention.wqkv.weight": (WIDTH + 2 * GROUPS * SIZE, WIDTH), p + "attention.wo.weight": (WIDTH, WIDTH),
                p + "feed_forward.w1.weight": (INNER, WIDTH), p + "feed_forward.w3.weight": (INNER, WIDTH),
                p + "feed_forward.w2.weight": (WIDTH, INNER)}
    return out


def internlm2_layout(tensors, c):
    out = {}
    for key, a in tensors.items():
        if "wqkv" not in key:
            out[key] = a
            continue
        of_group = a.reshape(GROUPS, HEADS // GROUPS + 2, SIZE, WIDTH)
        q, k, v = of_group[:, :-2], of_group[:, -2], of_group[:, -1]
        layer = key.split(".attention.")[0]
        out[layer + ".attention.wq.weight"] = layouts.permute(q.reshape(-1, WIDTH), HEADS)
        out[layer + ".attention.wk.weight"] = layouts.permute(k.reshape(-1, WIDTH), GROUPS)
        out[layer + ".attention.wv.weight"] = v.reshape(-1, WIDTH)
    return out


def jina(c):
    norm = lambda name: {name + ".weight": (WIDTH,), name + ".bias": (WIDTH,)}
    product = lambda name, rows, columns: {name + ".weight": (rows, columns), name + ".bias": (rows,)}
    out = {"embeddings.word_embeddings.weight": (N_VOCAB, WIDTH), "embeddings.token_type_embeddings.weight": (2, WIDTH), **norm("embeddings.LayerNorm")}
    for i in range(c["num_hidden_layers"]):
        p = f"encoder.layer.{i}."
        for which in ("query", "key", "value"):
            out |= product(p + f"attention.self.{which}", WIDTH, WIDTH)
        out |= product(p + "attention.output.dense", WIDTH, WIDTH) | norm(p + "attention.output.LayerNorm") | norm(p + "mlp.layernorm")
        out |= {p + "mlp.gated_layers.weight": (2 * INNER, WIDTH)} | product(p + "mlp.wo", WIDTH, INNER)
    return out


def jina_keys(w, c):
    w.add_layer_norm_eps(c["layer_norm_eps"])
    w.add_causal_attention(False)
    w.add_pooling_type(gguf.PoolingType.MEAN)
    w.add_token_type_count(2)


def jina_apart(tensors, c):
    """As older files are."""
    out = {}
    for key, a in tensors.items():
        if "gated_layers" in key:
            for end, part in zip("wv", np.split(a, 2)):
                out[key.replace("gated_layers", f"gated_layers_{end}")] = part
        else:
            out[key] = a
    return out


JINA = dict(num_key_value_heads=None, layer_norm_eps=1e-12, hidden_act="gelu", position_embedding_type="alibi", feed_forward_type="geglu",
            type_vocab_size=2)
JINA_NOTE = ("bert without positions: the score of two rows loses slope times the distance between them, to both sides; a gate, whose rows are the "
             "first half of ffn_up, with GELU (erf), and no biases of it. llama.cpp has GELU (tanh) from a table of F16.")


def deepseek(c):
    out = {key: shape for key, shape in llama(c).items() if ".mlp." not in key or ".layers.0." in key}
    for i in range(1, c["num_hidden_layers"]):
        p = f"model.layers.{i}.mlp."
        size, shared = c["moe_intermediate_size"], c["moe_intermediate_size"] * c["n_shared_experts"]
        out |= {p + "gate.weight": (c["n_routed_experts"], WIDTH)}
        for name, inner in [(f"experts.{e}", size) for e in range(c["n_routed_experts"])] + [("shared_experts", shared)]:
            out |= {p + f"{name}.gate_proj.weight": (inner, WIDTH), p + f"{name}.up_proj.weight": (inner, WIDTH),
                    p + f"{name}.down_proj.weight": (WIDTH, inner)}
    return out


def deepseek_keys(w, c):
    rms(w, c)
    w.add_vocab_size(N_VOCAB)
    w.add_rope_dimension_count(SIZE)
    w.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    w.add_leading_dense_block_count(c["first_k_dense_replace"])
    w.add_expert_feed_forward_length(c["moe_intermediate_size"])
    w.add_expert_weights_scale(1.0)
    w.add_expert_count(c["n_routed_experts"])
    w.add_expert_used_count(c["num_experts_per_tok"])
    w.add_expert_shared_count(c["n_shared_experts"])


def deepseek_layout(tensors, c):
    return layouts.stacked(paired(tensors, c), c)


def bailing(c):
    out = {"model.word_embeddings.weight": (N_VOCAB, WIDTH), "model.norm.weight": (WIDTH,), "lm_head.weight": (N_VOCAB, WIDTH)}
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        out |= {p + "input_layernorm.weight": (WIDTH,), p + "post_attention_layernorm.weight": (WIDTH,),
                p + "attention.query_key_value.weight": (WIDTH + 2 * GROUPS * SIZE, WIDTH), p + "attention.dense.weight": (WIDTH, WIDTH),
                p + "mlp.gate.weight": (c["num_experts"], WIDTH)}
        size, shared = c["moe_intermediate_size"], c["moe_intermediate_size"] * c["num_shared_experts"]
        for name, inner in [(f"experts.{e}", size) for e in range(c["num_experts"])] + [("shared_experts", shared)]:
            out |= {p + f"mlp.{name}.gate_proj.weight": (inner, WIDTH), p + f"mlp.{name}.up_proj.weight": (inner, WIDTH),
                    p + f"mlp.{name}.down_proj.weight": (WIDTH, inner)}
    return out


def bailing_keys(w, c):
    rms(w, c)
    w.add_vocab_size(N_VOCAB)
    w.add_rope_dimension_count(SIZE)
    w.add_leading_dense_block_count(c["first_k_dense_replace"])
    w.add_expert_feed_forward_length(c["moe_intermediate_size"])
    w.add_expert_weights_scale(1.0)
    w.add_expert_count(c["num_experts"])
    w.add_expert_used_count(c["num_experts_per_tok"])
    w.add_expert_shared_count(c["num_shared_experts"])
    w.add_expert_weights_norm(c["norm_topk_prob"])


def bailing_layout(tensors, c):
    out = {}
    for key, a in layouts.stacked(tensors, c).items():
        layer = key.split(".attention.")[0]
        if "query_key_value" in key:
            q, k, v = np.split(a, [WIDTH, WIDTH + GROUPS * SIZE])
            out |= {layer + ".self_attn.q_proj.weight": layouts.permute(q, HEADS), layer + ".self_attn.k_proj.weight": layouts.permute(k, GROUPS),
                    layer + ".self_attn.v_proj.weight": v}
        elif "attention.dense" in key:
            out[layer + ".self_attn.o_proj.weight"] = a
        else:
            out[key] = a
    return out


def baichuan(c):
    """Queries, keys and values are one tensor."""
    out = {}
    for key, shape in llama(c).items():
        if "q_proj" in key:
            out[key.replace("q_proj", "W_pack")] = (3 * shape[0], shape[1])
        elif "k_proj" not in key and "v_proj" not in key:
            out[key] = shape
    return out


def baichuan_keys(w, c):
    w.add_layer_norm_rms_eps(c["rms_norm_eps"])
    w.add_tensor_data_layout("Meta AI original pth")
    w.add_rope_dimension_count(c["hidden_size"] // c["num_attention_heads"])


def baichuan_layout(tensors, c):
    out = {}
    for key, a in tensors.items():
        if "W_pack" in key:
            q, k, v = np.split(a, 3)
            heads = c["num_attention_heads"]
            for which, part in (("q", layouts.permute(q, heads)), ("k", layouts.permute(k, heads)), ("v", v)):
                out[key.replace("W_pack", f"{which}_proj")] = part
        else:
            out[key] = a
    return out


def orion(c):
    """Its norms have biases."""
    shapes = llama(c)
    return shapes | {key.replace("weight", "bias"): shape for key, shape in shapes.items() if "norm" in key}


def orion_keys(w, c):
    w.add_layer_norm_eps(c["rms_norm_eps"])  # as it is called there


def qwen(c):
    out = {"transformer.wte.weight": (N_VOCAB, WIDTH), "transformer.ln_f.weight": (WIDTH,), "lm_head.weight": (N_VOCAB, WIDTH)}
    for i in range(c["num_hidden_layers"]):
        p = f"transformer.h.{i}."
        half = c["intermediate_size"] // 2
        out |= {p + "ln_1.weight": (WIDTH,), p + "ln_2.weight": (WIDTH,), p + "attn.c_attn.weight": (3 * WIDTH, WIDTH),
                p + "attn.c_attn.bias": (3 * WIDTH,), p + "attn.c_proj.weight": (WIDTH, WIDTH), p + "mlp.w1.weight": (half, WIDTH),
                p + "mlp.w2.weight": (half, WIDTH), p + "mlp.c_proj.weight": (WIDTH, half)}
    return out


def qwen_keys(w, c):
    w.add_layer_norm_rms_eps(c["layer_norm_epsilon"])
    w.add_rope_freq_base(c["rotary_emb_base"])
    w.add_rope_dimension_count(SIZE)


def codeshell(c):
    norm = lambda name: {name + ".weight": (WIDTH,), name + ".bias": (WIDTH,)}
    product = lambda name, rows, columns: {name + ".weight": (rows, columns), name + ".bias": (rows,)}
    out = {"transformer.wte.weight": (N_VOCAB, WIDTH), "lm_head.weight": (N_VOCAB, WIDTH), **norm("transformer.ln_f")}
    for i in range(c["num_hidden_layers"]):
        p = f"transformer.h.{i}."
        out |= norm(p + "ln_1") | norm(p + "ln_2") | product(p + "attn.c_attn", WIDTH + 2 * GROUPS * SIZE, WIDTH)
        out |= product(p + "attn.c_proj", WIDTH, WIDTH) | product(p + "mlp.c_fc", 4 * WIDTH, WIDTH) | product(p + "mlp.c_proj", WIDTH, 4 * WIDTH)
    return out


def codeshell_keys(w, c):
    w.add_layer_norm_eps(c["layer_norm_epsilon"])
    w.add_rope_freq_base(10000.0)
    w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    w.add_rope_scaling_factor(1.0)


MINICPM = dict(scale_emb=6, scale_depth=1.2, dim_model_base=16, tie_word_embeddings=True)
ROPE = dict(rope_type="longrope", original_max_position_embeddings=16, short_factor=[1.0, 1.1, 1.25, 1.5], long_factor=[1.5, 3.0, 5.0, 8.0])

NARROW = dict(hidden_size=12, intermediate_size=16, num_attention_heads=3, num_key_value_heads=3, rms_norm_eps=1e-6)

PLAIN_CASES = {
    "minicpm": lambda: case(
        "minicpm", "minicpm", "llama with three scales: embeddings times 6, what layers add times 1.2 / sqrt(2), logits divided by 32 / 16.",
        llama, lambda w, c: (rms(w, c), minicpm_factors(w, c)), paired,
        {"scale of embeddings": dict(embedding_scale=5.0), "depth": dict(residual_scale=1.0), "width of logits": dict(logit_scale=1.0),
         "rope base 500": {"rope.freq_base": 500.0}}, seed=74000, **MINICPM),
    "minicpm-old": lambda: case(
        "minicpm", "minicpm", "A file without keys for the scales, which are those of the first models: 12, 1.4 / sqrt(2), and logits times 256 / 32. "
        "llama.cpp multiplies such logits by 32 / 256 in place of dividing by it; the numbers are compared up to that.",
        llama, rms, paired, {"scale of embeddings": dict(embedding_scale=6.0), "depth": dict(residual_scale=1.0), "width of logits": dict(logit_scale=1.0)},
        seed=74100, scale_emb=12, scale_depth=1.4, dim_model_base=256, tie_word_embeddings=True),
    "minicpm-long": lambda: case(
        "minicpm", "minicpm", "minicpm with frequencies for contexts longer than 16.", llama, minicpm_long, with_factors,
        {"scale of rope": {"rope.scaling.attn_factor": 1.0}, "short factors": {"rope.scaling.original_context_length": 64}}, seed=74200,
        rope_scaling=ROPE, **MINICPM),
    "internlm2": lambda: case(
        "internlm2", "internlm2", "llama; the folder has for each group of heads the rows of its queries, keys and values in turn, in one tensor.",
        internlm2, rms, internlm2_layout, {"rope base 500": {"rope.freq_base": 500.0}, "epsilon 0.1": {"attention.layer_norm_rms_epsilon": 0.1}},
        seed=74300, bias=False, rope_scaling=dict(type="dynamic", factor=2.0)),
    "jina-bert-v2": lambda: case("jina-bert-v2", "bert", JINA_NOTE, jina, jina_keys, layouts.plain,
                                 {"slopes": {"attention.max_alibi_bias": 7.0}, "epsilon 0.1": {"attention.layer_norm_epsilon": 0.1}},
                                 kv=False, seed=74400, **JINA),
    "jina-bert-v2-apart": lambda: case(
        "jina-bert-v2", "bert", "jina-bert-v2 with a tensor for the gate alone, as older files have.", jina, jina_keys, jina_apart,
        {"slopes": {"attention.max_alibi_bias": 7.0}}, kv=False, seed=74500, **JINA),
    "baichuan": lambda: case(
        "baichuan", "baichuan", "llama; queries, keys and values are one tensor of the folder. llama.cpp rotates models of 32 layers alone.",
        baichuan, baichuan_keys, baichuan_layout, {"rope base 500": {"rope.freq_base": 500.0}}, seed=75200, num_hidden_layers=32, **NARROW),
    "baichuan-slopes": lambda: case(
        "baichuan", "baichuan", "Models of 40 layers have slopes by distance, which no key says, in place of rotation.", baichuan, baichuan_keys,
        baichuan_layout, {"slopes": {"attention.max_alibi_bias": 7.0}}, seed=75300, num_hidden_layers=40, **NARROW),
    "xverse": lambda: case("xverse", "xverse", "llama under another name.", llama, rms, paired, {"rope base 500": {"rope.freq_base": 500.0}}, seed=74600),
    "orion": lambda: case("orion", "orion", "llama with layer norms that have biases, and half-split rope.", orion, orion_keys, layouts.plain,
                          {"epsilon 0.1": {"attention.layer_norm_epsilon": 0.1}, "rope base 500": {"rope.freq_base": 500.0}}, seed=74700),
    "qwen": lambda: case(
        "qwen", "qwen", "q, k and v in one tensor with a bias; half-split rope; feed_forward_length counts the rows of gate and up together.",
        qwen, qwen_keys, layouts.plain, {"rope base 500": {"rope.freq_base": 500.0}}, seed=74800, num_key_value_heads=HEADS,
        layer_norm_epsilon=1e-6, rotary_emb_base=10000, rotary_pct=1.0, seq_length=2048, no_bias=True, kv_channels=SIZE),
    "codeshell": lambda: case(
        "codeshell", "codeshell", "q, k and v in one tensor, layer norms and biases everywhere, half-split rope, GELU (tanh) without a gate. "
        "llama.cpp takes GELU from a table of F16.", codeshell, codeshell_keys, layouts.plain, {"rope base 500": {"rope.freq_base": 500.0}}, seed=74900,
        intermediate_size=4 * WIDTH, n_embd=WIDTH, n_head=HEADS, n_layer=2, n_positions=2048, num_query_groups=GROUPS, layer_norm_epsilon=1e-5,
        activation_function="gelu_pytorch_tanh"),
    "deepseek": lambda: case(
        "deepseek", "deepseek", "llama with a dense layer, then experts whose weights are not divided by their sum, beside two shared ones.",
        deepseek, deepseek_keys, deepseek_layout, {"rope base 500": {"rope.freq_base": 500.0}, "experts": dict(expert_used_count=3)}, seed=75000,
        first_k_dense_replace=1, moe_intermediate_size=16, n_routed_experts=6, num_experts_per_tok=2, n_shared_experts=2, norm_topk_prob=False,
        scoring_func="softmax", moe_layer_freq=1),
    "bailingmoe": lambda: case(
        "bailingmoe", "bailing_moe", "llama with experts in every layer, whose weights are divided by their sum, beside a shared one.",
        bailing, bailing_keys, bailing_layout, {"norm of weights": dict(expert_weights_norm=False), "rope base 500": {"rope.freq_base": 500.0}},
        seed=75100, first_k_dense_replace=0, moe_intermediate_size=16, num_experts=6, num_experts_per_tok=2, num_shared_experts=1, norm_topk_prob=True,
        norm_head=False, norm_softmax=False, use_bias=False, use_qkv_bias=False),
}
