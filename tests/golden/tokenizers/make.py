#!/usr/bin/env python3
"""Small vocabularies and the ids that Hugging Face tokenizers and sentencepiece give for many texts.

For every vocabulary it writes NAME.gguf (no tensors) and NAME.json. See README.md.
Versions: ../requirements.txt.

    python make.py
"""

import collections
import io
import json
from pathlib import Path

import gguf
import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2 as sp_pb2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        trainers)

from texts import SPECIAL_TEXTS, TEXTS, corpus

HERE = Path(__file__).resolve().parent

# ---------------------------------------------------------------- files


def open_gguf(name, arch):
    w = gguf.GGUFWriter(HERE / f"{name}.gguf", arch)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    return w


def close_gguf(w):
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def write_cases(name, cases):
    lines = [json.dumps(c, ensure_ascii=True, separators=(", ", ": ")) for c in cases]
    (HERE / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


# ---------------------------------------------------------------- byte-level BPE

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"

LLAMA3 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BLANKS
QWEN2 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BLANKS
QWEN35 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + BLANKS
GPT4O = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BLANKS)
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|"
          r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BLANKS)
SEED_CODER = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + BLANKS
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"""
             r""" ?[\p{P}\p{S}]+[\r\n]*|""" + BLANKS)

# letters with case, as DeepSeek LLM lists them (pairs of first and last)
CASED = """41 5A 61 7A B5 B5 C0 D6 D8 F6 F8 1BA 1BC 1BF 1C4 293 295 2AF 370 373 376 377 37B 37D 37F 37F 386 386 388 38A
38C 38C 38E 3A1 3A3 3F5 3F7 481 48A 52F 531 556 10A0 10C5 13A0 13F5 13F8 13FD 1C90 1CBA 1CBD 1CBF 1D00 1D2B 1D6B 1D77
1D79 1D9A 1E00 1F15 1F18 1F1D 1F20 1F45 1F48 1F4D 1F50 1F57 1F59 1F59 1F5B 1F5B 1F5D 1F5D 1F5F 1F7D 1F80 1FB4 1FB6 1FBC
1FBE 1FBE 1FC2 1FC4 1FC6 1FCC 1FD0 1FD3 1FD6 1FDB 1FE0 1FEC 1FF2 1FF4 1FF6 1FFC 2102 2102 2107 2107 210A 2113 2115 2115
2119 211D 2124 2124 2126 2126 2128 2128 212A 212D 212F 2134 2139 2139 213C 213F 2145 2149 214E 214E 2183 2184 2C00 2C7B
2C7E 2CE4 2CEB 2CEE 2CF2 2CF3 A640 A66D A680 A69B A722 A76F A771 A787 A78B A78E AB70 ABBF FB00 FB06 FB13 FB17 FF21 FF3A
FF41 FF5A 10400 1044F 104B0 104D3 104D8 104FB 10C80 10CB2 10CC0 10CF2 118A0 118DF 1E900 1E943""".split()
CASED = "".join(f"{chr(int(a, 16))}-{chr(int(b, 16))}" for a, b in zip(CASED[::2], CASED[1::2]))
CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"

# name of the pre-tokenizer: (NFC first, steps, note); where a step is in doubt, only the texts on which it does not
# matter are recorded. gpt-2, llama-bpe, qwen2, starcoder and falcon agree with recorded ids of the real vocabularies.
# a step is a regular expression (each match a piece), "gpt-2" (ByteLevel's own), "digits", "punctuation"
PRE = {
    "gpt-2": (False, ["gpt-2"], None),
    "llama-bpe": (False, [LLAMA3], "ignore_merges"),
    "smaug-bpe": (False, [LLAMA3], None),
    "seed-coder": (False, [SEED_CODER], None),
    "qwen2": (True, [QWEN2], None),
    "qwen35": (True, [QWEN35], None),
    "gpt-4o": (False, [GPT4O], None),
    "tekken": (False, [TEKKEN], "ignore_merges in doubt"),
    "deepseek-llm": (False, ["[\r\n]", rf"\s?[{CASED}]+", "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
                             r"\s+$", CJK, "digits"], "digits in doubt"),
    "deepseek-coder": (False, ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, "digits"], None),
    "deepseek-v3": (False, [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", DEEPSEEK3], None),
    "falcon": (False, ["punctuation", "gpt-2", "number", "[0-9][0-9][0-9]"], "number in doubt"),
    "starcoder": (False, ["digits", "gpt-2"], None),
    "refact": (False, ["digits", "gpt-2"], None),
    "smollm": (False, ["digits", "gpt-2"], None),
    "command-r": (True, ["digits", "gpt-2"], None),
    "mpt": (True, ["gpt-2"], None),
}


def pre_tokenizer(steps):
    out = []
    for step in steps:
        if step == "gpt-2":
            out.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True))
        elif step == "digits":
            out.append(pre_tokenizers.Digits(individual_digits=True))
        elif step == "number":
            out.append(pre_tokenizers.Digits(individual_digits=False))
        elif step == "punctuation":
            out.append(pre_tokenizers.Punctuation(behavior="contiguous"))
        else:
            out.append(pre_tokenizers.Split(Regex(step), behavior="isolated"))
    if "gpt-2" not in steps:
        out.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    return pre_tokenizers.Sequence(out)


CONTROLS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
USER = "<tool>"


def train_bpe():
    """Merges learnt without any pre-tokenizer, and on the test texts too, so that they cross every boundary
    a pre-tokenizer sets: an expression that splits in the wrong place gives other ids."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    t.train_from_iterator(corpus()[::3] + TEXTS + TEXTS[3:], trainers.BpeTrainer(
        vocab_size=595, min_frequency=2, max_token_length=5, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    model = json.loads(t.to_str())["model"]
    vocab = sorted(model["vocab"], key=model["vocab"].get)
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]]
    # not the result of any merge: only a look-up of the whole piece (ignore_merges) finds it
    vocab.append("\u0120worldwide")
    return vocab, merges


