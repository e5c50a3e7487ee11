"""Evaluates a fable model by its loss on fables that training has not seen.

    python evaluate.py FABLE.gguf [COUNT]

Transformers runs the weights of the file, as quantized.
"""

import json
import sys

import torch

from fables import Fable
from llama_gguf import read_model, read_tokenizer


def held_out_loss(model, tokenizer, count):
    """Sums over fables: the model's nats, the grammar's nats, tokens."""
    begin, end = model.config.bos_token_id, model.config.eos_token_id
    nats = grammar = tokens = 0
    for index in range(count):
        fable = Fable(f"held out {index}")
        ids = [begin, *tokenizer.encode(fable.text).ids, end]
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids])).logits[0, :-1]
        nats += torch.nn.functional.cross_entropy(logits, torch.tensor(ids[1:]), reduction="sum").item()
        grammar += fable.nats
        tokens += len(ids) - 1
    return nats, grammar, tokens


def main():
    path = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    nats, grammar, tokens = held_out_loss(read_model(path), read_tokenizer(path), count)
    print(json.dumps(dict(fables=count, tokens_per_fable=round(tokens / count, 1),
                          model_nats_per_fable=round(nats / count, 3), grammar_nats_per_fable=round(grammar / count, 3),
                          model_nats_per_token=round(nats / tokens, 5), model_over_grammar=round(nats / grammar, 4))))


if __name__ == "__main__":
    main()
