"""Writes the trained model as GGUF; see llama_gguf.py.

    python convert.py FOLDER FABLE.gguf

FOLDER is the output of train.py.
"""

import json
import sys
from pathlib import Path

import gguf
from transformers import LlamaForCausalLM

from llama_gguf import add_shape, add_tokens, add_weights, write


def main():
    folder, path = Path(sys.argv[1]), sys.argv[2]
    model = LlamaForCausalLM.from_pretrained(folder / "model")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("fable")
    writer.add_description("Writes short fables. Trained by the Runcible project on text of its own grammar.")
    writer.add_license("MIT")
    add_shape(writer, model.config)
    special = add_tokens(writer, json.loads((folder / "tokenizer.json").read_text()))
    writer.add_bos_token_id(special["<|begin|>"])
    writer.add_eos_token_id(special["<|end|>"])
    writer.add_add_bos_token(True)
    add_weights(writer, model)
    write(writer)


if __name__ == "__main__":
    main()
