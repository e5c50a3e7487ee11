"""The models: each with its configuration, and changes of that which must change the logits."""

from transformers import (BertConfig, BertModel, Ernie4_5Config, Ernie4_5ForCausalLM, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM,
                          Gemma3TextConfig, GemmaConfig, GemmaForCausalLM, GptOssConfig, GptOssForCausalLM,
                          GraniteConfig, GraniteForCausalLM, GraniteMoeHybridConfig, GraniteMoeHybridForCausalLM,
                          LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, MixtralConfig,
                          MixtralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM,
                          Qwen3MoeConfig, Qwen3MoeForCausalLM, SeedOssConfig, SeedOssForCausalLM, SmolLM3Config,
                          SmolLM3ForCausalLM)

from vocabularies import N_VOCAB, word_pieces

COMMON = dict(vocab_size=N_VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
              num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
              rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False)


def case(arch, model, config, note, without, **settings):
    """`without`: changes of the configuration that must change the logits, to prove that the case sees them."""
    return dict(arch=arch, model=model, config={**COMMON, **settings}, make=config, note=note, without=without)


CASES = {
    "llama2": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "Plain Llama: grouped heads, adjacent-pair rope (q and k rows permuted), separate output matrix.",
        {"rope base 500": dict(rope_theta=500.0), "epsilon 0.1": dict(rms_norm_eps=0.1)}),
    "llama3": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "rope_freqs.weight holds a divisor per frequency (1 for short waves, factor for long ones, smooth between: "
        "here 3, 3 and 26 frequencies); the angle is position * base^(-2i/d) / rope_freqs[i]. Tied embeddings: no output.weight. "
        "head_dim 64, one kv head for two query heads; head_dim * heads != hidden.",
        {"rope_freqs": dict(rope_scaling=None)},
        num_attention_heads=2, num_key_value_heads=1, head_dim=64, intermediate_size=64, rope_theta=500000.0, tie_word_embeddings=True,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                          original_max_position_embeddings=64)),
    "mistral": lambda: case(
        "llama", MistralForCausalLM, MistralConfig,
        "Sliding window 12 in every layer: position i sees j when 0 <= i - j < 12. Mistral converts to architecture llama; "
        "the converter of llama.cpp writes no window for it, this file does: llama.attention.sliding_window.",
        {"window": dict(sliding_window=None), "window 13": dict(sliding_window=13)},
        head_dim=16, intermediate_size=64, sliding_window=12),
    "smollm": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "SmolLM shape: 3 query heads over 1 kv head, tied embeddings, hidden 48.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        hidden_size=48, num_attention_heads=3, num_key_value_heads=1, rope_theta=100000.0,
        tie_word_embeddings=True),
    "llama-linear": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "llama.rope.scaling.type = linear, factor 4: positions are divided by 4. As many kv heads as query heads.",
        {"scaling": dict(rope_scaling=None)},
        num_key_value_heads=4, intermediate_size=64, tie_word_embeddings=True,
        rope_scaling=dict(rope_type="linear", factor=4.0)),
    "llama-yarn": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "llama.rope.scaling.type = yarn, factor s = 4, original context L = 512, beta_fast 32, beta_slow 1 (defaults, not written). "
        "dim(r) = d * ln(L / (2 pi r)) / (2 ln base), d = head_dim; low = max(0, floor(dim(beta_fast))), "
        "high = min(d - 1, ceil(dim(beta_slow))): floor and ceil are taken (HF truncate = true); here low = 1, high = 8. "
        "ramp(i) = clamp((i - low) / (high - low), 0, 1) over the pair index i = 0 .. d/2 - 1. "
        "frequency(i) = base^(-2i/d) * ((1 - ramp(i)) + ramp(i) / s). "
        "Both cos and sin are multiplied by the attention factor 0.1 ln(s) + 1 = 1.13863, on q and on k, "
        "so attention scores grow by its square. No attn_factor key is written: it is derived from the factor.",
        {"scaling": dict(rope_scaling=None),
         "floor and ceil": dict(rope_scaling=dict(rope_type="yarn", factor=4.0, truncate=False,
                                                  original_max_position_embeddings=512)),
         "attention factor": dict(rope_scaling=dict(rope_type="yarn", factor=4.0, attention_factor=1.0,
                                                    original_max_position_embeddings=512))},
        num_attention_heads=2, num_key_value_heads=1, intermediate_size=64, tie_word_embeddings=True,
        rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=512)),
    "qwen2": lambda: case(
        "qwen2", Qwen2ForCausalLM, Qwen2Config,
        "Biases on q, k and v; half-split rope (rows not permuted); no rope scaling; tied embeddings.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        rope_theta=1000000.0, rms_norm_eps=1e-6, use_sliding_window=False, intermediate_size=64,
        tie_word_embeddings=True),
    "qwen3": lambda: case(
        "qwen3", Qwen3ForCausalLM, Qwen3Config,
        "RMS norm over each head of q and of k before rope; head_dim 24 with hidden 64 and 4 heads; tied embeddings.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        head_dim=24, intermediate_size=64, rope_theta=1000000.0, rms_norm_eps=1e-6, tie_word_embeddings=True),
    "gemma2": lambda: case(
        "gemma2", Gemma2ForCausalLM, Gemma2Config,
        "Norms before and after attention and feed-forward; GeGLU with the tanh approximation; embeddings multiplied by sqrt(hidden); "
        "query scale 1/sqrt(head_dim); attention soft cap 4 (before the mask), final soft cap 6; window 10 in layers 0 and 2, "
        "none in layer 1; half-split rope; norm weights are stored with the 1 added; tied embeddings. "
        "The converter writes no rope.freq_base and no rope.dimension_count for gemma2: base 10000 over head_dim is implied.",
        {"window": dict(sliding_window=4096), "window 11": dict(sliding_window=11),
         "attention soft cap": dict(attn_logit_softcapping=None),
         "final soft cap": dict(final_logit_softcapping=None), "scale of hidden/heads": dict(query_pre_attn_scalar=12),
         "tanh": dict(hidden_activation="gelu")},
        hidden_size=48, head_dim=16, intermediate_size=64, num_hidden_layers=3, rms_norm_eps=1e-6,
        query_pre_attn_scalar=16, attn_logit_softcapping=4.0, final_logit_softcapping=6.0, sliding_window=10,
        tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh"),
    "mixtral": lambda: case(
        "llama", MixtralForCausalLM, MixtralConfig,
        "4 experts, 2 used: softmax over all router logits, the best 2 kept and divided by their sum (the same as a softmax over "
        "the best 2). gate = w1, down = w2, up = w3, stacked per layer. Feed-forward length is that of an expert. "
        "head_dim 12, hidden 48.",
        {"two experts (top 1)": dict(num_experts_per_tok=1)},
        hidden_size=48, intermediate_size=32, num_local_experts=4, num_experts_per_tok=2, rope_theta=1000000.0, sliding_window=None),
    "qwen3moe": lambda: case(
        "qwen3moe", Qwen3MoeForCausalLM, Qwen3MoeConfig,
        "6 experts of length 16, 3 used: softmax over all, best 3 kept and divided by their sum (norm_topk_prob; no key says so: "
        "the architecture implies it); q and k norms; head_dim 24; tied embeddings. feed_forward_length is written but no layer uses it.",
        {"division by the sum": dict(norm_topk_prob=False)},
        head_dim=24, intermediate_size=96, moe_intermediate_size=16, num_experts=6, num_experts_per_tok=3,
        norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[], rope_theta=1000000.0, rms_norm_eps=1e-6,
        tie_word_embeddings=True),
    "llama-biases": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "attention_bias and mlp_bias: biases on q, k, v (those of q and k permuted as their rows), on the output of attention, and on "
        "gate, up and down of the feed-forward part. Tied embeddings.",
        {f"bias of {name}": dict(zeroed=f"{name}_proj.bias") for name in ("q", "k", "v", "o", "gate", "up", "down")},
        intermediate_size=64, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    "gpt-oss": lambda: case(
        "gpt-oss", GptOssForCausalLM, GptOssConfig,
        "A sink per head: one more term exp(sink) in the sum of the softmax, without a value. Window 10 in layer 0, none in "
        "layer 1. Biases on q, k, v, on the output of attention, on the router and on the products of the experts (stacked, "
        "[experts, size]). 5 experts, 3 used: softmax over the best 3, the same as over all and then divided by their sum. "
        "gate and up are interleaved in the model and separate in the file; with g = min(gate, 7) and u = clamp(up, -7, 7) an expert "
        "gives down(g sigmoid(1.702 g) (u + 1)). yarn with truncate = false: the ends of the ramp are not rounded; no key says so, the "
        "architecture implies it. The norm before the feed-forward part is named post_attention_norm.",
        {"sinks": dict(zeroed="self_attn.sinks"), "window": dict(sliding_window=4096), "window 11": dict(sliding_window=11),
         "limit": dict(modules=dict(limit=1e9)), "1.702": dict(modules=dict(alpha=1.0)),
         "floor and ceil": dict(rope_scaling=dict(rope_type="yarn", factor=8.0, beta_fast=32.0, beta_slow=1.0, truncate=True,
                                                  original_max_position_embeddings=256)),
         **{f"bias of {name}": dict(zeroed=name + "bias")
            for name in ("q_proj.", "o_proj.", "router.", "gate_up_proj_", "down_proj_")}},
        num_attention_heads=4, num_key_value_heads=1, head_dim=16, intermediate_size=32, tie_word_embeddings=True,
        num_local_experts=5, num_experts_per_tok=3, sliding_window=10, rope_theta=150000.0,
        rope_scaling=dict(rope_type="yarn", factor=8.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
                          original_max_position_embeddings=256)),
    "llama-layers": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "Layers of different sizes: head_count, head_count_kv and feed_forward_length are arrays with a number for each layer. "
        "head_dim 16; tied embeddings.",
        {"rope base 500": dict(rope_theta=500.0)},
        head_dim=16, tie_word_embeddings=True,
        layers=[dict(num_attention_heads=4, num_key_value_heads=2, intermediate_size=64),
                dict(num_attention_heads=3, num_key_value_heads=3, intermediate_size=40),
                dict(num_attention_heads=6, num_key_value_heads=1, intermediate_size=72)]),
    "smollm3": lambda: case(
        "smollm3", SmolLM3ForCausalLM, SmolLM3Config,
        "Every fourth layer has no rotary embedding; no key says so: the architecture implies it. q and k rows permuted as for llama. "
        "Tied embeddings.",
        {"layers without rope": dict(no_rope_layer_interval=3)},
        num_hidden_layers=4, hidden_size=48, intermediate_size=48, num_attention_heads=3, num_key_value_heads=1,
        rope_theta=2000000.0, no_rope_layer_interval=4, use_sliding_window=False, pad_token_id=0, tie_word_embeddings=True),
    "gemma": lambda: case(
        "gemma", GemmaForCausalLM, GemmaConfig,
        "GeGLU with the tanh approximation; embeddings multiplied by sqrt(hidden); norm weights are stored with the 1 added; one kv "
        "head; head_dim 24; half-split rope; tied embeddings. No rope.freq_base is written: 10000 is implied.",
        {"rope base 500": dict(rope_theta=500.0), "tanh": dict(hidden_act="gelu", hidden_activation="gelu")},
        hidden_size=48, head_dim=24, intermediate_size=64, num_key_value_heads=1, rms_norm_eps=1e-6,
        tie_word_embeddings=True, hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh"),
    "gemma3": lambda: case(
        "gemma3", Gemma3ForCausalLM, Gemma3TextConfig,
        "As gemma2 without soft caps, with norms on q and k. Layers 0 to 4 have a window of 10 and rotate with base 10000 and without "
        "scaling, which no key says; layer 5 sees all and rotates with the base of the file and linear scaling, factor 4. Norm weights "
        "are stored with the 1 added, those of q and k too.",
        {"window": dict(sliding_window=4096), "window 11": dict(sliding_window=11), "scaling": dict(rope_scaling=None),
         "local base": dict(rope_local_base_freq=1000000.0), "scale of hidden/heads": dict(query_pre_attn_scalar=24)},
        hidden_size=48, head_dim=16, intermediate_size=32, num_hidden_layers=6, num_attention_heads=2, num_key_value_heads=1,
        rms_norm_eps=1e-6, query_pre_attn_scalar=16, sliding_window=10, rope_theta=1000000.0, rope_local_base_freq=10000.0,
        rope_scaling=dict(rope_type="linear", factor=4.0), tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh"),
    "seed-oss": lambda: case(
        "seed_oss", SeedOssForCausalLM, SeedOssConfig,
        "Biases on q, k and v but not on the output; head_dim 24; half-split rope; the norm before the feed-forward part is named "
        "post_attention_norm; tied embeddings.",
        {f"bias of {name}": dict(zeroed=f"{name}_proj.bias") for name in ("q", "k", "v")},
        head_dim=24, intermediate_size=64, rope_theta=10000000.0, rms_norm_eps=1e-6, attention_bias=True,
        attention_out_bias=False, mlp_bias=False, attention_dropout=0.0, residual_dropout=0.0, tie_word_embeddings=True),
    "ernie4_5": lambda: case(
        "ernie4_5", Ernie4_5ForCausalLM, Ernie4_5Config,
        "Rope over adjacent pairs with rows that are not permuted: the model itself has them so. head_dim 16; tied embeddings.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        head_dim=16, intermediate_size=64, rope_theta=500000.0, use_bias=False, tie_word_embeddings=True),
    "granitehybrid": lambda: case(
        "granitehybrid", GraniteMoeHybridForCausalLM, GraniteMoeHybridConfig,
        "Mamba-2 in layers 0, 2 and 3, attention in layer 1: head_count_kv is an array with 0 for a recurrent layer. ssm_in gives "
        "z (128), x (128), B (16), C (16) and dt (8 heads) in this order; x, B and C pass a causal convolution over 4 tokens per channel "
        "(the last tap is that of the present token), its bias and silu. With t = softplus(dt + ssm_dt.bias) and a = ssm_a (negative, "
        "-exp(A_log)) each head of 16 has S = exp(a t) S + t x B^T, from S = 0, and y = S C + ssm_d x; then the RMS norm of y silu(z), "
        "gate first, over each of the groups (here 1), and ssm_out. Attention has no rotary embedding, which rope.scaling.finetuned = false "
        "says, but q and k rows are permuted all the same. embedding_scale multiplies the embeddings, residual_scale what each half of a "
        "layer adds, attention.scale the scores in place of 1/sqrt(head_dim); logit_scale divides the logits. expert_count is 0: the "
        "feed-forward part is that of the shared expert, under the names of a dense one. Tied embeddings.",
        {"embedding scale": dict(embedding_multiplier=1.0), "residual scale": dict(residual_multiplier=1.0),
         "attention scale": dict(attention_multiplier=0.25), "logit scale": dict(logits_scaling=1.0),
         "no rope": dict(position_embedding_type="rope"), "bias of conv1d": dict(zeroed="conv1d.bias"), "D": dict(zeroed="mamba.D"),
         "bias of dt": dict(zeroed="dt_bias"), "A": dict(zeroed="A_log"),
         "state": dict(filled=("A_log", 20.0))},  # exp(-exp(20) t) = 0: nothing of the past is kept
        num_hidden_layers=4, layer_types=["mamba", "attention", "mamba", "mamba"], shared_intermediate_size=96,
        num_local_experts=0, num_experts_per_tok=0, mamba_n_heads=8, mamba_d_head=16, mamba_expand=2, mamba_d_state=16,
        mamba_n_groups=1, mamba_d_conv=4, mamba_conv_bias=True, mamba_proj_bias=False, mamba_chunk_size=16,
        position_embedding_type="nope", embedding_multiplier=2.5, residual_multiplier=0.4375, attention_multiplier=0.375,
        logits_scaling=1.25, tie_word_embeddings=True),
    "granite": lambda: case(
        "granite", GraniteForCausalLM, GraniteConfig,
        "Llama (q and k rows permuted) with four scales: embedding_scale multiplies the embeddings, residual_scale what each half of a "
        "layer adds, attention.scale the scores in place of 1/sqrt(head_dim); logit_scale divides the logits. Tied embeddings.",
        {"embedding scale": dict(embedding_multiplier=1.0), "residual scale": dict(residual_multiplier=1.0),
         "attention scale": dict(attention_multiplier=0.25), "logit scale": dict(logits_scaling=1.0),
         "rope base 500": dict(rope_theta=500.0)},
        embedding_multiplier=3.0, residual_multiplier=0.625, attention_multiplier=0.4375, logits_scaling=1.25, tie_word_embeddings=True),
    "bert": lambda: case(
        "bert", lambda config: BertModel(config, add_pooling_layer=False), BertConfig,
        "An encoder: the rows of the file of logits are those of the last layer, as wide as the model. A row sees all positions. The "
        "embedding is that of the token, of its position and of type 0, added and then normed. Norms are of the sums with the residual "
        "and have weights and biases; biases on all products; the feed-forward part is a GELU (with erf) without a gate.",
        {"rows behind": dict(is_decoder=True), "positions": dict(zeroed="position_embeddings.weight"),
         "token types": dict(zeroed="token_type_embeddings.weight"), "epsilon 0.1": dict(layer_norm_eps=0.1),
         "erf": dict(hidden_act="gelu_new"),
         **{f"bias of {name}": dict(zeroed=f"{name}.bias")
            for name in ("query", "value", "attention.output.dense", "intermediate.dense", "attention.output.LayerNorm",
                         "embeddings.LayerNorm")}},
        vocab_size=len(word_pieces()), intermediate_size=128, num_hidden_layers=3, max_position_embeddings=64, type_vocab_size=2,
        hidden_act="gelu"),
}