def bpe_tokenizer(vocab, merges, nfc, steps, ignore_merges):
    t = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(vocab)}, merges=merges, ignore_merges=ignore_merges))
    if nfc:
        t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizer(steps)
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(c, special=True, normalized=False) for c in CONTROLS])
    t.add_tokens([AddedToken(USER, special=False, normalized=False)])
    return t


def hf_cases(t, texts, special):
    cases = []
    for text in texts:
        ids = t.encode(text, add_special_tokens=False).ids
        cases.append({"text": text, "ids": ids, "decoded": t.decode(ids, skip_special_tokens=False)})
    for text in special:
        for parse in (True, False):
            t.encode_special_tokens = not parse
            ids = t.encode(text, add_special_tokens=False).ids
            cases.append({"text": text, "parse_special": parse, "ids": ids,
                          "decoded": t.decode(ids, skip_special_tokens=False)})
        t.encode_special_tokens = False
    return cases


def byte_level_bpe():
    vocab, merges = train_bpe()
    texts = TEXTS + ["Hello worldwide", "worldwide", " worldwides"]
    special = [s.format(CONTROLS[1], CONTROLS[2], USER) for s in SPECIAL_TEXTS]
    first = None
    for pre, (nfc, steps, note) in PRE.items():
        name = f"bpe-{pre}"
        t = bpe_tokenizer(vocab, merges, nfc, steps, note == "ignore_merges")
        cases = hf_cases(t, texts, special)
        doubtful = None
        if note == "ignore_merges in doubt":
            doubtful = bpe_tokenizer(vocab, merges, nfc, steps, True)
        elif note == "digits in doubt":
            doubtful = bpe_tokenizer(vocab, merges, nfc, [r"\p{N}+" if s == "digits" else s for s in steps], False)
        elif note == "number in doubt":
            doubtful = bpe_tokenizer(vocab, merges, nfc, [s for s in steps if s != "number"], False)
        if doubtful:
            other = hf_cases(doubtful, texts, special)
            cases = [a for a, b in zip(cases, other) if a["ids"] == b["ids"]]
        if nfc:
            plain = bpe_tokenizer(vocab, merges, False, steps, False)
            for c in cases:
                plain.encode_special_tokens = not c.get("parse_special", True)
                if plain.encode(c["text"], add_special_tokens=False).ids != c["ids"]:
                    c["nfc"] = True
        write_cases(name, cases)

        w = open_gguf(name, "llama")
        tokens = vocab + CONTROLS + [USER]
        w.add_tokenizer_model("gpt2")
        w.add_tokenizer_pre(pre)
        w.add_token_list(tokens)
        w.add_token_types([gguf.TokenType.NORMAL] * len(vocab) + [gguf.TokenType.CONTROL] * len(CONTROLS)
                          + [gguf.TokenType.USER_DEFINED])
        w.add_token_merges([" ".join(m) for m in merges])
        w.add_bos_token_id(len(vocab))
        w.add_eos_token_id(len(vocab))
        w.add_add_bos_token(False)
        close_gguf(w)

        ids = {(c["text"], c.get("parse_special")): c["ids"] for c in cases}
        first = first or ids
        print(f"{name:20} {len(cases)} cases, {sum(ids[k] != first[k] for k in ids)} unlike gpt-2")


