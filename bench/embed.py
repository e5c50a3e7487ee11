#!/usr/bin/env python3
"""Embeds 10,000 short texts with Runcible, llama.cpp and sentence-transformers
on the same threads, in turns, and prints the medians and ratios.

    embed.py [options] --runcible build/release/bin/runcible

It needs the packages runcible, numpy, torch, transformers and
sentence-transformers, and measures llama.cpp too where the package
llama-cpp-python is there. The model has the shape of all-MiniLM-L6-v2 and random
weights: transformers writes it, `runcible convert` makes the GGUF files of it.
Each engine is a process of its own, which loads once and then waits for its
turns; loading is not measured, tokenizing is. The seconds that processors worked,
which other programs on the machine change less, are told beside those of a clock.
"""

import argparse
import datetime
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL = 1.5  # times each of the others
LAYERS, WIDTH, HEADS, INNER, VOCABULARY, CONTEXT = 6, 384, 12, 1536, 30522, 512
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def some_words(count):
    """Made of syllables, no two alike."""
    draw = random.Random(1)
    words = {}
    while len(words) < count:
        word = "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.randint(1, 5)))
        words[word] = None
    return list(words)


def some_texts(count):
    draw = random.Random(2)
    words = some_words(VOCABULARY - len(SPECIAL))
    return [" ".join(draw.choice(words) for _ in range(draw.randint(4, 28))) for _ in range(count)]


def write_model(folder):
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(1)
    base = folder / "base"
    base.mkdir()
    (base / "vocab.txt").write_text("\n".join(SPECIAL + some_words(VOCABULARY - len(SPECIAL))) + "\n")
    BertModel(BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=CONTEXT)).save_pretrained(base)
    BertTokenizerFast(str(base / "vocab.txt")).save_pretrained(base)
    parts = [models.Transformer(str(base), max_seq_length=CONTEXT), models.Pooling(WIDTH), models.Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(folder / "model"))
    return folder / "model"


class Runcible:
    def __init__(self, path, threads):
        import runcible

        self.version = runcible.__version__
        self.model = runcible.Model(path, runcible.Backend("cpu", threads=threads))

    def embed(self, texts):
        return self.model.embed(texts)


class SentenceTransformers:
    def __init__(self, path, threads):
        import sentence_transformers
        import torch

        torch.set_num_threads(threads)
        self.version = f"{sentence_transformers.__version__}, torch {torch.__version__}"
        self.model = sentence_transformers.SentenceTransformer(path, device="cpu")

    def embed(self, texts):
        return self.model.encode(texts)


class LlamaCpp:
    """By its C functions: as many texts in a batch as it has room for."""

    BATCH = 2048
    SEQUENCES = 64

    def __init__(self, path, threads):
        import ctypes

        import llama_cpp as api

        self.api = api
        self.quiet = api.llama_log_callback(lambda level, text, data: None)
        api.llama_log_set(self.quiet, ctypes.c_void_p(0))
        api.llama_backend_init()
        self.version = api.__version__
        params = api.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = api.llama_model_load_from_file(path.encode(), params)
        context = api.llama_context_default_params()
        context.n_ctx = context.n_batch = context.n_ubatch = self.BATCH
        context.n_seq_max = self.SEQUENCES
        context.kv_unified = True
        context.embeddings = True
        context.pooling_type = api.LLAMA_POOLING_TYPE_MEAN
        context.n_threads = context.n_threads_batch = threads
        self.context = api.llama_init_from_model(self.model, context)
        if not self.model or not self.context:
            sys.exit(f"llama.cpp cannot load {path}")
        self.vocabulary = api.llama_model_get_vocab(self.model)
        self.batch = api.llama_batch_init(self.BATCH, 0, 1)
        self.room = (api.llama_token * CONTEXT)()

    def tokens_of(self, text):
        data = text.encode()
        count = self.api.llama_tokenize(self.vocabulary, data, len(data), self.room, CONTEXT, True, False)
        return self.room[:count]

    def embed(self, texts):
        import numpy

        rows = numpy.empty((len(texts), WIDTH), "f4")
        held, first = [], 0

        def flush():
            nonlocal first
            at = 0
            for sequence, tokens in enumerate(held):
                for position, token in enumerate(tokens):
                    self.batch.token[at] = token
                    self.batch.pos[at] = position
                    self.batch.n_seq_id[at] = 1
                    self.batch.seq_id[at][0] = sequence
                    self.batch.logits[at] = True
                    at += 1
            self.batch.n_tokens = at
            self.api.llama_memory_clear(self.api.llama_get_memory(self.context), True)
            if self.api.llama_encode(self.context, self.batch) != 0:
                sys.exit("llama_encode fails")
            for sequence in range(len(held)):
                row = self.api.llama_get_embeddings_seq(self.context, sequence)
                rows[first + sequence] = numpy.ctypeslib.as_array(row, shape=(WIDTH,))
            first += len(held)
            held.clear()

        for text in texts:
            tokens = self.tokens_of(text)
            if len(held) == self.SEQUENCES or sum(map(len, held)) + len(tokens) > self.BATCH:
                flush()
            held.append(tokens)
        flush()
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


ENGINES = {"runcible": Runcible, "sentence-transformers": SentenceTransformers, "llama.cpp": LlamaCpp}


