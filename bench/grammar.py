"""Compares grammars of JSON schemas with those of llguidance and xgrammar.

    pip install llguidance==1.9.1 gguf numpy jsonschema [xgrammar]
    python grammar.py --program build/release/bin/bench/grammar_instances \
        --vocabulary ggml-vocab-llama-bpe.gguf \
        --maskbench folder/with/maskbench --suite JSON-Schema-Test-Suite

Every instance is written with the white space of json.dumps and without any,
cut into the longest tokens there are, and followed through the masks of the
same tokens by each of them. A schema is right if all valid instances are
accepted and no invalid one is, and where no instance is valid also if it is
refused for that reason; refused if it does not compile; too strict if some valid
instance is not accepted; wrong if an invalid one is. Times are of the thread
alone.
"""

import argparse
import collections
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

DRAFTS = {"draft7": "http://json-schema.org/draft-07/schema#",
          "draft2020-12": "https://json-schema.org/draft/2020-12/schema"}


def read_vocabulary(path):
    """The bytes of each token, empty for those that are never text."""
    import gguf
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"]
    types = fields["tokenizer.ggml.token_type"]
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in printable]
    letters.update({chr(256 + i): byte for i, byte in enumerate(others)})
    result = []
    for token, kind in zip(tokens.data, types.data):
        text = bytes(tokens.parts[token]).decode()
        normal = int(types.parts[kind][0]) == 1
        result.append(bytes(letters[c] for c in text) if normal else b"")
    return result


def spellings(value):
    return [json.dumps(value),
            json.dumps(value, ensure_ascii=False, separators=(",", ":"))]


def read_cases(maskbench, suite):
    def case(group, name, schema, tests):
        return {"group": group, "id": name, "schema": json.dumps(schema),
                # Formats only assert in the optional tests of this draft.
                "formats": not name.startswith("draft2020-12/format.json"),
                "valid": [test["valid"] for test in tests],
                "tests": [spellings(test["data"]) for test in tests]}

    for path in sorted(pathlib.Path(maskbench).glob("*.json")):
        data = json.loads(path.read_text())
        yield case("MaskBench", path.name, data["schema"], data["tests"])
    for draft, uri in DRAFTS.items():
        folder = pathlib.Path(suite) / draft
        for path in sorted(folder.rglob("*.json")):
            name = path.relative_to(suite).as_posix()
            group = draft + (" optional" if "/optional/" in name else "")
            for test in json.loads(path.read_text()):
                schema = test["schema"]
                if isinstance(schema, dict):
                    schema = {"$schema": uri, **schema}
                yield case(group, f"{name}: {test['description']}", schema,
                           test["tests"])


