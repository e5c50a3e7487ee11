#!/usr/bin/env python3
"""Compares rc_model_quantize with llama.cpp's llama_model_quantize.

    pip install llama-cpp-python gguf numpy
    python quantize.py --library build/release/lib/libruncible.so --output FILE.json

A model of random weights in the shapes of a small llama is quantized by both,
to each type alone (llama.cpp's `pure`), with the same threads, without
importance and with a random one. The error is the sum of squares of what the
weights have changed, times the importance; the time that of the whole file,
the least of several runs.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import struct
import tempfile
import time

import gguf
import numpy as np

# general.file_type of a file of llama.cpp in which all matrices are of the type.
TYPES = {"Q8_0": 7, "Q6_K": 18, "Q5_K": 16, "Q5_1": 9, "Q5_0": 8, "Q4_K": 14,
         "Q4_1": 3, "Q4_0": 2, "IQ4_NL": 25, "IQ4_XS": 30, "NVFP4": 39, "Q3_K": 11,
         "IQ3_S": 26, "IQ3_XXS": 23, "Q2_K": 10, "IQ2_S": 29, "IQ2_XS": 20,
         "IQ2_XXS": 19, "TQ2_0": 37, "TQ1_0": 36, "IQ1_M": 31, "IQ1_S": 24}
# Neither makes these without an importance.
WEIGHTED = {"IQ3_XXS", "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ1_M", "IQ1_S"}
WIDTH, HIDDEN = 1024, 2816
# Mixes in our words: the type by itself needs "all of them".
PURE = {"Q4_0", "Q5_0", "Q4_1", "Q5_1", "IQ4_NL", "IQ4_XS", "Q2_K", "TQ2_0",
        "TQ1_0", "NVFP4", "IQ3_S", *WEIGHTED}


def shapes(layers):
    yield "token_embd.weight", (1024, WIDTH)
    yield "output.weight", (1024, WIDTH)
    for layer in range(layers):
        for name, shape in [("attn_q", (WIDTH, WIDTH)), ("attn_k", (WIDTH, WIDTH)),
                            ("attn_v", (WIDTH, WIDTH)), ("attn_output", (WIDTH, WIDTH)),
                            ("ffn_gate", (HIDDEN, WIDTH)), ("ffn_up", (HIDDEN, WIDTH)),
                            ("ffn_down", (WIDTH, HIDDEN))]:
            yield f"blk.{layer}.{name}.weight", shape


def write_model(path, layers):
    generator = np.random.default_rng(5)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(16)
    writer.add_head_count_kv(16)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // 16)
    writer.add_vocab_size(1024)
    writer.add_tokenizer_model("none")
    weights = {}
    for name, shape in shapes(layers):
        # Columns of different size and heavy tails, as trained weights have.
        columns = np.exp(0.3 * generator.standard_normal(shape[1]))
        values = 0.02 * generator.standard_t(8, shape) * columns
        weights[name] = values.astype(np.float32)
        writer.add_tensor(name, weights[name])
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(layers):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def write_importance(path, importance):
    """In llama.cpp's older form."""
    with open(path, "wb") as file:
        file.write(struct.pack("<i", len(importance)))
        for name, values in importance.items():
            file.write(struct.pack("<i", len(name)) + name.encode())
            file.write(struct.pack("<ii", 1, len(values)) + values.tobytes())
        file.write(struct.pack("<ii", 1, 4) + b"text")