def work(name, path, threads, count):
    """Answers each line with the seconds that all texts took."""
    import numpy

    engine = ENGINES[name](path, threads)
    texts = some_texts(count)
    first = numpy.array(engine.embed(texts[:64]))
    print(json.dumps({"version": engine.version, "rows": first.tolist()}), flush=True)
    for _ in sys.stdin:
        begin, used = time.perf_counter(), time.process_time()
        engine.embed(texts)
        print(json.dumps({"seconds": time.perf_counter() - begin,
                          "processor_seconds": time.process_time() - used}), flush=True)


class Worker:
    def __init__(self, name, path, options):
        environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), TOKENIZERS_PARALLELISM="true")
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", name, "--model", str(path), "--threads", str(options.threads),
             "--texts", str(options.texts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.about = json.loads(self.process.stdout.readline() or "{}")

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def about_machine(threads):
    text = Path("/proc/cpuinfo").read_text()

    def first(name):
        found = re.search(rf"^{name}\s*:\s*(.+)$", text, re.M)
        return found.group(1) if found else ""

    return {"processor": first("model name"), "family": first("cpu family"), "model": first("model"),
            "architecture": platform.machine(), "threads": threads}


def least_cosine(a, b):
    import numpy

    x, y = numpy.array(a), numpy.array(b)
    return float(((x * y).sum(1) / numpy.linalg.norm(x, axis=1) / numpy.linalg.norm(y, axis=1)).min())


def has_llama_cpp():
    return subprocess.run([sys.executable, "-c", "import llama_cpp"], capture_output=True).returncode == 0


def compare(options):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = write_model(folder)
        workers = {"sentence-transformers F32": Worker("sentence-transformers", model, options)}
        for kind in options.types:
            path = folder / f"{kind}.gguf"
            subprocess.run([options.runcible, "convert", str(model), "-o", str(path), "--type", kind], check=True)
            workers[f"runcible {kind}"] = Worker("runcible", path, options)
            if has_llama_cpp():
                # A GGUF file with its own vocabulary in the form that llama.cpp reads.
                workers[f"llama.cpp {kind}"] = Worker("llama.cpp", with_vocabulary(path), options)
        oracle = workers["sentence-transformers F32"].about["rows"]
        turns = {each: [] for each in workers}
        for turn in range(options.rounds):
            order = list(workers)
            for each in order if turn % 2 == 0 else reversed(order):
                turns[each].append(workers[each].turn())
                print(f"round {turn + 1}: {each}: {turns[each][-1]['seconds']:.2f} s", file=sys.stderr)
        results = []
        for each, worker in workers.items():
            seconds = statistics.median(one["seconds"] for one in turns[each])
            results.append({
                "engine": each, "version": worker.about["version"], "turns": turns[each],
                "median_seconds": seconds, "texts_per_second": options.texts / seconds,
                "median_processor_seconds": statistics.median(one["processor_seconds"] for one in turns[each]),
                "least_cosine_to_sentence_transformers": least_cosine(worker.about["rows"], oracle)})
        return results


def with_vocabulary(path):
    """A copy of a GGUF file with tokenizer.ggml.* in place of the tokenizer.json that it holds."""
    import gguf

    reader = gguf.GGUFReader(path)
    target = path.with_suffix(".llama.gguf")
    writer = gguf.GGUFWriter(str(target), "bert")
    for key, field in reader.fields.items():
        if key.startswith(("bert.", "general.file_type", "general.name")):
            writer.add_key_value(key, field.contents(), field.types[0])
    pieces = SPECIAL + some_words(VOCABULARY - len(SPECIAL))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([piece if piece in SPECIAL else "\u2581" + piece for piece in pieces])
    writer.add_token_types([3 if piece in SPECIAL else 1 for piece in pieces])
    writer.add_token_type_count(2)
    for name, number in (("bos", 2), ("eos", 3), ("unk", 1), ("sep", 3), ("pad", 0), ("mask", 4), ("cls", 2)):
        keys = {"unk": "unknown", "sep": "seperator", "pad": "padding"}
        writer.add_uint32(f"tokenizer.ggml.{keys.get(name, name)}_token_id", number)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runcible", help="the command, for converting")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--texts", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--types", nargs="+", default=["F32", "Q8_0"])
    parser.add_argument("--output", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--worker", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.model, options.threads, options.texts)
        return
    if not options.runcible:
        parser.error("--runcible is needed")
    results = compare(options)
    best = {each["engine"]: each["median_seconds"] for each in results}
    for each in results:
        print(f"{each['engine']:28} {each['texts_per_second']:8.0f} texts/s  "
              f"{each['median_processor_seconds']:8.2f} s of processors  cosine "
              f"{each['least_cosine_to_sentence_transformers']:.7f}")
    ratios = {f"{mine} / {theirs}": best[theirs] / best[mine] for mine in best if mine.startswith("runcible")
              for theirs in best if theirs.startswith("sentence") or theirs == mine.replace("runcible", "llama.cpp")}
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f} (goal {GOAL})")
    if options.output:
        options.output.write_text(json.dumps({
            "machine": about_machine(options.threads), "date": str(datetime.date.today()), "texts": options.texts,
            "rounds": options.rounds, "load_average_at_end": os.getloadavg()[0], "results": results,
            "ratios": ratios}, indent=1) + "\n")


if __name__ == "__main__":
    main()
