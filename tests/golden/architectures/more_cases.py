"""More models, smaller than those of cases.py: each says which keys its converter writes, and how its tensors are laid out."""

import gguf
import transformers as hf

import layouts

SMALL = dict(hidden_size=32, intermediate_size=48, tie_word_embeddings=True)


def rms(w, config):
    w.add_layer_norm_rms_eps(config.rms_norm_eps)


def small(arch, kind, note, without, keys, layout=None, kv=True, used=None, margin=0.02, make=None, config=None,
          feed_forward=None, **settings):
    """`kind` + "ForCausalLM", or another end, and "Config" are the classes; `keys(writer, config)` writes what is not common; `layout` is a function of
    layouts.py; `kv`: head_count_kv is written; `used`: experts per token, where the configuration has another name for it; `margin`: the
    least distance between the last expert used and the first one not used; `config`: the name of the configuration's class, where that is
    another; `make`: what makes the configuration in place of it; `feed_forward`: the size of a dense part, or of that of each layer, where
    intermediate_size is another's."""
    model = next(filter(None, (getattr(hf, kind + end, None) for end in ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration"))))
    return dict(arch=arch, model=model,
                make=make or getattr(hf, config or kind + "Config"), feed_forward=feed_forward, note=note, without=without, keys=keys, layout=layout or layouts.plain, kv=kv,
                experts_used=used or settings.get("num_experts_per_tok"), margin=margin, settings={**SMALL, **settings})


def olmo2(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)


def olmo3(w, c):
    olmo2(w, c)
    w.add_rope_scaling_type(gguf.RopeScalingType("yarn"))
    w.add_rope_scaling_factor(c.rope_scaling["factor"])
    w.add_rope_scaling_orig_ctx_len(c.rope_scaling["original_max_position_embeddings"])
    w.add_sliding_window(c.sliding_window)
    w.add_sliding_window_pattern([kind == "sliding_attention" for kind in c.layer_types])


def olmo(w, c):
    w.add_layer_norm_eps(1e-5)
    w.add_rope_freq_base(c.rope_theta)


def moe(w, c, count, used, size=None, shared=None):
    w.add_rope_freq_base(c.rope_theta)
    rms(w, c)
    w.add_expert_count(count)
    w.add_expert_used_count(used)
    if size:
        w.add_expert_feed_forward_length(size)
    if shared:
        w.add_expert_shared_feed_forward_length(shared)


def granitemoe(w, c, shared=None):
    moe(w, c, c.num_local_experts, c.num_experts_per_tok, None, shared)
    w.add_attention_scale(c.attention_multiplier)
    w.add_embedding_scale(c.embedding_multiplier)
    w.add_residual_scale(c.residual_multiplier)
    w.add_logit_scale(c.logits_scaling)


def granitehybrid(w, c):
    granitemoe(w, c, c.shared_intermediate_size)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)
    w.add_ssm_conv_kernel(c.mamba_d_conv)
    w.add_ssm_state_size(c.mamba_d_state)
    w.add_ssm_group_count(c.mamba_n_groups)
    w.add_ssm_inner_size(c.mamba_expand * c.hidden_size)
    w.add_ssm_time_step_rank(c.mamba_n_heads)
    w.add_rope_scaling_finetuned(False)


def chatglm(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_rope_dimension_count(int(c.head_dim * c.partial_rotary_factor))


def glm4(w, c):
    chatglm(w, c)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)


def phi3(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_rope_dimension_count(int(c.partial_rotary_factor * c.hidden_size // c.num_attention_heads))
    w.add_sliding_window(c.sliding_window)


def phi2(w, c):
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_rope_dimension_count(int(c.partial_rotary_factor * c.hidden_size) // c.num_attention_heads)


def exaone4(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_sliding_window(c.sliding_window)
    w.add_sliding_window_pattern([kind == "sliding_attention" for kind in c.layer_types])


def nemotron(w, c):
    w.add_layer_norm_eps(c.norm_eps)
    w.add_rope_freq_base(c.rope_theta)
    w.add_rope_dimension_count(int(c.partial_rotary_factor * c.hidden_size) // c.num_attention_heads)
    w.add_rope_scaling_type(gguf.RopeScalingType("none"))


def starcoder2(w, c):
    w.add_layer_norm_eps(c.norm_epsilon)
    w.add_rope_freq_base(c.rope_theta)
    w.add_sliding_window(c.sliding_window)


def stablelm(w, c):
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_rope_dimension_count(int(c.partial_rotary_factor * (c.hidden_size // c.num_attention_heads)))
    w.add_parallel_residual(c.use_parallel_residual)


def command_r(w, c):
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_rope_freq_base(c.rope_theta)
    w.add_logit_scale(c.logit_scale)
    w.add_rope_scaling_type(gguf.RopeScalingType("none"))


def cohere2(w, c):
    command_r(w, c)
    w.add_sliding_window(c.sliding_window)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_dimension_count(c.head_dim)


def epsilon(w, c):
    w.add_layer_norm_eps(c.layer_norm_epsilon)


def gptneox(w, c):
    w.add_rope_dimension_count(int(c.rotary_pct * (c.hidden_size // c.num_attention_heads)))
    w.add_parallel_residual(c.use_parallel_residual)
    w.add_layer_norm_eps(c.layer_norm_eps)


def falcon(w, c):
    epsilon(w, c)
    w.add_tensor_data_layout("jploski")


def ernie_moe(w, c):
    moe(w, c, c.moe_num_experts, c.moe_k, c.moe_intermediate_size, c.intermediate_size // c.num_key_value_heads)
    w.add_interleave_moe_layer_step(c.moe_layer_interval)
    w.add_leading_dense_block_count(c.moe_layer_start_index)
    w.add_expert_shared_count(c.moe_num_shared_experts)


def dots1(w, c):
    moe(w, c, c.n_routed_experts, c.num_experts_per_tok, c.moe_intermediate_size)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_leading_dense_block_count(c.first_k_dense_replace)
    w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    w.add_expert_weights_scale(c.routed_scaling_factor)
    w.add_expert_weights_norm(c.norm_topk_prob)


def glm4moe(w, c):
    dots1(w, c)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_rope_dimension_count(int(c.head_dim * c.partial_rotary_factor))


def hunyuan(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)


def hunyuan_moe(w, c):
    moe(w, c, c.num_experts, c.moe_topk, c.intermediate_size, c.intermediate_size)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)


def mamba2(w, c):
    w.add_layer_norm_rms_eps(c.layer_norm_epsilon)
    w.add_ssm_conv_kernel(c.conv_kernel)
    w.add_ssm_inner_size(c.expand * c.hidden_size)
    w.add_ssm_state_size(c.state_size)
    w.add_ssm_time_step_rank(c.num_heads)
    w.add_ssm_group_count(c.n_groups)


LAYER_BIASES = {f"bias of {name}": dict(zeroed=f"{name}.bias") for name in ("q_proj", "v_proj", "norm")}
GPT2 = dict(n_embd=32, n_layer=2, n_head=4, n_positions=64, n_inner=128, activation_function="gelu_pytorch_tanh")
GPT2_WITHOUT = {"positions": dict(zeroed="wpe.weight"), "tanh": dict(activation_function="gelu"),
                **{f"bias of {name}": dict(zeroed=f"{name}.bias") for name in ("c_attn", "attn.c_proj", "c_fc", "mlp.c_proj", "ln_f")}}
PERIOD_4 = dict(num_hidden_layers=4, sliding_window=10, head_dim=8,
                layer_types=["sliding_attention"] * 3 + ["full_attention"])

MORE_CASES = {
    "olmo": lambda: small(
        "olmo", "Olmo", "Layer norms without weight or bias; q and k rows permuted as for llama.",
        {"rope base 500": dict(rope_theta=500.0)}, olmo, layouts.permuted, clip_qkv=None),
    "olmo2": lambda: small(
        "olmo2", "Olmo2", "Norms behind attention and feed-forward, none before; RMS norm over all heads of q together, and of k, before rope.",
        {"rope base 500": dict(rope_theta=500.0), "epsilon 0.1": dict(rms_norm_eps=0.1)}, olmo2),
    "olmo3": lambda: small(
        "olmo2", "Olmo3", "olmo2 with a window of 10 in layers 0 to 2, which the array sliding_window_pattern says; yarn in the layer that "
        "sees all, no scaling with the same base in the others.",
        {"window 11": dict(sliding_window=11), "scaling": dict(rope_scaling=None),
         "pattern": dict(layer_types=["full_attention"] + ["sliding_attention"] * 3)}, olmo3,
        rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=512), **PERIOD_4),
    "olmoe": lambda: small(
        "olmoe", "Olmoe", "6 experts, 3 used, whose shares are not divided by their sum; norms over all heads of q and k together.",
        {"division by the sum": dict(norm_topk_prob=True), "top 2": dict(num_experts_per_tok=2)},
        lambda w, c: moe(w, c, c.num_experts, c.num_experts_per_tok), layouts.stacked,
        intermediate_size=16, num_experts=6, num_experts_per_tok=3, norm_topk_prob=False),
    "qwen2moe": lambda: small(
        "qwen2moe", "Qwen2Moe", "5 experts, 2 used, shares not divided by their sum; a shared expert of another size, times the sigmoid "
        "of a product with one row; biases on q, k, v.",
        {"division by the sum": dict(norm_topk_prob=True), "shared expert": dict(zeroed="shared_expert.down_proj.weight"),
         "gate of the shared expert": dict(zeroed="shared_expert_gate.weight"), "bias of k": dict(zeroed="k_proj.bias")},
        lambda w, c: moe(w, c, c.num_experts, c.num_experts_per_tok, c.moe_intermediate_size, c.shared_expert_intermediate_size),
        layouts.stacked, num_experts=5, num_experts_per_tok=2, norm_topk_prob=False, moe_intermediate_size=16,
        shared_expert_intermediate_size=24, decoder_sparse_step=1, mlp_only_layers=[], use_sliding_window=False),
    "granitemoe": lambda: small(
        "granitemoe", "GraniteMoe", "granite with 5 experts, 2 used, and a softmax over these; gate and up are one tensor in the model and two in "
        "the file.",
        {"residual scale": dict(residual_multiplier=1.0), "top 3": dict(num_experts_per_tok=3)},
        granitemoe, layouts.granitemoe, intermediate_size=16, num_local_experts=5, num_experts_per_tok=2,
        embedding_multiplier=3.0, residual_multiplier=0.625, attention_multiplier=0.4375, logits_scaling=1.25),
    "granitemoe-shared": lambda: small(
        "granitemoe", "GraniteMoeShared", "granitemoe with a shared expert, which has no gate of its own.",
        {"shared expert": dict(zeroed="shared_mlp.output_linear.weight")},
        lambda w, c: granitemoe(w, c, c.shared_intermediate_size), layouts.granitemoe,
        intermediate_size=16, shared_intermediate_size=24, num_local_experts=4, num_experts_per_tok=2,
        embedding_multiplier=3.0, residual_multiplier=0.625, attention_multiplier=0.4375, logits_scaling=1.25),
    "hunyuan-dense": lambda: small(
        "hunyuan-dense", "HunYuanDenseV1", "RMS norm over each head of q and of k behind rope; head_dim 12 with 4 heads in 32.",
        {"rope base 500": dict(rope_theta=500.0), "epsilon 0.1": dict(rms_norm_eps=0.1)}, hunyuan, head_dim=12),
    "hunyuan-moe": lambda: small(
        "hunyuan-moe", "HunYuanMoEV1", "hunyuan-dense with 5 experts, 2 used, shares divided by their sum, and a shared expert.",
        {"shared expert": dict(zeroed="shared_mlp.down_proj.weight"), "top 3": dict(moe_topk=3)}, hunyuan_moe, layouts.hunyuan,
        used=2, head_dim=8, intermediate_size=16, num_experts=5, moe_topk=2),
    "glm4": lambda: small(
        "glm4", "Glm4", "Norms on both sides; half of each head rotates, over adjacent pairs; gate and up are one tensor, ffn_up, gate first; "
        "biases on q, k, v.",
        {"half a head": dict(partial_rotary_factor=1.0), **{f"bias of {n}": dict(zeroed=f"{n}_proj.bias") for n in "qkv"}},
        glm4, head_dim=16, partial_rotary_factor=0.5, attention_bias=True, pad_token_id=0, num_attention_heads=2),
    "phi3": lambda: small(
        "phi3", "Phi3", "q, k and v are one tensor, attn_qkv; gate and up are one tensor, ffn_up, gate first; three quarters of each head "
        "rotate; window 12 in every layer.",
        {"window 13": dict(sliding_window=13), "whole heads": dict(partial_rotary_factor=1.0)},
        phi3, partial_rotary_factor=0.75, sliding_window=12, pad_token_id=0),
    "phi2": lambda: small(
        "phi2", "Phi", "Attention and feed-forward read the same layer norm, and both are added to the residual; half of each head rotates; "
        "GELU (tanh) without a gate; biases everywhere, of the output matrix too.",
        {"half a head": dict(partial_rotary_factor=1.0), "tanh": dict(hidden_act="gelu"),
         **{f"bias of {n}": dict(zeroed=f"{n}.bias") for n in ("q_proj", "k_proj", "v_proj", "dense", "fc1", "fc2", "lm_head", "input_layernorm",
                                                          "final_layernorm")}},
        phi2, partial_rotary_factor=0.5, hidden_act="gelu_new", num_key_value_heads=4, tie_word_embeddings=False),
    "exaone4": lambda: small(
        "exaone4", "Exaone4", "Norms behind attention and feed-forward; RMS norm over each head of q and k; window 10 in three of four layers, "
        "which alone rotate.",
        {"window 11": dict(sliding_window=11), "rope base 500": dict(rope_theta=500.0),
         "pattern": dict(layer_types=["full_attention"] + ["sliding_attention"] * 3)}, exaone4, sliding_window_pattern=4, **PERIOD_4),
    "arcee": lambda: small(
        "arcee", "Arcee", "Llama (q and k rows permuted) with a squared rectifier and no gate.",
        {"square": dict(hidden_act="relu")}, olmo2, layouts.permuted, hidden_act="relu2", rms_norm_eps=1e-5),
    "nemotron": lambda: small(
        "nemotron", "Nemotron", "Layer norms, whose weights are stored with the 1 added; a squared rectifier without a gate; half of each head rotates.",
        {"square": dict(hidden_act="relu"), "half a head": dict(partial_rotary_factor=1.0), "bias of norms": dict(zeroed="layernorm.bias")},
        nemotron, layouts.one_added, hidden_act="relu2", partial_rotary_factor=0.5, norm_eps=1e-5),
    "starcoder": lambda: small(
        "starcoder", "GPTBigCode", "GPT-2 with one kv head; GELU (tanh).", GPT2_WITHOUT, epsilon,
        **{**GPT2, "intermediate_size": 128, "multi_query": True, "num_key_value_heads": 1}),
    "starcoder2": lambda: small(
        "starcoder2", "Starcoder2", "Layer norms, biases everywhere, GELU (tanh) without a gate, window 12 in every layer.",
        {"window 13": dict(sliding_window=13), "tanh": dict(hidden_act="gelu"),
         **{f"bias of {n}": dict(zeroed=f"{n}.bias") for n in ("q_proj", "k_proj", "v_proj", "o_proj", "c_fc", "c_proj", "layernorm")}},
        starcoder2, sliding_window=12, use_bias=True, hidden_act="gelu_pytorch_tanh", norm_epsilon=1e-5),
    "stablelm": lambda: small(
        "stablelm", "StableLm", "Layer norms with biases; a quarter of each head rotates; biases on q, k, v; use_parallel_residual = false.",
        {"a quarter of a head": dict(partial_rotary_factor=0.5), "bias of k": dict(zeroed="k_proj.bias"),
         "bias of norms": dict(zeroed="post_attention_layernorm.bias")},
        stablelm, head_dim=16, num_attention_heads=2, partial_rotary_factor=0.25, use_qkv_bias=True, layer_norm_eps=1e-5),
    "stablelm-parallel": lambda: small(
        "stablelm", "StableLm", "use_parallel_residual = true: attention and feed-forward read the same norm.",
        {"rope base 500": dict(rope_theta=500.0), "bias of norms": dict(zeroed="input_layernorm.bias")},
        stablelm, num_attention_heads=2, partial_rotary_factor=0.25, use_parallel_residual=True, layer_norm_eps=1e-5),
    "command-r": lambda: small(
        "command-r", "Cohere", "Attention and feed-forward read the same layer norm, which has no bias; rope over adjacent pairs; logit_scale "
        "multiplies the logits.",
        {"logit scale": dict(logit_scale=1.0), "rope base 500": dict(rope_theta=500.0)},
        command_r, logit_scale=0.375, pad_token_id=0, layer_norm_eps=1e-5),
    "cohere2": lambda: small(
        "cohere2", "Cohere2", "command-r with a window of 10 in three of four layers, which alone rotate; no key says which: the architecture "
        "implies it.",
        {"window 11": dict(sliding_window=11), "logit scale": dict(logit_scale=1.0),
         "pattern": dict(layer_types=["full_attention"] + ["sliding_attention"] * 3)},
        cohere2, logit_scale=0.375, pad_token_id=0, layer_norm_eps=1e-5, **PERIOD_4),
    "gpt2": lambda: small(
        "gpt2", "GPT2", "Layer norms and biases everywhere, learned positions, one tensor for q, k and v, GELU (tanh) without a gate; the "
        "weights of products are transposed.", GPT2_WITHOUT, epsilon, layouts.transposed, kv=False, **{**GPT2, "intermediate_size": 128}),
    "gptneox": lambda: small(
        "gptneox", "GPTNeoX", "Attention and feed-forward read the same residual, each with a layer norm of its own; a quarter of each head "
        "rotates; GELU with erf; q, k and v are one tensor, in the model by heads and in the file apart.",
        {"a quarter of a head": dict(rotary_pct=0.5), "parallel": dict(use_parallel_residual=False), "erf": dict(hidden_act="gelu_new"),
         **{f"bias of {n}": dict(zeroed=f"{n}.bias") for n in ("query_key_value", "attention.dense", "dense_h_to_4h", "dense_4h_to_h",
                                                          "input_layernorm")}},
        gptneox, layouts.neox, kv=False, num_attention_heads=2, rotary_pct=0.25, hidden_act="gelu", tie_word_embeddings=False),
    "gptneox-sequential": lambda: small(
        "gptneox", "GPTNeoX", "use_parallel_residual = false.", {"parallel": dict(use_parallel_residual=True)},
        gptneox, layouts.neox, kv=False, num_attention_heads=2, rotary_pct=1.0, hidden_act="gelu", use_parallel_residual=False,
        tie_word_embeddings=False),
    "falcon-7b": lambda: small(
        "falcon", "Falcon", "One kv head, one layer norm for attention and feed-forward, which are both added to the residual; GELU with erf.",
        {"rope base 500": dict(rope_theta=500.0), "erf": dict(activation="gelu_new"), "parallel": dict(parallel_attn=False)},
        falcon, kv=1, ffn_hidden_size=128, intermediate_size=128, multi_query=True, new_decoder_architecture=False, parallel_attn=True,
        bias=False, alibi=False),
    "falcon-40b": lambda: small(
        "falcon", "Falcon", "Two kv heads and a layer norm each for attention (attn_norm_2) and feed-forward (attn_norm); q, k and v are one "
        "tensor, in the model by kv heads and in the file apart.",
        {"rope base 500": dict(rope_theta=500.0), "bias of norms": dict(zeroed="ln_mlp.bias")},
        falcon, layouts.falcon, kv=2, num_kv_heads=2, ffn_hidden_size=128, intermediate_size=128, new_decoder_architecture=True, bias=False, alibi=False),
    "mamba2": lambda: small(
        "mamba2", "Mamba2", "Mamba-2 in every layer and nothing else; see granitehybrid.",
        {"bias of conv1d": dict(zeroed="conv1d.bias"), "D": dict(zeroed="mixer.D"), "bias of dt": dict(zeroed="dt_bias"),
         "A": dict(zeroed="A_log"), "state": dict(filled=("A_log", 20.0))},
        mamba2, layouts.mamba2, kv=False, num_heads=8, head_dim=8, expand=2, state_size=12, n_groups=1, conv_kernel=4, chunk_size=16,
        layer_norm_epsilon=1e-5, residual_in_fp32=False, intermediate_size=0, num_attention_heads=0),
    "ernie4_5-moe": lambda: small(
        "ernie4_5-moe", "Ernie4_5_Moe", "A dense layer, then 6 experts, 2 used: those with the largest sum of softmax and exp_probs_b; their shares are "
        "without that bias and divided by their sum. A shared expert, as long as two. Rope over adjacent pairs.",
        {"selection bias": dict(zeroed="e_score_correction_bias"), "shared expert": dict(zeroed="shared_experts.down_proj.weight")},
        ernie_moe, layouts.selecting, used=2, margin=0.002, num_hidden_layers=3, moe_num_experts=6, moe_k=2, moe_intermediate_size=12,
        moe_num_shared_experts=2, moe_layer_start_index=1, moe_layer_interval=1, use_bias=False),
    "glm4moe": lambda: small(
        "glm4moe", "Glm4Moe", "A dense layer, then 6 experts, 2 used: those with the largest sum of sigmoid and exp_probs_b; their sigmoids are divided by "
        "their sum and multiplied by 1.5. A shared expert. Half of each head rotates; biases on q, k, v; norms of q and k.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "division by the sum": dict(norm_topk_prob=False),
         "half a head": dict(partial_rotary_factor=1.0), "norms of q": dict(filled=("q_norm.weight", 1.0)), "bias of k": dict(zeroed="k_proj.bias")},
        glm4moe, layouts.selecting, margin=0.002, num_hidden_layers=3, head_dim=8, n_routed_experts=6, num_experts_per_tok=2,
        moe_intermediate_size=12, n_shared_experts=1, first_k_dense_replace=1, routed_scaling_factor=1.5, norm_topk_prob=True,
        partial_rotary_factor=0.5, use_qk_norm=True, attention_bias=True, n_group=1, topk_group=1),
    "glm4moe-plain": lambda: small(
        "glm4moe", "Glm4Moe", "glm4moe without norms of q and k; shares not divided by their sum.",
        {"selection bias": dict(unselected=True), "division by the sum": dict(norm_topk_prob=True)},
        glm4moe, layouts.selecting, margin=0.002, head_dim=8, n_routed_experts=5, num_experts_per_tok=2,
        moe_intermediate_size=12, n_shared_experts=2, first_k_dense_replace=1, routed_scaling_factor=1.0, norm_topk_prob=False,
        partial_rotary_factor=0.5, use_qk_norm=False, attention_bias=True, n_group=1, topk_group=1),
    "dots1": lambda: small(
        "dots1", "Dots1", "As glm4moe with whole heads that rotate, and without biases.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0)},
        dots1, layouts.selecting, margin=0.002, num_hidden_layers=2, n_routed_experts=6, num_experts_per_tok=2,
        moe_intermediate_size=12, n_shared_experts=1, first_k_dense_replace=1, routed_scaling_factor=2.5, norm_topk_prob=True,
        n_group=1, topk_group=1),
    "granitehybrid-moe": lambda: small(
        "granitehybrid", "GraniteMoeHybrid", "granitehybrid with 5 experts, 2 used, and a shared one.",
        {"shared expert": dict(zeroed="shared_mlp.output_linear.weight"), "top 3": dict(num_experts_per_tok=3),
         "state": dict(filled=("A_log", 20.0))},
        granitehybrid, layouts.hybrid, kv=[0, 2, 0], num_hidden_layers=3, layer_types=["mamba", "attention", "mamba"],
        intermediate_size=16, shared_intermediate_size=24, num_local_experts=5, num_experts_per_tok=2, mamba_n_heads=8, mamba_d_head=8,
        mamba_expand=2, mamba_d_state=12, mamba_n_groups=1, mamba_d_conv=4, mamba_conv_bias=True, mamba_proj_bias=False,
        mamba_chunk_size=16, position_embedding_type="nope", embedding_multiplier=2.5, residual_multiplier=0.4375,
        attention_multiplier=0.375, logits_scaling=1.25),
    "chatglm": lambda: small(
        "chatglm", "Glm", "Half of each head rotates, over adjacent pairs; gate and up are one tensor, ffn_up, gate first; biases on q, k, v.",
        {"half a head": dict(partial_rotary_factor=1.0), **{f"bias of {n}": dict(zeroed=f"{n}_proj.bias") for n in "qkv"}},
        chatglm, head_dim=16, partial_rotary_factor=0.5, attention_bias=True, pad_token_id=0, num_attention_heads=2, rms_norm_eps=1e-5),
}
