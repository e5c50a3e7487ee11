"""Writes cases.json: what samplers do, worked out with numpy as their sources describe it.

    python make.py

DRY: https://github.com/oobabooga/text-generation-webui/pull/5677, each place of the history compared token by token.
XTC: https://github.com/oobabooga/text-generation-webui/pull/6335, on sorted probabilities.
Dynamic temperature: https://github.com/ggml-org/llama.cpp/pull/4972. Mirostat 1: arXiv:2007.14966, algorithm 1.
"""

import json
from pathlib import Path

import numpy as np

random = np.random.default_rng(16)


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def dry_penalties(history, breakers, multiplier, base, allowed_length):
    """By token, for what would go on with a repetition."""
    longest = {}
    last = history[-1]
    if last in breakers:
        return {}
    for i in range(len(history) - 1):
        if history[i] != last or history[i + 1] in breakers:
            continue
        length = 1
        while i - length >= 0:
            token = history[-1 - length]
            if history[i - length] != token or token in breakers:
                break
            length += 1
        longest[history[i + 1]] = max(longest.get(history[i + 1], 0), length)
    return {token: multiplier * base ** (length - allowed_length) for token, length in longest.items()
            if length >= allowed_length}


def dry_case():
    vocabulary = 12
    alphabet = int(random.integers(2, vocabulary + 1))
    history = random.integers(0, alphabet, int(random.integers(2, 60))).tolist()
    if random.random() < 0.5:  # a repetition for sure
        begin = int(random.integers(0, len(history)))
        history += history[begin:begin + int(random.integers(1, 20))]
    breakers = sorted(set(random.integers(0, vocabulary, int(random.integers(0, 3))).tolist()))
    multiplier, base = round(float(random.uniform(0.1, 2)), 3), round(float(random.uniform(1, 2.5)), 3)
    allowed_length = int(random.integers(1, 5))
    last = int(random.integers(2, len(history) + 1)) if random.random() < 0.3 else -1
    seen = history[-last:] if last > 0 else history
    penalties = dry_penalties(seen, breakers, multiplier, base, allowed_length)
    return dict(vocabulary=vocabulary, history=history, breakers=breakers, multiplier=multiplier, base=base,
                allowed_length=allowed_length, tokens=last,
                penalties=[[token, penalties[token]] for token in sorted(penalties)])


def some_logits(size):
    return np.round(random.normal(0, random.uniform(0.5, 3), size), 4)


def xtc_case():
    logits = some_logits(int(random.integers(2, 12)))
    threshold = round(float(random.uniform(0.02, 0.6)), 3)
    probabilities = softmax(logits)
    order = np.argsort(-probabilities, kind="stable")
    top = [token for token in order if probabilities[token] >= threshold]
    left = set(order.tolist()) - set(int(token) for token in top[:-1])
    return dict(logits=logits.tolist(), threshold=threshold, left=sorted(left))


def temperature_case():
    logits = some_logits(int(random.integers(2, 10)))
    temperature, width = round(float(random.uniform(0.5, 1.5)), 3), round(float(random.uniform(0.1, 1)), 3)
    exponent = round(float(random.uniform(0.5, 2)), 3)
    probabilities = softmax(logits)
    entropy = -(probabilities * np.log(probabilities)).sum() / np.log(len(logits))
    low, high = max(0, temperature - width), temperature + width
    effective = low + (high - low) * entropy ** exponent
    return dict(logits=logits.tolist(), temperature=temperature, range=width, exponent=exponent,
                probabilities=softmax(logits / effective).round(6).tolist())


def mirostat_case():
    logits = np.sort(some_logits(int(random.integers(2, 400))))[::-1]
    probabilities = softmax(logits)
    tau = round(float(random.uniform(0.5, 5)), 3)
    most = 2 * tau
    looked_at = min(100, len(logits) - 1)
    i = np.arange(looked_at)
    t = np.log((i + 2) / (i + 1))
    b = np.log(probabilities[:looked_at] / probabilities[1:looked_at + 1])
    s = (t * b).sum() / (t * t).sum()
    eps = s - 1
    k = (eps * 2 ** most / (1 - len(logits) ** -eps)) ** (1 / s)
    return dict(logits=logits.tolist(), tau=tau, exact=float(k),
                count=int(np.clip(np.floor(k + 0.5), 1, len(logits))))


def main():
    cases = dict(dry=[dry_case() for _ in range(300)], xtc=[xtc_case() for _ in range(40)],
                 dynamic_temperature=[temperature_case() for _ in range(12)],
                 mirostat=[mirostat_case() for _ in range(60)])
    lines = ",\n".join(f'"{kind}": [\n' + ",\n".join(json.dumps(case) for case in list_) + "\n]"
                       for kind, list_ in cases.items())
    Path(__file__).with_name("cases.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
