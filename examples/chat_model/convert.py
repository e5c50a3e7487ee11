"""Writes the trained model as GGUF; see ../model/llama_gguf.py.

    python convert.py FOLDER FABULIST.gguf

FOLDER is the output of train.py.
"""

import json
import sys
from pathlib import Path

import gguf
from transformers import LlamaForCausalLM

from llama_gguf import add_shape, add_tokens, add_weights, write
from rendering import TEMPLATE


def main():
    folder, path = Path(sys.argv[1]), sys.argv[2]
    model = LlamaForCausalLM.from_pretrained(folder / "model")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("fabulist")
    writer.add_description("Talks about twenty fables. Trained by the Runcible project on conversations of its own.")
    writer.add_license("MIT")
    add_shape(writer, model.config)
    special = add_tokens(writer, json.loads((folder / "tokenizer.json").read_text()))
    writer.add_eos_token_id(special["<|im_end|>"])
    writer.add_pad_token_id(special["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    add_weights(writer, model)
    write(writer)


if __name__ == "__main__":
    main()
