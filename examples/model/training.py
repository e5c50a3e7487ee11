"""Trains the models in steps with checkpoints, so that a stopped run goes on where it was."""

import time
from dataclasses import dataclass
from typing import List, Tuple

import numpy as np
import torch
from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM


@dataclass(frozen=True)
class Schedule:
    """Steps and the highest learning rate of each cycle: a second, gentler one comes after the first has come to rest
    (warm restarts, Loshchilov and Hutter 2017, arXiv:1608.03983)."""

    cycles: List[Tuple[int, float]]
    rows: int  # in each step
    warmup: int = 200
    checkpoint_every: int = 500

    @property
    def steps(self):
        return sum(steps for steps, _ in self.cycles)

    def learning_rate(self, step):
        """Returns the rate of a step: in each cycle up in a line, then down in a line to zero."""
        for steps, highest in self.cycles:
            if step < steps:
                return highest * min((step + 1) / self.warmup, (steps - step) / (steps - self.warmup))
            step -= steps
        raise ValueError("there are not so many steps")


def attention(module, query, key, value, attention_mask, scaling, **_):
    """Attention in bfloat16 as two batched products, the heads that share keys in one: the fastest on a CPU."""
    batch, heads, length, width = query.shape
    groups = key.shape[1]
    query = (query * scaling).bfloat16().reshape(batch * groups, -1, width)
    key, value = (x.bfloat16().reshape(batch * groups, length, width) for x in (key, value))
    scores = torch.bmm(query, key.transpose(1, 2)).view(batch, heads, length, length) + attention_mask
    weights = scores.softmax(-1).view(batch * groups, -1, length)
    return torch.bmm(weights, value).view(batch, heads, length, width).transpose(1, 2), None


def mask_of(texts):
    """Returns [rows, 1, length, length]: 0 where a token sees an earlier token of the same text, else minus infinity.
    `texts` numbers the texts of each row."""
    length = texts.shape[1]
    seen = (texts[:, :, None] == texts[:, None, :]) & torch.ones(length, length, dtype=torch.bool).tril()
    return torch.where(seen, 0.0, float("-inf")).bfloat16()[:, None]


def new_model(vocabulary, context, begin, end, shape):
    torch.manual_seed(1)
    AttentionInterface.register("plain", attention)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=vocabulary, max_position_embeddings=context, rms_norm_eps=1e-5, rope_theta=10000.0,
        bos_token_id=begin, eos_token_id=end, initializer_range=0.06,
        tie_word_embeddings=True, attn_implementation="plain", **shape))
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    return model


def parameter_groups(model):
    """Weight decay is for matrices, not for the norms."""
    return [dict(params=[p for p in model.parameters() if p.dim() > 1], weight_decay=0.1),
            dict(params=[p for p in model.parameters() if p.dim() <= 1], weight_decay=0.0)]


def train(model, batch_of, schedule, folder):
    """`batch_of(step)` gives tokens, labels and the numbers of texts, all [rows, length]."""
    log_path, checkpoint_path = folder / "training.log", folder / "checkpoint.pt"
    optimizer = torch.optim.AdamW(parameter_groups(model), betas=(0.9, 0.95), fused=True)
    first, log = 0, []
    if checkpoint_path.exists():
        saved = torch.load(checkpoint_path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first, log = saved["step"], saved["log"]
    losses, started = [], time.monotonic()
    for step in range(first, schedule.steps):
        for group in optimizer.param_groups:
            group["lr"] = schedule.learning_rate(step)
        tokens, labels, texts = batch_of(step)
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(input_ids=tokens, labels=labels, attention_mask=mask_of(texts)).loss
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
            print(f"{log[-1]}  ({(schedule.steps - done) / rate / 60:.0f} minutes left)", flush=True)
            losses = []
        if done % schedule.checkpoint_every == 0:
            state = dict(model=model.state_dict(), optimizer=optimizer.state_dict(), step=done, log=log)
            torch.save(state, folder / "checkpoint.new")
            (folder / "checkpoint.new").rename(checkpoint_path)
