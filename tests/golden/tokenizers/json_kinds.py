"""Small tokenizers of every kind and in the shape of well-known ones, made with the tokenizers package."""

import base64
import io
import json

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as sp_pb2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

from make import DEEPSEEK3, GPT4O, LLAMA3, QWEN2
from texts import TEXTS, corpus

BYTES = [f"<0x{i:02X}>" for i in range(256)]


def regex_split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior=behavior, invert=invert)


def raw_bytes():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def trained(model, trainer, normalizer=None, pre=None, decoder=None, post=None, added=()):
    """Trained without the cutter, so that merges cross its borders, unless the model needs words."""
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    t.train_from_iterator(corpus()[::3] + TEXTS, trainer)
    if decoder:
        t.decoder = decoder
    if post:
        t.post_processor = post
    for token in added:
        (t.add_special_tokens if token.special else t.add_tokens)([token])
    return t


def byte_level(pre, normalizer=None, added=(), post=None, **model):
    t = trained(models.BPE(), trainers.BpeTrainer(
        vocab_size=600, min_frequency=2, max_token_length=6, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())), pre=raw_bytes())
    state = json.loads(t.to_str())
    state["model"].update(model)
    t = Tokenizer.from_str(json.dumps(state))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    for token in added:
        (t.add_special_tokens if token.special else t.add_tokens)([token])
    if post:
        t.post_processor = post(t)
    return t


def special(*names, **flags):
    return [AddedToken(n, special=True, normalized=False, **flags) for n in names]


def bos(name):
    return lambda t: processors.TemplateProcessing(single=f"{name} $A", special_tokens=[(name, t.token_to_id(name))])


def metaspace_bpe(pre, normalizer, decoder, **model):
    """Llama 2 and its kin: characters, marks for spaces, bytes for what is unknown."""
    t = trained(models.BPE(unk_token="<unk>"), trainers.BpeTrainer(
        vocab_size=700, show_progress=False, special_tokens=["<unk>", "<s>", "</s>", *BYTES], limit_alphabet=150),
        pre=pre_tokenizers.Metaspace())
    state = json.loads(t.to_str())
    state["model"].update(dict(byte_fallback=True, fuse_unk=True, **model))
    state["added_tokens"] = [a for a in state["added_tokens"] if not a["content"].startswith("<0x")]
    t = Tokenizer.from_str(json.dumps(state))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre, decoder
    t.post_processor = bos("<s>")(t)
    t.add_tokens([AddedToken("<tool>", normalized=True, special=False)])
    return t


def trained_pieces(**options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus() + TEXTS), model_writer=model, num_threads=1, minloglevel=2, unk_id=0, bos_id=1,
        eos_id=2, pad_id=-1, input_sentence_size=0, shuffle_input_sentence=False, **options)
    proto = sp_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto


def pieces_bpe(normalizer, pre=None, strip=True):
    """As transformers writes a SentencePiece model of pairs: the merges are all pairs of pieces that are a piece, by score."""
    proto = trained_pieces(vocab_size=700, model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
                           remove_extra_whitespaces=False, allow_whitespace_only_pieces=True)
    vocab = {p.piece: i for i, p in enumerate(proto.pieces)}
    normal = [p for p in proto.pieces if p.type == p.NORMAL]
    merges = [(p.piece[:i], p.piece[i:]) for p in sorted(normal, key=lambda p: -p.score) for i in range(1, len(p.piece))
              if p.piece[:i] in vocab and p.piece[i:] in vocab]
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    t.decoder = llama_decoder(strip)
    t.add_special_tokens(special("<unk>", "<s>", "</s>"))
    t.post_processor = bos("<s>")(t)
    return t


def llama_decoder(strip=True):
    return decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
                             + ([decoders.Strip(" ", 1, 0)] if strip else []))


def precompiled():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=model, num_threads=1, minloglevel=2, vocab_size=200,
        model_type="unigram", normalization_rule_name="nmt_nfkc", input_sentence_size=0)
    proto = sp_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)


def unigram(normalizer, pre, byte_fallback=False, added=()):
    t = trained(models.Unigram(), trainers.UnigramTrainer(
        vocab_size=500, show_progress=False, unk_token="<unk>",
        special_tokens=["<pad>", "</s>", "<unk>"] + (BYTES if byte_fallback else [])),
        pre=pre_tokenizers.Metaspace())
    state = json.loads(t.to_str())
    state["model"]["byte_fallback"] = byte_fallback
    state["added_tokens"] = [a for a in state["added_tokens"] if not a["content"].startswith("<0x")]
    t = Tokenizer.from_str(json.dumps(state))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.Metaspace(prepend_scheme=pre.prepend_scheme if hasattr(pre, "prepend_scheme") else "always")
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    for token in added:
        (t.add_special_tokens if token.special else t.add_tokens)([token])
    return t


def wordpiece(lowercase, **options):
    return trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(
        vocab_size=600, show_progress=False, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]),
        normalizer=normalizers.BertNormalizer(lowercase=lowercase, **options), pre=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(), post=processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)))


def wordlevel(pre, normalizer=None, decoder=None):
    return trained(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(
        vocab_size=800, show_progress=False, special_tokens=["[UNK]"]), normalizer=normalizer, pre=pre, decoder=decoder)


