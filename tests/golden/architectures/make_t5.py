#!/usr/bin/env python3
"""Tiny random models of t5_cases.py, with the logits, or of encoders the rows, that transformers computes for them in float64, and what it
generates greedily.

Writes what make.py does for each case: see README.md. Versions: ../requirements.txt.

    python make_t5.py [case ...]
"""

import json
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
import torch

from make import ORACLE, build
from t5_cases import EOS, EXTRA, N_VOCAB, PIECES, PROMPT, SCORES, SPECIAL, T5_CASES, write_tokenizer_json

HERE = Path(__file__).resolve().parent

# Tokens of the source, and of what is generated, its first token counted: beyond the largest bucket, and a single one.
LENGTHS = [(9, 12), (150, 160), (1, 3)]


def write_tokenizer(w):
    w.add_tokenizer_model("t5")
    w.add_tokenizer_pre("default")
    padded = PIECES + [f"[PAD{i}]" for i in range(N_VOCAB - len(PIECES))]
    w.add_token_list(padded)
    w.add_token_scores(SCORES + [-10000.0] * (len(padded) - len(PIECES)))
    kinds = {**{p: gguf.TokenType.CONTROL for p in SPECIAL}, "<unk>": gguf.TokenType.UNKNOWN, **{p: gguf.TokenType.USER_DEFINED for p in EXTRA}}
    w.add_token_types([kinds.get(p, gguf.TokenType.NORMAL) for p in PIECES] + [gguf.TokenType.UNUSED] * (len(padded) - len(PIECES)))
    w.add_add_space_prefix(True)
    w.add_remove_extra_whitespaces(True)
    w.add_eos_token_id(EOS)
    w.add_unk_token_id(PIECES.index("<unk>"))
    w.add_pad_token_id(0)
    w.add_add_bos_token(False)
    w.add_add_eos_token(True)


def write(path, name, c, model):
    config, arch = model.config, c["arch"]
    w = gguf.GGUFWriter(path, arch)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_context_length(config.n_positions)
    w.add_embedding_length(config.d_model)
    w.add_feed_forward_length(config.d_ff)
    w.add_block_count(config.num_layers)
    if arch == "t5":
        w.add_decoder_block_count(config.num_decoder_layers)
    w.add_head_count(config.num_heads)
    w.add_key_length(config.d_kv)
    w.add_value_length(config.d_kv)
    w.add_layer_norm_eps(config.layer_norm_epsilon)
    w.add_relative_attn_buckets_count(config.relative_attention_num_buckets)
    w.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    w.add_decoder_start_token_id(config.decoder_start_token_id)
    write_tokenizer(w)
    known = {name: known for known, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(known[arch], max(config.num_layers, config.num_decoder_layers or 0))
    for key, p in model.named_parameters():
        out = names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert out, key
        a = p.detach().numpy()
        a32 = np.ascontiguousarray(a, dtype=np.float32)
        assert np.array_equal(a32.astype(np.float64), a), key
        w.add_tensor(out, a32)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def runs_for(c):
    rng = np.random.default_rng(c["seed"] + 1000)
    some = lambda count: [int(t) for t in rng.integers(3, len(PIECES), count)]
    if c["arch"] == "t5encoder":
        return [{"tokens": some(count - 1) + [EOS]} for count, _ in LENGTHS]
    return [{"source": some(source - 1) + [EOS], "tokens": [c["config"]["decoder_start_token_id"]] + some(count - 1)} for source, count in LENGTHS]


def logits_of(model, runs):
    rows = []
    for run in runs:
        with torch.no_grad():
            if "source" in run:
                out = model(input_ids=torch.tensor([run["source"]]), decoder_input_ids=torch.tensor([run["tokens"]]), use_cache=False).logits
            else:
                out = model(input_ids=torch.tensor([run["tokens"]])).last_hidden_state
        assert out.dtype == torch.float64
        rows.append(out[0].numpy())
    return np.concatenate(rows)


def generated(model, tokenizer, count):
    """What generate() gives for the prompt, and by how much its choices are ahead of others."""
    source = tokenizer.encode(PROMPT).ids
    with torch.no_grad():
        out = model.generate(torch.tensor([source]), do_sample=False, num_beams=1, max_new_tokens=count, use_cache=False, output_logits=True,
                             return_dict_in_generate=True)
    best = torch.cat(out.logits).sort(-1, descending=True).values
    tokens = out.sequences[0].tolist()[1:]  # without the first token, which is given
    return {"prompt": PROMPT, "source": source, "tokens": tokens, "text": tokenizer.decode(tokens, skip_special_tokens=True),
            "smallest_margin": round(float((best[:, 0] - best[:, 1]).min()), 4)}


def main():
    with tempfile.TemporaryDirectory() as temporary:
        tokenizer = write_tokenizer_json(Path(temporary) / "tokenizer.json")
    for name, describe in T5_CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        c = describe()
        runs = runs_for(c)
        model = build(c, c["seed"])
        logits = logits_of(model, runs)
        effect = {}
        for what, changes in c["without"].items():
            other = logits_of(build(c, c["seed"], changes), runs)
            effect[what] = round(float(np.abs(other - logits).max()), 4)
            assert effect[what] > 4e-4 * logits.std(), (name, what, effect)  # the tests allow 1e-4
        write(HERE / f"{name}.gguf", name, c, model)
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        if name == "flan-t5":  # what embeddings are made of
            with torch.no_grad():
                rows = model.encoder(input_ids=torch.tensor([runs[0]["source"]])).last_hidden_state[0].numpy()
            rows.astype("<f4").tofile(HERE / f"{name}.source.f32")
        info = {"case": name, "architecture": c["arch"], "runs": runs, "n_vocab": N_VOCAB, "oracle": ORACLE, "seed": c["seed"],
                "logits_std": round(float(logits.std()), 3), "max_logit_change_without": effect, "note": c["note"]}
        if c["arch"] == "t5encoder":
            info["width"] = c["config"]["d_model"]
        else:
            info["generated"] = generated(model, tokenizer, 24)
            assert info["generated"]["smallest_margin"] > 1e-3 * logits.std(), info["generated"]
        (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
        print(f"{name:16} {logits.shape} std {logits.std():.3f} effects {effect} {info.get('generated', {}).get('text')!r}")


if __name__ == "__main__":
    main()
