"""Trains the fable model: tokenizer, training text, weights.

    python train.py FOLDER

All results are written to FOLDER. Existing results are not made again, so that a stopped run goes on where it was.
One core needs about forty minutes. Used by make.sh; see README.md.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from fables import Fable
from training import Schedule, new_model, train

BEGIN, END = 0, 1
VOCABULARY = 2048
CONTEXT = 512
SCHEDULE = Schedule(cycles=[(9000, 1.2e-3), (5000, 7e-4)], rows=3)
SHAPE = dict(hidden_size=192, intermediate_size=512, num_hidden_layers=4, num_attention_heads=6,
             num_key_value_heads=2, head_dim=32)


def training_fables():
    index = 0
    while True:
        yield Fable(f"train {index}")
        index += 1


def train_tokenizer(path):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fables = training_fables()
    tokenizer.train_from_iterator(
        (next(fables).text for _ in range(20000)),
        trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=["<|begin|>", "<|end|>"],
                            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tokenizer.save(str(path))


def make_rows(tokenizer, path):
    """Returns the text of all steps: rows that begin with a fable and hold as many more as fit; the last one is cut."""
    rows = np.zeros((SCHEDULE.steps * SCHEDULE.rows, CONTEXT), np.uint16)
    fables = training_fables()
    for row in rows:
        tokens = []
        while len(tokens) < CONTEXT:
            tokens += [BEGIN, *tokenizer.encode(next(fables).text).ids, END]
        row[:] = tokens[:CONTEXT]
    np.save(path, rows)


def batches(rows):
    """Returns the tokens of each step, which are all labels, and the fable of each token."""
    def batch_of(step):
        tokens = torch.from_numpy(rows[step * SCHEDULE.rows:(step + 1) * SCHEDULE.rows].astype(np.int64))
        return tokens, tokens, (tokens == BEGIN).cumsum(1)
    return batch_of


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_path, rows_path = folder / "tokenizer.json", folder / "rows.npy"
    if not tokenizer_path.exists():
        print("tokenizer", flush=True)
        train_tokenizer(tokenizer_path)
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    if not rows_path.exists():
        print(f"{SCHEDULE.steps * SCHEDULE.rows * CONTEXT / 1e6:.1f} million tokens of fables", flush=True)
        make_rows(tokenizer, rows_path)
    model = new_model(VOCABULARY, CONTEXT, BEGIN, END, SHAPE)
    train(model, batches(np.load(rows_path)), SCHEDULE, folder)
    model.save_pretrained(folder / "model")


if __name__ == "__main__":
    main()