class Options(ctypes.Structure):
    """rc_quantize_options of runcible/convert.h."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_char_p),
                ("importance", ctypes.c_char_p), ("tensors", ctypes.POINTER(ctypes.c_char_p)),
                ("tensor_count", ctypes.c_size_t), ("threads", ctypes.c_int),
                ("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p)]


def by_runcible(runcible, arguments, source, target, name, importance_path):
    options = Options()
    runcible.rc_quantize_options_init(ctypes.byref(options),
                                      ctypes.c_size_t(ctypes.sizeof(options)))
    options.type = name.encode()
    options.threads = arguments.threads
    if name in PURE:
        pattern = rf"^(token_embd|output|blk.*(attn|ffn)_(?!norm).*)\.weight$={name}"
        options.tensors = (ctypes.c_char_p * 1)(pattern.encode())
        options.tensor_count = 1
    if importance_path:
        options.importance = importance_path.encode()
    begin = time.perf_counter()
    status = runcible.rc_model_quantize(source.encode(), target.encode(), ctypes.byref(options))
    seconds = time.perf_counter() - begin
    if status != 0:
        runcible.rc_error_message.restype = ctypes.c_char_p
        raise RuntimeError(runcible.rc_error_message().decode())
    return seconds


@contextlib.contextmanager
def quiet():
    """llama.cpp writes about each tensor."""
    kept = [os.dup(1), os.dup(2)]
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for each in [*kept, nothing]:
            os.close(each)


def by_llama(llama, arguments, source, target, name, importance):
    class Data(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p),
                    ("size", ctypes.c_size_t)]
    options = llama.llama_model_quantize_default_params()
    options.nthread = arguments.threads
    options.ftype = TYPES[name]
    options.pure = True
    if importance:
        array = (Data * (len(importance) + 1))()
        for each, (tensor, values) in zip(array, importance.items()):
            each.name, each.data, each.size = tensor.encode(), values.ctypes.data, len(values)
        kind = dict(options._fields_)["imatrix"]
        options.imatrix = ctypes.cast(array, kind)
    begin = time.perf_counter()
    with quiet():
        status = llama.llama_model_quantize(source.encode(), target.encode(),
                                            ctypes.byref(options))
    return time.perf_counter() - begin if status == 0 else None


def error(path, name, weights, importance):
    total = 0.0
    for tensor in gguf.GGUFReader(path).tensors:
        if tensor.name not in weights:
            continue
        if tensor.tensor_type.name != name:
            raise RuntimeError(f"{path}: {tensor.name} is {tensor.tensor_type.name}, not {name}")
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        rest = (values.astype(np.float64) - weights[tensor.name]) ** 2
        total += float((rest * importance[tensor.name]).sum() if importance else rest.sum())
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="libruncible.so")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--layers", type=int, default=1,
                        help="the quick types want more")
    parser.add_argument("--types", default=",".join(TYPES))
    arguments = parser.parse_args()
    import llama_cpp
    runcible = ctypes.CDLL(arguments.library)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source, ours, theirs, file = (str(pathlib.Path(folder, each)) for each in
                                      ("source.gguf", "ours.gguf", "theirs.gguf", "i.dat"))
        weights = write_model(source, arguments.layers)
        generator = np.random.default_rng(6)
        random = {name: np.exp(generator.standard_normal(shape[1])).astype(np.float32)
                  for name, shape in shapes(arguments.layers)}
        write_importance(file, random)
        for name in arguments.types.split(","):
            for importance in (None, random):
                if importance is None and name in WEIGHTED:
                    continue
                runs = [by_llama(llama_cpp, arguments, source, theirs, name, importance)
                        for _ in range(arguments.runs)]
                if None in runs:
                    print(f"{name:7} llama.cpp makes none: llama_model_quantize fails", flush=True)
                    continue
                seconds = [min(by_runcible(runcible, arguments, source, ours, name, importance and file)
                               for _ in range(arguments.runs)), min(runs)]
                errors = [error(path, name, weights, importance) for path in (ours, theirs)]
                rows.append({"type": name, "importance": importance is not None,
                             "error": errors[0], "error_llama": errors[1],
                             "seconds": seconds[0], "seconds_llama": seconds[1]})
                print(f"{name:7} {'weighted' if importance else '':9}"
                      f"error {errors[0] / errors[1]:.4f} of llama.cpp's, "
                      f"time {seconds[0]:.2f} s and {seconds[1]:.2f} s: "
                      f"{seconds[0] / seconds[1]:.2f}", flush=True)
    arguments.output.write_text(json.dumps(
        {"machine": platform.processor() or platform.machine(), "layers": arguments.layers,
         "threads": arguments.threads, "llama_cpp_python": llama_cpp.__version__,
         "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
