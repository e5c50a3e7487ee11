"""Trains the fabulist model: tokenizer, conversations, weights.

    python train.py FOLDER

All results are written to FOLDER. Existing results are not made again, so that a stopped run goes on where it was. One
core needs about an hour. One thread computes, so that the same processor gives the same bytes again. Used by make.sh;
see README.md.
"""

import re
import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from conversations import conversation_of
from rendering import render
from training import Schedule, new_model, train

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PADDING, BEGIN, END = 0, 1, 2
VOCABULARY = 1536
CONTEXT = 1024
SCHEDULE = Schedule(cycles=[(4400, 1.5e-3), (1800, 7e-4)], rows=2)
SHAPE = dict(hidden_size=224, intermediate_size=640, num_hidden_layers=4, num_attention_heads=7,
             num_key_value_heads=1, head_dim=32)
NOT_A_LABEL = -100  # of transformers


def plain_parts(index):
    """Returns the text of a conversation without its special tokens."""
    whole = "".join(text for text, _ in render(conversation_of(f"train {index}")))
    return [part for part in re.split("|".join(map(re.escape, SPECIAL)), whole) if part]


def train_tokenizer(path):
    """Trains the tokenizer. Digits stay separate, so that numbers can be copied one by one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        (text for i in range(8000) for text in plain_parts(i)),
        trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL,
                            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(path))


def tokens_of(tokenizer, index):
    """Returns tokens and labels of a conversation: only the text of the assistant is learnt."""
    tokens, labels = [], []
    for text, learnt in render(conversation_of(f"train {index}")):
        part = tokenizer.encode(text).ids
        tokens += part
        labels += part if learnt else [NOT_A_LABEL] * len(part)
    return tokens[:CONTEXT], labels[:CONTEXT]


def make_rows(tokenizer, path):
    """Returns [steps * rows, 3, CONTEXT]: tokens, labels, and the number of the conversation of each token. A row holds
    as many conversations as fit."""
    rows = np.zeros((SCHEDULE.steps * SCHEDULE.rows, 3, CONTEXT), np.int16)
    rows[:, 1] = NOT_A_LABEL
    index = 0
    tokens, labels = tokens_of(tokenizer, index)
    for row in rows:
        begin, number = 0, 1
        while begin + len(tokens) <= CONTEXT:
            end = begin + len(tokens)
            row[0, begin:end], row[1, begin:end], row[2, begin:end] = tokens, labels, number
            begin, number, index = end, number + 1, index + 1
            tokens, labels = tokens_of(tokenizer, index)
    np.save(path, rows)
    print(f"{index} conversations, {(rows[:, 2] > 0).sum() / 1e6:.1f} million tokens, of which "
          f"{(rows[:, 1] >= 0).sum() / 1e6:.1f} are learnt", flush=True)


def batches(rows):
    def batch_of(step):
        part = torch.from_numpy(rows[step * SCHEDULE.rows:(step + 1) * SCHEDULE.rows].astype(np.int64))
        return part[:, 0], part[:, 1], part[:, 2]
    return batch_of


def main():
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_path, rows_path = folder / "tokenizer.json", folder / "rows.npy"
    if not tokenizer_path.exists():
        print("tokenizer", flush=True)
        train_tokenizer(tokenizer_path)
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    if not rows_path.exists():
        print("conversations", flush=True)
        make_rows(tokenizer, rows_path)
    model = new_model(VOCABULARY, CONTEXT, BEGIN, END, SHAPE)
    train(model, batches(np.load(rows_path)), SCHEDULE, folder)
    model.save_pretrained(folder / "model")


if __name__ == "__main__":
    main()