def run_runcible(program, vocabulary, cases):
    with tempfile.NamedTemporaryFile(suffix=".vocabulary") as file:
        for token in vocabulary:
            file.write(struct.pack("<I", len(token)) + token)
        file.flush()
        lines = "".join(json.dumps(case) + "\n" for case in cases)
        done = subprocess.run([program, file.name], input=lines, text=True,
                              stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Greedy:
    """Cuts texts into the longest tokens."""

    def __init__(self, vocabulary):
        self.ids = {}
        for i, token in enumerate(vocabulary):
            self.ids.setdefault(token, i)
        self.longest = max(map(len, vocabulary))

    def __call__(self, text):
        text, at, tokens = text if isinstance(text, bytes) else text.encode(
            "utf-8", "surrogatepass"), 0, []
        while at < len(text):
            for size in range(min(self.longest, len(text) - at), 0, -1):
                token = self.ids.get(text[at:at + size])
                if token is not None:
                    tokens.append(token)
                    at += size
                    break
            else:
                break
        return tokens


def run_peer(compile_schema, fill, allowed, consume, greedy, end, cases):
    results = []
    for case in cases:
        result = {"times": [], "accepted": []}
        start = time.thread_time()
        try:
            fresh = compile_schema(case["schema"])
            result["compile"] = (time.thread_time() - start) * 1e6
        except Exception as error:  # whatever a peer raises is a refusal
            result["error"] = str(error)
            results.append(result)
            continue
        for texts in case["tests"]:
            accepted = []
            for text in texts:
                matcher, good = fresh(), True
                for token in greedy(text) + [end]:
                    start = time.thread_time()
                    fill(matcher)
                    result["times"].append((time.thread_time() - start) * 1e6)
                    if not allowed(token) or not consume(matcher, token):
                        good = False
                        break
                accepted.append(good)
            result["accepted"].append(accepted)
        results.append(result)
    return results


def run_llguidance(vocabulary, cases):
    import llguidance
    import llguidance.numpy
    import numpy
    greedy, end = Greedy(vocabulary), len(vocabulary) - 1

    class Tokenizer:
        eos_token_id = end
        bos_token_id = None
        tokens = [token or b"\xff<|%d|>" % i
                  for i, token in enumerate(vocabulary)]
        special_token_ids = [i for i, token in enumerate(vocabulary)
                             if not token]

        def __call__(self, text):
            return greedy(text)

    tokenizer = llguidance.LLTokenizer(
        llguidance.TokenizerWrapper(Tokenizer()))
    mask = numpy.zeros((1, (len(vocabulary) + 31) // 32), dtype=numpy.int32)

    def compile_schema(schema):
        matcher = llguidance.LLMatcher(
            tokenizer, llguidance.LLMatcher.grammar_from_json_schema(schema))
        if matcher.get_error():
            raise ValueError(matcher.get_error())
        return matcher.deep_copy

    return run_peer(
        compile_schema,
        lambda m: llguidance.numpy.fill_next_token_bitmask(m, mask, 0),
        lambda token: mask[0, token >> 5] >> (token & 31) & 1,
        lambda m, token: m.consume_token(token), greedy, end, cases)


def run_xgrammar(vocabulary, cases):
    import xgrammar
    greedy, end = Greedy(vocabulary), len(vocabulary) - 1
    info = xgrammar.TokenizerInfo(
        [token or b"<|%d|>" % i for i, token in enumerate(vocabulary)],
        stop_token_ids=[end])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    mask = xgrammar.allocate_token_bitmask(1, len(vocabulary))

    def compile_schema(schema):
        compiled = compiler.compile_json_schema(schema, strict_mode=False)
        return lambda: xgrammar.GrammarMatcher(compiled)

    return run_peer(
        compile_schema, lambda m: m.fill_next_token_bitmask(mask),
        lambda token: int(mask[0, token >> 5]) >> (token & 31) & 1,
        lambda m, token: m.accept_token(token), greedy, end, cases)


def verdict(case, result):
    if "error" in result:
        # Not to compile is right where nothing is valid and the error says so.
        empty = any(words in result["error"]
                    for words in ("no value is valid", "nsatisfiable"))
        return "right" if empty and not any(case["valid"]) else "refused"
    pairs = list(zip(result["accepted"], case["valid"]))
    if any(any(accepted) for accepted, valid in pairs if not valid):
        return "wrong"
    if not all(all(accepted) for accepted, valid in pairs if valid):
        return "too strict"
    return "right"


def report(name, cases, results, verbose):
    counts = collections.defaultdict(collections.Counter)
    times = sorted(t for case, result in zip(cases, results)
                   if case["group"] == "MaskBench" for t in result["times"])
    compiling = [result["compile"] for result in results
                 if "compile" in result]
    for case, result in zip(cases, results):
        outcome = verdict(case, result)
        counts[case["group"]][outcome] += 1
        if "inconsistent" in result:
            counts[case["group"]]["inconsistent"] += 1
        if verbose and outcome != "right":
            print(f"  {outcome}: {case['id']} {result.get('error', '')[:200]}")
    for group, found in counts.items():
        print(f"{name:12} {group:22}", ", ".join(
            f"{found[key]} {key}" for key in
            ("right", "refused", "too strict", "wrong", "inconsistent")
            if found[key]))
    if times:
        print(f"{name:12} masks: {len(times)}, mean "
              f"{sum(times) / len(times):.1f} us, median "
              f"{times[len(times) // 2]:.1f}, 99% below "
              f"{times[len(times) * 99 // 100]:.1f}; compiling: mean "
              f"{sum(compiling) / len(compiling):.0f} us")


def check_drawn(program, vocabulary, cases, draw, closed):
    """Whether texts drawn through masks are valid, as jsonschema says."""
    import jsonschema
    results = run_runcible(program, vocabulary,
                           [{**case, "draw": draw, "closed": closed}
                            for case in cases])
    counts = collections.Counter()
    for case, result in zip(cases, results):
        schema = json.loads(case["schema"])
        kind = jsonschema.validators.validator_for(
            schema, default=jsonschema.Draft202012Validator)
        checker = kind.FORMAT_CHECKER if case["formats"] else None
        for text in result.get("drawn", []):
            if text == "dead end":
                counts["dead ends"] += 1
                print(f"  dead end: {case['id']}")
                continue
            value = json.loads(bytes.fromhex(text))
            try:
                valid = kind(schema, format_checker=checker).is_valid(value)
            except Exception:  # schemas that jsonschema does not understand
                counts["not judged"] += 1
                continue
            counts["valid" if valid else "invalid"] += 1
            if not valid:
                print(f"  invalid: {case['id']} {json.dumps(value)[:300]}")
    print("drawn:", dict(counts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--vocabulary", required=True)
    parser.add_argument("--maskbench", required=True)
    parser.add_argument("--suite", required=True)
    parser.add_argument("--every", type=int, default=1,
                        help="take only each n-th schema")
    parser.add_argument("--draw", type=int, default=0,
                        help="only draw that many texts of each schema, and "
                        "check them")
    parser.add_argument("--open", action="store_true",
                        help="draw from all texts that are valid, not only "
                        "from those that rc_grammar_create allows by default")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    vocabulary = read_vocabulary(arguments.vocabulary)
    cases = list(read_cases(arguments.maskbench,
                            arguments.suite))[::arguments.every]
    if arguments.draw:
        check_drawn(arguments.program, vocabulary, cases, arguments.draw,
                    not arguments.open)
        return
    report("runcible", cases,
           run_runcible(arguments.program, vocabulary, cases),
           arguments.verbose)
    for name, run in (("llguidance", run_llguidance),
                      ("xgrammar", run_xgrammar)):
        try:
            results = run(vocabulary, cases)
        except ImportError as error:
            print(f"{name:12} is not here: {error}", file=sys.stderr)
            continue
        report(name, cases, results, arguments.verbose)


if __name__ == "__main__":
    main()
