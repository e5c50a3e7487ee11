#!/usr/bin/env python3
"""What evaluating and measuring importance must come to, computed with transformers in float64 and numpy.

It writes text.txt, choices.jsonl and expected.json for models of ../architectures. See README.md.

    python make.py
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "architectures"))
from cases import CASES  # noqa: E402
from make import ORACLE, build, logits_of, with_common  # noqa: E402
from more_cases import MORE_CASES  # noqa: E402

BOS, SPACE, FIRST_BYTE = 1, 259, 3
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def model_of(name):
    seed = json.loads((HERE.parent / "architectures" / f"{name}.json").read_text())["seed"]
    return build(with_common((CASES | MORE_CASES)[name]()), seed)


def rounded(name):
    """What rc_model_convert makes with the type BF16."""
    model = model_of(name)
    for p in model.parameters():
        if p.dim() > 1:
            p.data.copy_(p.data.to(torch.bfloat16).double())
    return model


def tokens_of(text):
    """Capital letters and digits are in no piece of ../architectures/vocabularies.py, so each is the token of its
    byte; a space is a token, and there is one more before a text."""
    return [BOS, SPACE] + [SPACE if c == " " else FIRST_BYTE + ord(c) for c in text]


def log_probabilities(model, tokens):
    x = logits_of(model, tokens)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def windows(tokens, context, stride):
    first = context // 2 + 1 if stride == context else context - stride
    for begin in range(0, len(tokens) - context + 1, stride):
        yield [BOS] + tokens[begin + 1:begin + context], first


def mean(values):
    values = np.array(values)
    return [values.mean(), values.std(ddof=1) / math.sqrt(len(values))]


def exponential(values):
    value, error = mean(values)
    return [math.exp(value), math.exp(value) * error]


def score(model, other, tokens, context, stride):
    surprise, others, divergence, agreement, squares = [], [], [], [], []
    for window, first in windows(tokens, context, stride):
        rows = log_probabilities(model, window)[first - 1:-1]
        beside = log_probabilities(other, window)[first - 1:-1]
        for p, q, token in zip(beside, rows, window[first:]):
            surprise.append(-q[token])
            others.append(-p[token])
            divergence.append((np.exp(p) * (p - q)).sum())
            agreement.append(float(p.argmax() == q.argmax()))
            squares.append((math.exp(q[token]) - math.exp(p[token])) ** 2)
    bits = [each / math.log(2) for each in mean(surprise)]  # each token is a byte
    root = math.sqrt(np.mean(squares))
    return {"context": context, "stride": stride, "tokens": len(surprise), "perplexity": exponential(surprise),
            "bits_per_byte": bits, "against_perplexity": exponential(others),
            "perplexity_ratio": exponential(np.array(surprise) - np.array(others)), "divergence": mean(divergence),
            "divergence_99": sorted(divergence)[math.ceil(0.99 * len(divergence)) - 1], "divergence_max": max(divergence),
            "agreement": mean(agreement), "probability_difference": [root, mean(squares)[1] / (2 * root)]}


def questions(rng, count):
    def word(least, most):
        return "".join(rng.choice(list(LETTERS), rng.integers(least, most + 1)))
    for i in range(count):
        choices = [word(1, 6) for _ in range(int(rng.integers(2, 5)))]
        context = word(1, 12) + (" " if i % 3 == 0 else "")
        yield {"context" if i % 2 else "question": context, "choices": choices, "answer": int(rng.integers(len(choices)))}


def answered(model, question):
    """Whether the right choice is the likeliest, and the likeliest per byte."""
    context = question.get("context", question.get("question"))
    first = len(tokens_of(context))
    plain, by_length = [], []
    for choice in question["choices"]:
        tokens = tokens_of(context + ("" if context.endswith(" ") else " ") + choice)
        rows = log_probabilities(model, tokens)
        plain.append(sum(rows[i - 1][tokens[i]] for i in range(first, len(tokens))))
        by_length.append(plain[-1] / len(choice))
    for scores in (plain, by_length):  # rounding must not decide
        ordered = sorted(scores)
        assert ordered[-1] - ordered[-2] > 1e-3
    return [float(np.argmax(scores) == question["answer"]) for scores in (plain, by_length)]


NAMES = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output",
         "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down", "gate": "ffn_gate_inp",
         "w1": "ffn_gate_exps", "w3": "ffn_up_exps", "w2": "ffn_down_exps"}


def importance(model, tokens, context, experts):
    """Sums of squared inputs of every product, and of how many rows."""
    sums, counts = {}, {}

    def hook(name, expert):
        def add(_, inputs):
            x = inputs[0].reshape(-1, inputs[0].shape[-1]).numpy()
            if name not in sums:
                shape = (experts,) if expert is not None else (1,)
                sums[name], counts[name] = np.zeros(shape + (x.shape[1],)), np.zeros(shape)
            sums[name][expert or 0] += (x ** 2).sum(0)
            counts[name][expert or 0] += len(x)
        return add

    for path, module in model.named_modules():
        if not isinstance(module, torch.nn.Linear):
            continue
        parts = path.split(".")
        expert = int(parts[parts.index("experts") + 1]) if "experts" in parts else None
        name = "output.weight" if path == "lm_head" else f"blk.{parts[2]}.{NAMES[parts[-1]]}.weight"
        module.register_forward_pre_hook(hook(name, expert))
    for window, _ in windows(tokens, context, context):
        logits_of(model, window)
    return {name: {"sums": [float(f"{x:.9g}") for x in sums[name].ravel()], "counts": counts[name].tolist()} for name in sorted(sums)}


def main():
    rng = np.random.default_rng(17)
    text = "".join(rng.choice(list(LETTERS), 210))
    (HERE / "text.txt").write_text(text)
    asked = list(questions(rng, 40))
    (HERE / "choices.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
    llama, mistral, mixtral = (model_of(name) for name in ("llama2", "mistral", "mixtral"))
    tokens = tokens_of(text)
    answers = np.array([answered(llama, each) for each in asked])
    expected = {
        "oracle": ORACLE,
        "scores": [score(llama, mistral, tokens, *window) for window in ((40, 40), (33, 33), (32, 12))],
        "rounded": score(rounded("llama2"), llama, tokens, 16, 16),
        "choices": {"accuracy": mean(answers[:, 0]), "accuracy_by_length": mean(answers[:, 1])},
        "importance": {"context": 24, "llama2": importance(llama, tokens, 24, 0),
                       "mixtral": importance(mixtral, tokens, 24, mixtral.config.num_local_experts)},
    }
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
