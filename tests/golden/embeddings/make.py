#!/usr/bin/env python3
"""Writes small models with random weights as sentence-transformers saves them,
and what it makes of some texts: NAME/ and NAME.f32, beside texts.json.

    pip install -r ../requirements.txt sentence-transformers==5.1.2
    python3 make.py
"""

import json
import pathlib
import random
import shutil

import numpy
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer, models
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
from tokenizers import models as kinds
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    BertTokenizerFast,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3Model,
)

HERE = pathlib.Path(__file__).parent
WORDS = (
    "a an the spoon fork knife runs walks eats sees red green blue old new moon sun tree river "
    "cat dog bird under over with from and or not very small large"
).split()
PROMPTS = {"query": "the red ", "document": "a tree "}


def texts():
    """Short and long ones, beginning with one word."""
    draw = random.Random(7)
    return [" ".join(draw.choice(WORDS) for _ in range(n)) for n in (1, 2, 3, 5, 8, 13, 21, 34, 40, 4, 6, 1)]


def small(folder):
    """Leaves what a model is made of; no card, no settings of training."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.name in ("README.md", "vocab.txt", "special_tokens_map.json", "tokenizer_config.json") and path.is_file():
            if path.name != "tokenizer_config.json":
                path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def words_tokenizer(folder):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS + [f"##{c}" for c in "esnr"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    return BertTokenizerFast(str(folder / "vocab.txt")), len(pieces)


def bert_config(vocabulary, **more):
    return BertConfig(
        vocab_size=vocabulary, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, initializer_range=0.4, **more)


def spread(model):
    """Biases and norms that no sign or order of them could hide in."""
    for name, value in model.named_parameters():
        if "bias" in name or "norm" in name.lower():
            torch.nn.init.normal_(value, 1.0 if name.endswith("weight") else 0.0, 0.2)


def save_parts(name, model, tokenizer):
    folder = HERE / "parts"
    shutil.rmtree(folder, ignore_errors=True)
    spread(model)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def finish(name, rows):
    small(HERE / name)
    numpy.asarray(rows, dtype="<f4").tofile(HERE / f"{name}.f32")
    shutil.rmtree(HERE / "parts", ignore_errors=True)


def bert(name, mode, normalize):
    torch.manual_seed(3)
    tokenizer, size = words_tokenizer(HERE / "parts")
    base = save_parts(name, BertModel(bert_config(size)), tokenizer)
    transformer = models.Transformer(base, max_seq_length=64)
    modules = [transformer, models.Pooling(32, pooling_mode=mode)]
    if normalize:
        modules.append(models.Normalize())
    model = SentenceTransformer(modules=modules, device="cpu", prompts=PROMPTS)
    rows = [model.encode(texts()), model.encode(texts(), prompt_name="query")]
    model.save(str(HERE / name))
    finish(name, rows)


def bytes_tokenizer():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("e", "d"), ("o", "n"), ("\u0120", "a")]
    pieces = alphabet + [a + b for a, b in merges]
    tokenizer = Tokenizer(kinds.BPE({p: i for i, p in enumerate(pieces)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    end = tokenizer.token_to_id("<|endoftext|>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <|endoftext|>", pair="$A $B <|endoftext|>", special_tokens=[("<|endoftext|>", end)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|endoftext|>", eos_token="<|endoftext|>"), len(pieces) + 1


def qwen3(name):
    torch.manual_seed(5)
    tokenizer, size = bytes_tokenizer()
    config = Qwen3Config(
        vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
        intermediate_size=48, max_position_embeddings=512, initializer_range=0.3, tie_word_embeddings=True)
    base = save_parts(name, Qwen3Model(config), tokenizer)
    transformer = models.Transformer(base, tokenizer_args={"padding_side": "left"})
    model = SentenceTransformer(
        modules=[transformer, models.Pooling(32, pooling_mode="lasttoken"), models.Normalize()], device="cpu",
        prompts=PROMPTS)
    rows = [model.encode(texts()), model.encode(texts(), prompt_name="query")]
    model.save(str(HERE / name))
    finish(name, rows)


def cross_encoder(name):
    torch.manual_seed(11)
    tokenizer, size = words_tokenizer(HERE / "parts")
    base = save_parts(name, BertForSequenceClassification(bert_config(size, num_labels=1)), tokenizer)
    model = CrossEncoder(base, device="cpu", max_length=64)
    pairs = [(texts()[3], text) for text in texts()]
    rows = model.predict(pairs)  # with a sigmoid behind
    model.save(str(HERE / name))
    finish(name, rows)


def decoder_reranker(name):
    """What CrossEncoder has no class for: of a model that generates text, the probability of "yes" beside "no"."""
    torch.manual_seed(13)
    words = {"yes": 0, "no": 1, "?": 2, "[UNK]": 3, **{word: i + 4 for i, word in enumerate(WORDS)}}
    tokenizer = Tokenizer(kinds.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    config = Qwen3Config(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=8, intermediate_size=48, max_position_embeddings=512, initializer_range=0.3, tie_word_embeddings=False)
    model = Qwen3ForCausalLM(config)
    spread(model)
    model.eval().save_pretrained(HERE / name)
    (HERE / name / "generation_config.json").unlink()
    tokenizer.save(str(HERE / name / "tokenizer.json"))
    rows = []
    for text in texts():
        ids = torch.tensor([tokenizer.encode(f"the {texts()[3]} over {text} ?").ids])
        with torch.no_grad():
            logits = model(ids).logits[0, -1]
        rows.append(torch.softmax(logits[[0, 1]], 0)[0].item())
    finish(name, rows)


bert("bert-mean", "mean", True)
bert("bert-cls", "cls", False)
qwen3("qwen3-last")
cross_encoder("bert-cross")
decoder_reranker("qwen3-yes-no")
(HERE / "texts.json").write_text(json.dumps({"texts": texts(), "query": texts()[3]}, indent=1) + "\n")
