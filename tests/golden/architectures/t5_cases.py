"""Models that read a source, and their encoders alone. Used by make_t5.py and folders.py."""

import transformers as hf

# Pieces of the unigram model: special ones, a mark of spaces with and without words behind it, and signs.
SPECIAL = ["<pad>", "</s>", "<unk>"]
WORDS = ["translate", "English", "to", "German", "the", "and", "fox", "lion", "house", "is", "wonderful", "of", "a", "s", "That"]
SIGNS = [chr(c) for c in range(ord("a"), ord("z") + 1)] + list("ABEGT.,:!?'-") + ["th", "he", "in", "er", "an", "en", "ing", "on"]
EXTRA = ["<extra_id_1>", "<extra_id_0>"]
PIECES = SPECIAL + ["\u2581"] + ["\u2581" + word for word in WORDS] + SIGNS + EXTRA
N_VOCAB = len(PIECES) + 6  # rows that no piece has, as published models have them
SCORES = [0.0 if p in SPECIAL + EXTRA else -2.0 - 0.125 * i for i, p in enumerate(PIECES)]
EOS = PIECES.index("</s>")

PROMPT = "translate English to German: That house is wonderful."

T5 = dict(vocab_size=N_VOCAB, d_model=32, d_kv=12, d_ff=48, num_layers=2, num_decoder_layers=3, num_heads=4, dropout_rate=0.0, pad_token_id=0,
          eos_token_id=EOS, decoder_start_token_id=0, n_positions=512)


def case(arch, model, make, note, without, seed, **settings):
    """`without`: by what, the settings that differ, or what of make.build's `zeroed`."""
    return dict(arch=arch, model=model, make=make, note=note, without=without, seed=seed, config={**T5, **settings})


BUCKETS = {"far buckets": dict(relative_attention_max_distance=64)}

T5_CASES = {
    "t5": lambda: case(
        "t5", hf.T5ForConditionalGeneration, hf.T5Config,
        "T5 v1.0. An encoder whose rows see the whole source, and layers that generate, which attend to the rows before and then to those "
        "of the encoder. Scores are not scaled; within a sequence they have a bias by head and bucket of distance, which the first layer "
        "has for all, in 32 buckets up to distance 128. A rectifier without a gate. The output matrix is the embedding table, behind a "
        "division by the root of the width. d_kv is not d_model / num_heads.",
        {"biases of the encoder": dict(zeroed="encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
         "biases of the decoder": dict(zeroed="decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
         "the source": dict(zeroed="EncDecAttention.o.weight"), "rectifier": dict(feed_forward_proj="gelu"), "epsilon 0.1": dict(layer_norm_epsilon=0.1),
         **BUCKETS}, seed=81000),
    "flan-t5": lambda: case(
        "t5", hf.T5ForConditionalGeneration, hf.T5Config,
        "T5 v1.1: GELU (tanh) with a gate, an output matrix of its own. 20 buckets; more layers in the encoder than behind it.",
        {"tanh": dict(feed_forward_proj="gated-gelu", dense_act_fn="gelu"), **BUCKETS},
        seed=81100, feed_forward_proj="gated-gelu", tie_word_embeddings=False, relative_attention_num_buckets=20, num_layers=3, num_decoder_layers=2),
    "mt5": lambda: case(
        "t5", hf.MT5ForConditionalGeneration, hf.MT5Config,
        "As flan-t5, under another model_type; generation begins with another token than that of padding; heads as wide as the model together.",
        BUCKETS, seed=81210, feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_layers=2, num_decoder_layers=2, d_kv=8,
        decoder_start_token_id=5),
    "umt5": lambda: case(
        "t5", hf.UMT5ForConditionalGeneration, hf.UMT5Config,
        "As flan-t5, with biases of its own in each layer.",
        {"biases of layer 1": dict(zeroed="encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight"),
         "biases of layer 2": dict(zeroed="decoder.block.2.layer.0.SelfAttention.relative_attention_bias.weight"), **BUCKETS},
        seed=81310, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "t5encoder": lambda: case(
        "t5encoder", hf.T5EncoderModel, hf.T5Config,
        "The encoder of T5 v1.0 alone. Its last norm is part of it.",
        {"biases": dict(zeroed="encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"), **BUCKETS}, seed=81400, num_decoder_layers=None),
    "t5encoder-gated": lambda: case(
        "t5encoder", hf.UMT5EncoderModel, hf.UMT5Config,
        "The encoder of UMT5 alone: GELU (tanh) with a gate, biases in each layer.",
        {"biases of layer 1": dict(zeroed="encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight"), **BUCKETS}, seed=81500,
        feed_forward_proj="gated-gelu", num_decoder_layers=None),
}


def write_tokenizer_json(path):
    """For a folder: the tokenizer that the file has."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, processors
    t = tokenizers.Tokenizer(models.Unigram([(p, float(s)) for p, s in zip(PIECES, SCORES)], unk_id=PIECES.index("<unk>"), byte_fallback=False))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")])
    t.decoder = decoders.Metaspace(replacement="\u2581", prepend_scheme="always")
    t.add_special_tokens(SPECIAL + EXTRA)
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", EOS)])
    t.save(str(path))
    return t