# ---------------------------------------------------------------- sentencepiece


def train_sentencepiece(**options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=model, num_threads=1, minloglevel=2, unk_id=0, bos_id=1,
        eos_id=2, pad_id=-1, input_sentence_size=0, shuffle_input_sentence=False, **options)
    proto = sp_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()), proto


def add_pieces(w, proto):
    kinds = sp_pb2.ModelProto.SentencePiece.Type
    types = {kinds.NORMAL: gguf.TokenType.NORMAL, kinds.UNKNOWN: gguf.TokenType.UNKNOWN,
             kinds.CONTROL: gguf.TokenType.CONTROL, kinds.USER_DEFINED: gguf.TokenType.USER_DEFINED,
             kinds.BYTE: gguf.TokenType.BYTE, kinds.UNUSED: gguf.TokenType.UNUSED}
    w.add_token_list([p.piece for p in proto.pieces])
    w.add_token_scores([p.score for p in proto.pieces])
    w.add_token_types([types[p.type] for p in proto.pieces])
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)


def sp_cases(sp, texts):
    """sentencepiece never parses control tokens in a text."""
    cases = []
    for text in texts:
        ids = sp.encode(text)
        cases.append({"text": text, "parse_special": False, "ids": ids, "decoded": sp.decode(ids)})
    return cases


def sentencepiece_models():
    special = [s.format("<s>", "</s>", "<start_of_turn>") for s in SPECIAL_TEXTS]

    common = dict(model_type="bpe", byte_fallback=True, split_digits=True, normalization_rule_name="identity",
                  remove_extra_whitespaces=False, allow_whitespace_only_pieces=True, character_coverage=0.985)
    for name, prefix, symbols in [("spm", True, []), ("spm-no-prefix", False, ["<start_of_turn>", "\n\n"])]:
        sp, proto = train_sentencepiece(vocab_size=520, add_dummy_prefix=prefix, user_defined_symbols=symbols, **common)
        w = open_gguf(name, "llama")
        w.add_tokenizer_model("llama")
        w.add_tokenizer_pre("default")
        add_pieces(w, proto)
        w.add_add_space_prefix(prefix)
        w.add_add_bos_token(True)
        w.add_add_eos_token(False)
        close_gguf(w)
        write_cases(name, sp_cases(sp, TEXTS + special))
        print(f"{name:20} {len(TEXTS + special)} cases, {len(proto.pieces)} pieces")

    for name, options in [("unigram", dict(normalization_rule_name="nmt_nfkc")),
                          ("unigram-plain", dict(normalization_rule_name="identity", remove_extra_whitespaces=False,
                                                 add_dummy_prefix=False))]:
        sp, proto = train_sentencepiece(model_type="unigram", vocab_size=400, hard_vocab_limit=False, character_coverage=0.985, **options)
        spec = proto.normalizer_spec
        w = open_gguf(name, "t5")
        w.add_tokenizer_model("t5")
        w.add_tokenizer_pre("default")
        add_pieces(w, proto)
        w.add_add_space_prefix(spec.add_dummy_prefix)
        w.add_remove_extra_whitespaces(spec.remove_extra_whitespaces)
        if spec.precompiled_charsmap:
            w.add_precompiled_charsmap(spec.precompiled_charsmap)
        w.add_add_bos_token(False)
        w.add_add_eos_token(True)
        close_gguf(w)
        write_cases(name, sp_cases(sp, TEXTS + special))
        print(f"{name:20} {len(TEXTS + special)} cases, {len(proto.pieces)} pieces, "
              f"{len(spec.precompiled_charsmap)} bytes of character map")


# ---------------------------------------------------------------- WordPiece


