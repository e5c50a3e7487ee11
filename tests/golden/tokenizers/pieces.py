"""SentencePiece models of both kinds, trained with the sentencepiece package: one of each way to prepare a text."""

import io
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as sp_pb2

from texts import TEXTS, corpus

COMMON = dict(num_threads=1, minloglevel=2, input_sentence_size=0, shuffle_input_sentence=False,
              character_coverage=0.985)
SYMBOLS = ["<tool>", "<|im_start|>", "\n\n", "ﬁx", "▁▁", "▁▁▁▁"]
PLAIN = dict(normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True)

MODELS = {
    "bpe": dict(model_type="bpe", vocab_size=520, byte_fallback=True, split_digits=True, **PLAIN),
    "bpe-nfkc": dict(model_type="bpe", vocab_size=320, normalization_rule_name="nmt_nfkc",
                     user_defined_symbols=SYMBOLS[:4], control_symbols=["<mask>"]),
    "bpe-fold": dict(model_type="bpe", vocab_size=520, byte_fallback=True, normalization_rule_name="nfkc_cf",
                     remove_extra_whitespaces=False, user_defined_symbols=SYMBOLS),
    "bpe-no-prefix": dict(model_type="bpe", vocab_size=520, byte_fallback=True, add_dummy_prefix=False,
                          user_defined_symbols=SYMBOLS, **PLAIN),
    "bpe-prefix": dict(model_type="bpe", vocab_size=320, user_defined_symbols=SYMBOLS, **PLAIN),
    "unigram": dict(model_type="unigram", vocab_size=300, hard_vocab_limit=False, pad_id=3),
    "unigram-bytes": dict(model_type="unigram", vocab_size=560, hard_vocab_limit=False, byte_fallback=True,
                          normalization_rule_name="nfkc", user_defined_symbols=SYMBOLS),
    "unigram-fold": dict(model_type="unigram", vocab_size=300, hard_vocab_limit=False,
                         normalization_rule_name="nmt_nfkc_cf", user_defined_symbols=SYMBOLS[:2],
                         control_symbols=["<mask>"], unk_id=2, bos_id=-1, eos_id=1, pad_id=0),
    "unigram-plain": dict(model_type="unigram", vocab_size=300, hard_vocab_limit=False, add_dummy_prefix=False,
                          user_defined_symbols=SYMBOLS, **PLAIN),
    "unigram-rules": dict(model_type="unigram", vocab_size=300, hard_vocab_limit=False, user_defined_symbols=SYMBOLS[:3]),
}
# Rules of a small character map: code points, and what takes their place.
RULES = {"unigram-rules": "FB01\t66 69\nE9\t65\n65 301\t65\nA0\t20\n9\t20\nA\t20\n200B\t\nA8\t20 308\n"}


def train(name):
    """The bytes of tokenizer.model, without what was only for training."""
    model = io.BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        options = dict(MODELS[name])
        if name in RULES:
            rules.write(RULES[name])
            rules.flush()
            options["normalization_rule_tsv"] = rules.name
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus() + TEXTS), model_writer=model,
                                                 **COMMON, **options)
    proto = sp_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    proto.normalizer_spec.normalization_rule_tsv = ""
    return proto.SerializeToString()
