#!/usr/bin/env python3
"""Converts the folders of draw.py with llama.cpp's converter, to by_llama_cpp.gguf within each.

    pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36, unpack it, and
    python by_llama_cpp.py llama_cpp_python-0.3.36/vendor/llama.cpp TARGET

The folders have no tokenizer, so that the converter writes none here. A folder that it refuses gets by_llama_cpp.txt with its words.
"""

import logging
import sys
from pathlib import Path

import torch


def main():
    root, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    sys.path[:0] = [str(root), str(root / "gguf-py")]
    import gguf
    assert Path(gguf.__file__).resolve().is_relative_to(root)
    from conversion import get_model_class
    from conversion.base import ModelBase, ModelType, get_model_architecture
    logging.disable(logging.CRITICAL)

    def no_vocabulary(self, *arguments, **named):
        vocabulary = self.hparams.get("vocab_size") or self.hparams.get("text_config", {}).get("vocab_size")
        self.gguf_writer.add_vocab_size(vocabulary)

    torch.set_num_threads(1)
    for folder in sorted(path.parent for path in target.glob("*/config.json")):
        result, words = folder / "by_llama_cpp.gguf", folder / "by_llama_cpp.txt"
        result.unlink(missing_ok=True)
        words.unlink(missing_ok=True)
        try:
            with torch.inference_mode():
                parameters = ModelBase.load_hparams(folder, False)
                kind = get_model_class(get_model_architecture(parameters, ModelType.TEXT))
                kind.set_vocab = no_vocabulary
                kind(folder, gguf.LlamaFileType.ALL_F32, result).write()
        except BaseException as e:  # some of them end the process
            words.write_text(f"{type(e).__name__}: {e}\n")
            result.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