def wordpiece_vocabulary(normalizer, splitter, specials, size):
    """Characters, then words and parts of words by frequency. (The trainer of tokenizers gives another
    vocabulary at each run.)"""
    count = collections.Counter()
    for line in corpus():
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(line)):
            count[word] += 4
            for n in (2, 3, 4):
                if len(word) > n:
                    count[word[:n]] += 1
                    count["##" + word[-n:]] += 1
    characters = sorted({c for word in count for c in word})
    pieces = specials + characters + ["##" + c for c in characters if c.isalnum()]
    for piece, _ in sorted(count.items(), key=lambda p: (-p[1], p[0])):
        if piece not in pieces and len(pieces) < size:
            pieces.append(piece)
    return pieces


def wordpiece():
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    vocab = wordpiece_vocabulary(normalizer, splitter, specials, 480)
    t = Tokenizer(models.WordPiece(vocab={p: i for i, p in enumerate(vocab)}, unk_token="[UNK]",
                                   max_input_chars_per_word=100))
    t.normalizer = normalizer
    t.pre_tokenizer = splitter
    t.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    t.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in specials])

    texts = TEXTS + ["The cats and the others; hellos worlds", "a" * 120]
    write_cases("wordpiece", hf_cases(t, texts, [s.format("[SEP]", "[MASK]", "[CLS]") for s in SPECIAL_TEXTS]))

    w = open_gguf("wordpiece", "bert")
    w.add_token_type_count(2)
    w.add_tokenizer_model("bert")
    w.add_tokenizer_pre("bert-bge")
    w.add_token_list([p if p in specials else p[2:] if p.startswith("##") else "\u2581" + p for p in vocab])
    w.add_token_types([gguf.TokenType.CONTROL if p in specials else gguf.TokenType.NORMAL for p in vocab])
    for key, p in [("unknown", "[UNK]"), ("seperator", "[SEP]"), ("padding", "[PAD]"), ("cls", "[CLS]"), ("mask", "[MASK]")]:
        w.add_uint32(f"tokenizer.ggml.{key}_token_id", vocab.index(p))
    close_gguf(w)
    print(f"{'wordpiece':20} {len(texts)} texts, {len(vocab)} pieces")


# ---------------------------------------------------------------- byte pair encoding of whole texts


def whole_text():
    """As in Gemma 4: pieces of characters, spaces that are visible signs, bytes for what is no piece. Files hold the merges."""
    controls, users = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", CONTROLS[1], CONTROLS[2]], [USER]
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.train_from_iterator(corpus()[::3] + TEXTS, trainers.BpeTrainer(
        vocab_size=700, min_frequency=2, max_token_length=8, show_progress=False,
        special_tokens=[*controls, *users, *(f"<0x{b:02X}>" for b in range(256))], limit_alphabet=120))
    model = json.loads(t.to_str())["model"]
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]]
    t = Tokenizer(models.BPE(vocab=model["vocab"], merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.add_special_tokens([AddedToken(c, special=True, normalized=False) for c in controls if c != "<unk>"])
    t.add_tokens([AddedToken(u, special=False, normalized=False) for u in users])
    cases = hf_cases(t, TEXTS, [s.format(CONTROLS[1], CONTROLS[2], USER) for s in SPECIAL_TEXTS])
    write_cases("whole-text", cases)
    vocab = sorted(model["vocab"], key=model["vocab"].get)
    types = {**{p: gguf.TokenType.CONTROL for p in controls}, "<unk>": gguf.TokenType.UNKNOWN, **{p: gguf.TokenType.USER_DEFINED for p in users},
             **{f"<0x{b:02X}>": gguf.TokenType.BYTE for b in range(256)}}
    w = open_gguf("whole-text", "gemma4")
    w.add_tokenizer_model("gemma4")
    w.add_token_list(vocab)
    w.add_token_scores([-1000.0] * len(vocab))
    w.add_token_types([types.get(p, gguf.TokenType.NORMAL) for p in vocab])
    w.add_token_merges([" ".join(m) for m in merges])
    w.add_bos_token_id(vocab.index("<bos>"))
    w.add_eos_token_id(vocab.index("<eos>"))
    w.add_unk_token_id(vocab.index("<unk>"))
    w.add_add_space_prefix(False)
    w.add_add_bos_token(True)
    close_gguf(w)
    print(f"{'whole-text':20} {len(cases)} texts, {len(vocab)} pieces")


if __name__ == "__main__":
    print(f"tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__}")
    byte_level_bpe()
    sentencepiece_models()
    wordpiece()
    whole_text()
