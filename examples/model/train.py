"""Trains the fable model: tokenizer, training text, weights.

    python train.py FOLDER

Everything lands in FOLDER; what is there already is not made again, so that a stopped run goes on where it was.
One core needs about forty minutes. Used by make.sh; see README.md.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM

from fables import Fable

BEGIN, END = 0, 1
VOCABULARY = 2048
CONTEXT = 512
# Steps and the highest learning rate of each cycle: a second, gentler one after the first has come to rest
# (warm restarts, Loshchilov and Hutter 2017, arXiv:1608.03983).
CYCLES = [(9000, 1.2e-3), (5000, 7e-4)]
STEPS = sum(steps for steps, _ in CYCLES)
ROWS = 3  # of CONTEXT tokens, in each step
WARMUP = 200
CHECKPOINT_EVERY = 500
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
    """The text of all steps: rows that begin with a fable and hold as many more as fit; the last one is cut."""
    rows = np.zeros((STEPS * ROWS, CONTEXT), np.uint16)
    fables = training_fables()
    for row in rows:
        tokens = []
        while len(tokens) < CONTEXT:
            tokens += [BEGIN, *tokenizer.encode(next(fables).text).ids, END]
        row[:] = tokens[:CONTEXT]
    np.save(path, rows)


def attention(module, query, key, value, attention_mask, scaling, **_):
    """Attention in bfloat16 as two batched products, the heads that share keys in one: the fastest on a CPU."""
    batch, heads, length, width = query.shape
    groups = key.shape[1]
    query = (query * scaling).bfloat16().reshape(batch * groups, -1, width)
    key, value = (x.bfloat16().reshape(batch * groups, length, width) for x in (key, value))
    scores = torch.bmm(query, key.transpose(1, 2)).view(batch, heads, length, length) + attention_mask
    weights = scores.softmax(-1).view(batch * groups, -1, length)
    return torch.bmm(weights, value).view(batch, heads, length, width).transpose(1, 2), None


def mask_of(tokens):
    """[rows, 1, CONTEXT, CONTEXT]: 0 where a token sees an earlier one of its own fable, else minus infinity."""
    fable = (tokens == BEGIN).cumsum(1)
    seen = (fable[:, :, None] == fable[:, None, :]) & torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).tril()
    return torch.where(seen, 0.0, float("-inf")).bfloat16()[:, None]


def learning_rate(step):
    """In each cycle up in a line, then down in a line to zero."""
    for steps, highest in CYCLES:
        if step < steps:
            return highest * min((step + 1) / WARMUP, (steps - step) / (steps - WARMUP))
        step -= steps
    raise ValueError("there are not so many steps")


def parameter_groups(model):
    """Weight decay is for matrices, not for the norms."""
    return [dict(params=[p for p in model.parameters() if p.dim() > 1], weight_decay=0.1),
            dict(params=[p for p in model.parameters() if p.dim() <= 1], weight_decay=0.0)]


def train(model, rows, folder):
    log_path, checkpoint_path = folder / "training.log", folder / "checkpoint.pt"
    optimizer = torch.optim.AdamW(parameter_groups(model), betas=(0.9, 0.95), fused=True)
    first, log = 0, []
    if checkpoint_path.exists():
        saved = torch.load(checkpoint_path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first, log = saved["step"], saved["log"]
    losses, started = [], time.monotonic()
    for step in range(first, STEPS):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        batch = torch.from_numpy(rows[step * ROWS:(step + 1) * ROWS].astype(np.int64))
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(input_ids=batch, labels=batch, attention_mask=mask_of(batch)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        done = step + 1
        if done % 250 == 0:
            log.append(f"step {done:5d}  training loss {np.mean(losses):.4f} nats per token")
            log_path.write_text("\n".join(log) + "\n")
            rate = (done - first) / (time.monotonic() - started)
            print(f"{log[-1]}  ({(STEPS - done) / rate / 60:.0f} minutes left)", flush=True)
            losses = []
        if done % CHECKPOINT_EVERY == 0:
            state = dict(model=model.state_dict(), optimizer=optimizer.state_dict(), step=done, log=log)
            torch.save(state, folder / "checkpoint.new")
            (folder / "checkpoint.new").rename(checkpoint_path)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_path, rows_path = folder / "tokenizer.json", folder / "rows.npy"
    if not tokenizer_path.exists():
        print("tokenizer", flush=True)
        train_tokenizer(tokenizer_path)
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    if not rows_path.exists():
        print(f"{STEPS * ROWS * CONTEXT / 1e6:.1f} million tokens of fables", flush=True)
        make_rows(tokenizer, rows_path)
    torch.manual_seed(1)
    AttentionInterface.register("plain", attention)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCABULARY, max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, rope_theta=10000.0,
        bos_token_id=BEGIN, eos_token_id=END, initializer_range=0.06,
        tie_word_embeddings=True, attn_implementation="plain", **SHAPE))
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    train(model, np.load(rows_path), folder)
    model.save_pretrained(folder / "model")


if __name__ == "__main__":
    main()
