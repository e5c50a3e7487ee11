"""Measures a model file with llama-cpp-python; run by compare.py, with the
Python of the environment that llama-cpp-python is installed in.

    peer.py MODEL JOBS

JOBS is JSON: {"threads", "prompts": [length], "decodes": [{"batch", "depth"}],
"tokens", "repetitions"}. Prints what `runcible bench --json` prints, as far as
both have it. It goes straight to the C functions: what the Python around them
costs is no part of the library's speed.
"""

import ctypes
import json
import statistics
import sys
import time

import llama_cpp
import numpy


@llama_cpp.llama_log_callback
def be_quiet(level, text, data):
    pass


def some_tokens(count, vocabulary, salt):
    return numpy.random.default_rng(salt).integers(0, vocabulary, count).tolist()


class Peer:
    def __init__(self, path, threads, context, sequences):
        llama_cpp.llama_backend_init()
        begin = time.perf_counter()
        model_params = llama_cpp.llama_model_default_params()
        model_params.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), model_params)
        if not self.model:
            sys.exit(f"llama.cpp cannot load {path}")
        self.step = 512
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = context
        params.n_batch = params.n_ubatch = self.step
        params.n_seq_max = sequences
        # Else each sequence gets an equal part of the context, used or not.
        params.kv_unified = True
        params.n_threads = params.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        if not self.context:
            sys.exit(f"llama.cpp cannot make a context of {context} tokens")
        self.load_seconds = time.perf_counter() - begin
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.batch = llama_cpp.llama_batch_init(self.step, 0, 1)

    def clear(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def decode(self, rows):
        """Evaluates (token, position, sequence, whether logits are wanted)."""
        batch = self.batch
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = wanted
        status = llama_cpp.llama_decode(self.context, batch)
        if status != 0:
            sys.exit(f"llama_decode answers {status}")
        llama_cpp.llama_synchronize(self.context)

    def read(self, tokens, sequence):
        for first in range(0, len(tokens), self.step):
            part = tokens[first:first + self.step]
            end = first + len(part) == len(tokens)
            self.decode([(token, first + i, sequence, end and i + 1 == len(part)) for i, token in enumerate(part)])

    def most_probable(self, row):
        logits = llama_cpp.llama_get_logits_ith(self.context, row)
        return int(numpy.ctypeslib.as_array(logits, shape=(self.vocabulary,)).argmax())

    def prompt(self, length):
        tokens = some_tokens(length, self.vocabulary, 0)
        self.clear()
        begin = time.perf_counter()
        self.read(tokens, 0)
        return length / (time.perf_counter() - begin)

    def decodes(self, batch, depth, count):
        self.clear()
        for sequence in range(batch):
            if depth > 1:
                self.read(some_tokens(depth - 1, self.vocabulary, sequence), sequence)
        tokens = [1] * batch
        for i in range(count):
            # Like `runcible bench`: the first token is no part of the rate.
            if i == 1:
                begin = time.perf_counter()
            self.decode([(tokens[s], depth - 1 + i, s, True) for s in range(batch)])
            tokens = [self.most_probable(s) for s in range(batch)]
        return batch * (count - 1) / (time.perf_counter() - begin)


def main():
    path, jobs = sys.argv[1], json.loads(sys.argv[2])
    llama_cpp.llama_log_set(be_quiet, ctypes.c_void_p(0))
    count = jobs["tokens"]
    context = max([length for length in jobs["prompts"]] +
                  [one["batch"] * (one["depth"] + count) for one in jobs["decodes"]])
    sequences = max([1] + [one["batch"] for one in jobs["decodes"]])
    peer = Peer(path, jobs["threads"], context + 256, sequences)

    def rate(measure, *arguments):
        return statistics.median(measure(*arguments) for _ in range(jobs["repetitions"]))

    results = [{"kind": "prompt", "length": length, "tokens_per_second": rate(peer.prompt, length)}
               for length in jobs["prompts"]]
    results += [{"kind": "decode", **one, "tokens": count,
                 "tokens_per_second": rate(peer.decodes, one["batch"], one["depth"], count)}
                for one in jobs["decodes"]]
    print(json.dumps({
        "version": llama_cpp.__version__,
        "build": llama_cpp.llama_print_system_info().decode(),
        "load_seconds": peer.load_seconds,
        "results": results,
    }))


if __name__ == "__main__":
    main()
