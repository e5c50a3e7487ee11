#!/usr/bin/env python3
"""Makes a model of random weights for web-llm and the same one as a GGUF file.

    pip install gguf numpy
    python web_llm.py LIBRARY.wasm VOCABULARY.gguf FOLDER

What web-llm computes with is compiled into a library for each model;
https://github.com/mlc-ai/binary-mlc-llm-libs has them. Taken are those of Qwen2 0.5B
in q4f32_1, of which the largest there is for web-llm 0.2.48 to 0.2.79:
web-llm-models/v0_2_48/Qwen2-0.5B-Instruct-q4f32_1-ctx4k_cs1k-webgpu.wasm. The
vocabulary is that of any GGUF file of Qwen2.

Its weights are 4 bits from -7 to 7 times a scale for 32 of them, which Q4_0 has too,
from -8 to 7 with scales of 16 bits: with scales that both hold, every weight is the
same number in both.
"""

import argparse
import hashlib
import json
import pathlib

import gguf
import numpy as np

HEADS, KV_HEADS, HEAD_SIZE = 14, 2, 64
ROPE_BASE, EPSILON = 1e6, 1e-6
END_OF_TEXT = 151643
CONTROL = int(gguf.TokenType.CONTROL)
SHARD_BYTES = 1 << 25
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def parameters_of(library):
    """Shapes by name, as the library tells them."""
    data = library.read_bytes()
    text = data[data.index(b'{"model_type"'):].decode("latin1")
    about, _ = json.JSONDecoder().raw_decode(text)
    if (about["model_type"], about["quantization"]) != ("qwen2", "q4f32_1"):
        raise SystemExit(f"{library} is not of Qwen2 in q4f32_1")
    return {each["name"]: tuple(each["shape"]) for each in about["params"]}


class Shards:
    """The weights as web-llm fetches them."""

    def __init__(self, folder, shapes):
        self.folder = folder
        self.shapes = shapes
        self.bytes = bytearray()
        self.records = []
        self.files = []
        self.names = set()

    def add(self, name, array):
        if array.shape != self.shapes[name]:
            raise SystemExit(f"{name} is {array.shape} for {self.shapes[name]}")
        data = array.tobytes()
        if len(self.bytes) + len(data) > SHARD_BYTES:
            self.end_file()
        self.records.append({
            "name": name, "shape": array.shape, "dtype": str(array.dtype),
            "format": "raw", "nbytes": len(data), "byteOffset": len(self.bytes)})
        self.bytes += data
        self.names.add(name)

    def end_file(self):
        if not self.records:
            return
        name = f"params_shard_{len(self.files)}.bin"
        (self.folder / name).write_bytes(self.bytes)
        self.files.append({
            "dataPath": name, "format": "raw-shard", "nbytes": len(self.bytes),
            "records": self.records, "md5sum": hashlib.md5(self.bytes).hexdigest()})
        self.bytes, self.records = bytearray(), []

    def end(self):
        self.end_file()
        missing = set(self.shapes) - self.names
        if missing:
            raise SystemExit(f"the library has other weights too: {missing}")
        size = sum(file["nbytes"] for file in self.files)
        about = {"ParamSize": len(self.names), "ParamBytes": size}
        text = json.dumps({"metadata": about, "records": self.files})
        (self.folder / "ndarray-cache.json").write_text(text)


