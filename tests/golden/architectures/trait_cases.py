"""Decoders with what no model of the other cases has: frequencies for long contexts, experts chosen one after another, norms with a
weight for each head, a function with parameters, limits of queries, keys and values."""

import math

import transformers as hf
from transformers.modeling_utils import no_init_weights

import layouts
from more_cases import command_r, olmo, rms, small, stablelm

FACTORS = dict(short_factor=[1.0, 1.25, 1.5], long_factor=[1.5, 3.0, 8.0])
FOUR_FACTORS = dict(short_factor=[1.0, 1.1, 1.25, 1.5], long_factor=[1.5, 3.0, 5.0, 8.0])


def factors(config):
    return {f"rope_factors_{which}.weight": config.rope_scaling[f"{which}_factor"] for which in ("short", "long")}


def long_rope(w, c, scale):
    w.add_rope_scaling_orig_ctx_len(c.original_max_position_embeddings)
    w.add_rope_scaling_attn_factors(scale)


def phi3_long(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_rope_dimension_count(int(c.partial_rotary_factor * c.hidden_size // c.num_attention_heads))
    longer = c.max_position_embeddings / c.original_max_position_embeddings
    long_rope(w, c, math.sqrt(1 + math.log(longer) / math.log(c.original_max_position_embeddings)))


def phimoe(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)
    w.add_expert_count(c.num_local_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    long_rope(w, c, c.rope_scaling["long_mscale"])


def apertus(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_theta)
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)


def functions(w, model):
    of_layers = [layer.mlp.act_fn for layer in model.model.layers]
    w.add_xielu_alpha_p([f.alpha_p.item() for f in of_layers])
    w.add_xielu_alpha_n([f.alpha_n.item() for f in of_layers])
    w.add_xielu_beta([f.beta.item() for f in of_layers])
    w.add_xielu_eps([f.eps.item() for f in of_layers])


def olmo_clipped(w, c):
    olmo(w, c)
    w.add_clamp_kqv(c.clip_qkv)


def not_initialized(config):
    """The class cannot initialize norms without biases; all weights are filled anyway."""
    with no_init_weights():
        model = hf.StableLmForCausalLM(config)
    model.tie_weights()
    return model


def phi3_case(note, original, **extra):
    return small(
        "phi3", "Phi3", note,
        {"factors": dict(rope_scaling=dict(type="longrope", short_factor=[1.0] * 3, long_factor=[1.0] * 3)),
         "other factors": dict(rope_scaling=dict(type="longrope", short_factor=FACTORS["long_factor"], long_factor=FACTORS["short_factor"]))},
        phi3_long, partial_rotary_factor=0.75, pad_token_id=0, sliding_window=None, original_max_position_embeddings=original,
        rope_scaling=dict(type="longrope", **FACTORS)) | dict(made=factors, **extra)


TRAIT_CASES = {
    "phi3-long": lambda: phi3_case(
        "Sequences may be longer than the original context of 16, so that the frequencies are divided by rope_factors_long.weight, from the "
        "first position on; cosine and sine are multiplied by the key's factor.", 16, seed=71000),
    "phi3-short": lambda: phi3_case(
        "The original context is 1024: sequences that may not be longer have their frequencies divided by rope_factors_short.weight.",
        1024, seed=71100),
    "phimoe": lambda: small(
        "phimoe", "Phimoe", "Experts are chosen one after another: the weight of each is the share of its exponential among those not chosen "
        "yet that are not further below it than 0.02 times the larger of their size and its; they are not normalised. Layer norms and biases "
        "everywhere, of the output matrix too. Frequencies as in phi3-long.",
        {"one expert's share": dict(router_jitter_noise=0.5),
         "factors": dict(rope_scaling=dict(type="longrope", short_factor=[1.0] * 4, long_factor=[1.0] * 4, short_mscale=1.25,
                                           long_mscale=1.25, original_max_position_embeddings=16)),
         "scale": dict(rope_scaling=dict(type="longrope", **FOUR_FACTORS, short_mscale=1.0, long_mscale=1.0,
                                         original_max_position_embeddings=16)),
         **{f"bias of {n}": dict(zeroed=f"{n}.bias") for n in ("q_proj", "v_proj", "o_proj", "lm_head", "model.norm")}},
        phimoe, layouts.stacked, num_local_experts=6, num_experts_per_tok=2, router_jitter_noise=0.01, attention_bias=True, lm_head_bias=True,
        sliding_window=None, original_max_position_embeddings=16, tie_word_embeddings=False,
        rope_scaling=dict(type="longrope", **FOUR_FACTORS, short_mscale=1.25, long_mscale=1.25, original_max_position_embeddings=16))
    | dict(made=factors, seed=71200),
    "command-r-plus": lambda: small(
        "command-r", "Cohere", "command-r with layer norms of each head of q and k before they rotate, whose weight has a row for each head.",
        {"weights of the norms": dict(filled=("q_norm.weight", 1.0)), "epsilon 0.1": dict(layer_norm_eps=0.1)},
        command_r, logit_scale=0.375, pad_token_id=0, layer_norm_eps=1e-5, use_qk_norm=True) | dict(seed=71300),
    "stablelm-norms": lambda: small(
        "stablelm", "StableLm", "stablelm with layer norms of each head of q and k before they rotate, without biases; the weights of a layer's "
        "heads are the rows of one tensor.",
        {"weights of the norms": dict(filled=("q_layernorm.norms.1.weight", 1.0)), "epsilon 0.1": dict(layer_norm_eps=0.1)},
        stablelm, layouts.norms_of_heads, num_attention_heads=2, partial_rotary_factor=0.25, use_parallel_residual=True, layer_norm_eps=1e-5,
        qk_layernorm=True) | dict(seed=71400, model=not_initialized),
    "apertus": lambda: small(
        "apertus", "Apertus", "No gate: the function of up is xIELU, of which each layer has parameters in keys; what is squared and what is "
        "bent is softplus(alpha_p), and beta + softplus(alpha_n). RMS norm over each head of q and k before rope.",
        {"alpha_p": dict(filled=("alpha_p", 0.0)), "alpha_n": dict(filled=("alpha_n", 0.0)), "rope base 500": dict(rope_theta=500.0),
         "norm of q": dict(filled=("q_norm.weight", 1.0))},
        apertus, layouts.without_function, rope_scaling=None, rope_theta=10000.0) | dict(seed=71500, parts=functions),
    "olmo-clipped": lambda: small(
        "olmo", "Olmo", "olmo with q, k and v limited to -0.75 to 0.75.",
        {"limit": dict(clip_qkv=None), "limit 0.8": dict(clip_qkv=0.8)}, olmo_clipped, layouts.permuted, clip_qkv=0.75) | dict(seed=71600),
}
