"""Encoders besides BERT: the logits of these files are the rows of the last layer."""

import gguf
import transformers as hf

import layouts
from vocabularies import N_VOCAB, word_pieces

ENCODER = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)


def gemma_embedding(w, c):
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_head_count_kv(c.num_key_value_heads)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_rope_freq_base(c.rope_theta)
    w.add_sliding_window(12)  # as the folders have it; the class makes 7 of it, those of one side
    pooled(w, gguf.PoolingType.MEAN)


def encoder(arch, model, make, note, without, keys, layout=layouts.plain, seed=0, **settings):
    """`settings` beside those of ENCODER; the rest as in more_cases.py."""
    return dict(arch=arch, model=model, make=make, note=note, without=without, keys=keys, layout=layout, kv=False, encoder=True, seed=seed,
                config={"vocab_size": N_VOCAB, **ENCODER, **settings})


def pooled(w, pooling):
    w.add_causal_attention(False)
    w.add_pooling_type(pooling)


def roberta(w, c):
    w.add_layer_norm_eps(c.layer_norm_eps)
    pooled(w, gguf.PoolingType.CLS)


def modern_bert(w, c):
    w.add_layer_norm_eps(c.norm_eps)
    w.add_rope_freq_base(c.global_rope_theta)
    w.add_rope_freq_base_swa(c.local_rope_theta)
    w.add_sliding_window(c.local_attention)
    w.add_sliding_window_pattern(c.global_attn_every_n_layers)
    pooled(w, gguf.PoolingType.MEAN)


ENCODER_CASES = {
    "gemma-embedding": lambda: encoder(
        "gemma-embedding", hf.Gemma3TextModel, hf.Gemma3TextConfig,
        "gemma3 as an encoder: in five of six layers a row sees 6 positions to each side, half of the window that the key says; the last "
        "norm is part of the model.",
        {"window 14": dict(sliding_window=14), "rows behind": dict(use_bidirectional_attention=False),
         "base of windows": dict(rope_local_base_freq=1000000.0)},
        gemma_embedding, layouts.one_added, seed=70300, num_hidden_layers=6, num_key_value_heads=1, head_dim=12, query_pre_attn_scalar=12,
        intermediate_size=40, sliding_window=12, rope_theta=1000000.0, use_bidirectional_attention=True, pad_token_id=0),
    "xlm-roberta": lambda: encoder(
        "bert", lambda config: hf.XLMRobertaModel(config, add_pooling_layer=False), hf.XLMRobertaConfig,
        "Positions begin behind that of padding, 1: position_embd.weight is without the first two rows of the model's table. Otherwise as "
        "bert.",
        {"rows behind": dict(is_decoder=True), "positions": dict(zeroed="position_embeddings.weight"),
         "token types": dict(zeroed="token_type_embeddings.weight")},
        roberta, layouts.roberta, seed=70100, vocab_size=len(word_pieces()), max_position_embeddings=66, pad_token_id=1, type_vocab_size=1)
    | dict(unused_positions=2),
    "modern-bert": lambda: encoder(
        "modern-bert", hf.ModernBertModel, hf.ModernBertConfig,
        "Layer norms without biases before attention and feed-forward, but none before the first attention; layers 0 and 3 see all, the "
        "others 6 positions to each side, half of the window that the key says; another rotary base where there is a window; q, k and v in "
        "one tensor, gate and up in one, gate first; GELU with erf; the last norm is part of the model.",
        {"window 14": dict(local_attention=14), "base of windows": dict(local_rope_theta=160000.0), "pattern": dict(global_attn_every_n_layers=2),
         "erf": dict(hidden_activation="gelu_new"), "epsilon 0.1": dict(norm_eps=0.1)},
        modern_bert, seed=70200, num_hidden_layers=4, local_attention=12, global_attn_every_n_layers=3, pad_token_id=0, reference_compile=False),
}