def char_bpe(**model):
    """BPE over characters with marks of what goes on or ends."""
    trainer = {k: v for k, v in model.items() if k in ("continuing_subword_prefix", "end_of_word_suffix")}
    return trained(models.BPE(unk_token="<unk>", **model), trainers.BpeTrainer(
        vocab_size=500, show_progress=False, special_tokens=["<unk>"], limit_alphabet=90, **trainer),
        pre=pre_tokenizers.WhitespaceSplit())


def kinds():
    """Name and maker of each."""
    sequence, split = pre_tokenizers.Sequence, regex_split
    gpt2 = lambda space=False: pre_tokenizers.ByteLevel(add_prefix_space=space)
    chat = special("<|begin_of_text|>", "<|im_start|>", "<|im_end|>")
    user = [AddedToken("<tool>", normalized=False, special=False)]
    out = {
        "gpt-2": lambda: byte_level(gpt2(), added=special("<|endoftext|>")),
        "llama-3": lambda: byte_level(sequence([split(LLAMA3), raw_bytes()]), added=chat + user,
                                      post=bos("<|begin_of_text|>"), ignore_merges=True),
        "qwen-2": lambda: byte_level(sequence([split(QWEN2), raw_bytes()]), normalizers.NFC(), chat + user),
        "deepseek-v3": lambda: byte_level(sequence([split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK3),
                                                    raw_bytes()]), added=chat),
        "o200k": lambda: byte_level(sequence([split(GPT4O, "removed", True), raw_bytes()]), added=chat,
                                    ignore_merges=True),
        "falcon": lambda: byte_level(sequence([pre_tokenizers.Punctuation("contiguous"), gpt2(),
                                               pre_tokenizers.Digits(), split("[0-9][0-9][0-9]")]), added=chat),
        "command-r": lambda: byte_level(sequence([pre_tokenizers.Digits(individual_digits=True), gpt2()]),
                                        normalizers.NFC(), chat),
        "roberta": lambda: byte_level(gpt2(True), added=special("<s>", "</s>") + [
            AddedToken("<mask>", lstrip=True, special=True, normalized=True)],
            post=lambda t: processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")))),
        "phi": lambda: byte_level(gpt2(), added=[AddedToken(" " * n, normalized=True) for n in range(2, 9)]
                                  + [AddedToken("\t\t", normalized=False)]),
        "gemma": lambda: metaspace_bpe(pre_tokenizers.Split(" ", "merged_with_previous"),
                                       normalizers.Replace(" ", "▁"), llama_decoder(False)),
        "llama-2": lambda: metaspace_bpe(None, normalizers.Sequence([normalizers.Prepend("▁"),
                                                                     normalizers.Replace(" ", "▁")]), llama_decoder()),
        "llama-2-pieces": lambda: pieces_bpe(normalizers.Sequence([normalizers.Prepend("▁"),
                                                                   normalizers.Replace(" ", "▁")])),
        "gemma-pieces": lambda: pieces_bpe(normalizers.Replace(" ", "▁"),
                                           pre_tokenizers.Split(" ", "merged_with_previous"), False),
        "bert-uncased": lambda: wordpiece(True),
        "bert-cased": lambda: wordpiece(False),
        "t5": lambda: unigram(precompiled(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                                      pre_tokenizers.Metaspace()])),
        "xlm-r": lambda: unigram(normalizers.Sequence([precompiled(), normalizers.Replace(Regex(" {2,}"), " ")]),
                                 pre_tokenizers.Metaspace(), added=special("<mask>", lstrip=True)),
        "xlm-r-stripped": lambda: unigram(normalizers.Sequence([
            precompiled(), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")]),
            pre_tokenizers.Metaspace(), added=special("<mask>", lstrip=True)),
        "unigram-bytes": lambda: unigram(normalizers.NFKC(), pre_tokenizers.Metaspace(prepend_scheme="first"), True,
                                         user + special("<w>", single_word=True) + special("<r>", rstrip=True)),
        "nmt": lambda: unigram(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(),
                                                     normalizers.Lowercase(), normalizers.Strip()]),
                               pre_tokenizers.Metaspace(prepend_scheme="never")),
        "word-level": lambda: wordlevel(pre_tokenizers.Whitespace(), normalizers.Sequence([normalizers.NFD(),
                                                                                           normalizers.Lowercase()])),
        "bpe-prefix": lambda: char_bpe(continuing_subword_prefix="##"),
        "bpe-suffix": lambda: char_bpe(end_of_word_suffix="</w>"),
        "bpe-fuse": lambda: char_bpe(fuse_unk=True),
        "fixed-length": lambda: wordlevel(pre_tokenizers.FixedLength(3)),
        "delimiter": lambda: wordlevel(pre_tokenizers.CharDelimiterSplit("e")),
    }
    for scheme in ("always", "first", "never"):
        for cut in (True, False):
            out[f"mistral-{scheme}-{'cut' if cut else 'whole'}"] = lambda scheme=scheme, cut=cut: metaspace_bpe(
                pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cut), None, decoders.Sequence(
                    [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme=scheme)]))
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        for invert in (False, True):
            out[f"split-{behavior}{'-invert' if invert else ''}"] = lambda behavior=behavior, invert=invert: byte_level(
                sequence([split(r"\s+$|\w\b|[\p{Han}&&[^一]]|[[:punct:]]|(?=x)", behavior, invert), raw_bytes()]))
    return out