class Weights:
    """Random ones, for both."""

    def __init__(self, shards, writer):
        self.generator = np.random.default_rng(7)
        self.shards = shards
        self.writer = writer

    def matrix(self, name, parts):
        """`parts` are the names in the GGUF file, with the rows of each."""
        rows, words = self.shards.shapes[f"{name}.q_weight"]
        columns = words * 8
        quants = self.generator.integers(0, 15, (rows, columns), np.uint8)
        scales = self.generator.uniform(0.5, 1.5, (rows, columns // 32))
        scales = (scales / (4.3 * np.sqrt(columns))).astype(np.float16)
        nibbles = quants.reshape(rows, words, 8).astype(np.uint32)
        packed = np.zeros((rows, words), np.uint32)
        for i in range(8):
            packed |= nibbles[:, :, i] << np.uint32(4 * i)
        self.shards.add(f"{name}.q_weight", packed)
        self.shards.add(f"{name}.q_scale", scales.astype(np.float32))
        halves = (quants + 1).reshape(rows, columns // 32, 2, 16)
        blocks = np.concatenate([
            scales[:, :, None].view(np.uint8),
            halves[:, :, 0] | halves[:, :, 1] << 4], axis=2).reshape(rows, -1)
        for part, count in parts:
            self.writer.add_tensor(f"{part}.weight", blocks[:count].copy(),
                                   raw_dtype=gguf.GGMLQuantizationType.Q4_0)
            blocks = blocks[count:]

    def vector(self, name, parts, values):
        values = values.astype(np.float32)
        self.shards.add(name, values)
        for part, count in parts:
            self.writer.add_tensor(part, values[:count].copy())
            values = values[count:]


def add_weights(weights):
    shapes = weights.shards.shapes
    width, = shapes["model.norm.weight"]
    layers = len({name.split(".")[2] for name in shapes if ".layers." in name})
    units = shapes["model.layers.0.mlp.gate_up_proj.q_weight"][0] // 2
    queries, keys = HEADS * HEAD_SIZE, KV_HEADS * HEAD_SIZE
    weights.matrix("model.embed_tokens",
                   [("token_embd", shapes["model.embed_tokens.q_weight"][0])])
    for layer in range(layers):
        name, part = f"model.layers.{layer}", f"blk.{layer}"
        rows = [(f"{part}.attn_q", queries), (f"{part}.attn_k", keys),
                (f"{part}.attn_v", keys)]
        weights.matrix(f"{name}.self_attn.c_attn", rows)
        biases = weights.generator.normal(0, 0.1, queries + 2 * keys)
        weights.vector(f"{name}.self_attn.c_attn.bias",
                       [(f"{row}.bias", count) for row, count in rows], biases)
        weights.matrix(f"{name}.self_attn.o_proj", [(f"{part}.attn_output", width)])
        weights.matrix(f"{name}.mlp.gate_up_proj",
                       [(f"{part}.ffn_gate", units), (f"{part}.ffn_up", units)])
        weights.matrix(f"{name}.mlp.down_proj", [(f"{part}.ffn_down", width)])
        for norm, ours in [("input_layernorm", "attn_norm"),
                           ("post_attention_layernorm", "ffn_norm")]:
            weights.vector(f"{name}.{norm}.weight",
                           [(f"{part}.{ours}.weight", width)], np.ones(width))
    weights.vector("model.norm.weight", [("output_norm.weight", width)],
                   np.ones(width))
    return width, layers, units


def write_vocabulary(path, folder, writer):
    fields = gguf.GGUFReader(path).fields

    def listed(key):
        field = fields[f"tokenizer.ggml.{key}"]
        return [field.parts[i] for i in field.data]

    tokens, merges = ([bytes(text).decode() for text in listed(key)]
                      for key in ("tokens", "merges"))
    types = [int(kind[0]) for kind in listed("token_type")]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(END_OF_TEXT)
    writer.add_add_bos_token(False)
    form = {"add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    byte_level = {"type": "ByteLevel", **form}
    split = {"type": "Split", "pattern": {"Regex": SPLIT}, "behavior": "Isolated",
             "invert": False}
    numbered = list(enumerate(zip(tokens, types)))
    added = [{"id": i, "content": token, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False, "special": True}
             for i, (token, kind) in numbered if kind == CONTROL]
    model = {"type": "BPE", "dropout": None, "unk_token": None,
             "continuing_subword_prefix": "", "end_of_word_suffix": "",
             "fuse_unk": False, "byte_fallback": False,
             "vocab": {token: i for i, (token, kind) in numbered if kind != CONTROL},
             "merges": merges}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None,
                 "added_tokens": added, "normalizer": {"type": "NFC"},
                 "pre_tokenizer": {"type": "Sequence",
                                   "pretokenizers": [split, byte_level]},
                 "post_processor": byte_level, "decoder": byte_level, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return len(tokens)


def write_config(folder, vocabulary):
    roles = ("user", "assistant", "tool")
    config = {
        "version": "0.1.0", "model_type": "qwen2", "quantization": "q4f32_1",
        "model_config": {}, "vocab_size": vocabulary, "context_window_size": 4096,
        "sliding_window_size": -1, "prefill_chunk_size": 1024,
        "attention_sink_size": -1, "tensor_parallel_shards": 1,
        "temperature": 0.0, "top_p": 1.0, "presence_penalty": 0.0,
        "frequency_penalty": 0.0, "repetition_penalty": 1.0,
        "tokenizer_files": ["tokenizer.json"],
        "tokenizer_info": {"token_postproc_method": "byte_level",
                           "prepend_space_in_encode": False,
                           "strip_space_in_decode": False},
        "conv_template": {
            "name": "plain", "system_template": "{system_message}",
            "system_message": "", "roles": {role: role for role in roles},
            "role_templates": {role: f"{{{role}_message}}" for role in roles},
            "messages": [], "seps": ["\n"], "role_content_sep": "\n",
            "role_empty_sep": "\n", "stop_str": [], "stop_token_ids": [],
            "function_string": "", "use_function_calling": False},
        "pad_token_id": END_OF_TEXT, "bos_token_id": END_OF_TEXT, "eos_token_id": []}
    (folder / "mlc-chat-config.json").write_text(json.dumps(config))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("library", "vocabulary", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    given = parser.parse_args()
    # What web-llm adds to the address of a model.
    folder = given.folder / "web-llm/resolve/main"
    folder.mkdir(parents=True, exist_ok=True)
    shards = Shards(folder, parameters_of(given.library))
    writer = gguf.GGUFWriter(given.folder / "model.gguf", "qwen2")
    write_config(folder, write_vocabulary(given.vocabulary, folder, writer))
    width, layers, units = add_weights(Weights(shards, writer))
    shards.end()
    writer.add_context_length(4096)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(units)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    library = given.folder / "web-llm/library.wasm"
    library.write_bytes(given.library.read_bytes())


if __name__ == "__main__":
    main()
