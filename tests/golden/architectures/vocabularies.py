"""The small vocabularies of the models, and how a file holds them."""

import gguf

PIECES = ["\u2581", "\u2581a", "e", "t", "a", "o", "n", "i", "th", "in", "\u2581th", "the", "\u2581the"]


def vocabulary():
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + PIECES
    scores = [0.0] * 259 + [-float(i) for i in range(len(PIECES))]
    types = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    types += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(PIECES)
    return tokens, scores, types


def word_pieces():
    """Of the "bert" tokenizer: pieces that begin a word begin with U+2581, others go on."""
    signs = [chr(c) for c in range(ord("!"), ord("~") + 1)]
    words = ["the", "and", "of", "to", "in", "fox", "lion"]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + ["\u2581" + s for s in signs + words] + signs


N_VOCAB = len(vocabulary()[0])


def write_tokenizer(w, arch, config):
    if arch == "bert":
        pieces = word_pieces()
        w.add_token_type_count(config.type_vocab_size)
        w.add_tokenizer_model("bert")
        w.add_tokenizer_pre("bert-bge")
        w.add_token_list(pieces)
        w.add_token_types([gguf.TokenType.CONTROL if p[0] == "[" and len(p) > 1 else gguf.TokenType.NORMAL for p in pieces])
        for key, p in [("unknown", "[UNK]"), ("seperator", "[SEP]"), ("padding", "[PAD]"), ("cls", "[CLS]"), ("mask", "[MASK]")]:
            w.add_uint32(f"tokenizer.ggml.{key}_token_id", pieces.index(p))
        return
    tokens, scores, types = vocabulary()
    w.add_tokenizer_model("llama")
    w.add_tokenizer_pre("default")
    w.add_token_list(tokens)
    w.add_token_scores(scores)
    w.add_token_types(types)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_eos_token(False)
    if arch.startswith("gemma"):
        w.add_add_space_prefix(False)
