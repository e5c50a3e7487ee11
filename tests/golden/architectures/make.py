#!/usr/bin/env python3
"""Tiny random models of each architecture, with the logits that transformers computes for them.

For every case it writes NAME.gguf (F32 weights, laid out as llama.cpp's converter does),
NAME.json and NAME.logits.f32. See README.md. Versions: ../requirements.txt.

    python make.py [case ...]
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP

from attention_cases import ATTENTION_CASES
from cases import CASES, COMMON
from earlier_cases import EARLIER_CASES, EARLIER_CASES_5
from encoder_cases import ENCODER_CASES
from gguf_file import write
from more_cases import MORE_CASES
from newer_cases import NEWER_CASES
from state_cases import STATE_CASES
from vocabularies import N_VOCAB, word_pieces

HERE = Path(__file__).resolve().parent
ORACLE = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, eager attention, float64"

N_TOKENS = 40

# Some models are newer than the transformers that computes the others.
if int(transformers.__version__.split(".")[0]) >= 5:
    from expert_encoder_cases import EXPERT_ENCODER_CASES
    from further_cases import FURTHER_CASES
    from gemma_cases import GEMMA_CASES
    from latest_cases import LATEST_CASES
    from mixture_cases import MIXTURE_CASES
    from sparse_cases import SPARSE_CASES
    ALL_CASES = NEWER_CASES | FURTHER_CASES | SPARSE_CASES | LATEST_CASES | MIXTURE_CASES | EARLIER_CASES_5 | GEMMA_CASES | EXPERT_ENCODER_CASES | {name: STATE_CASES[name] for name in ("lfm2moe", "nemotron_h", "nemotron_h_moe", "qwen35", "qwen35moe")}
else:
    from trait_cases import TRAIT_CASES
    ALL_CASES = CASES | MORE_CASES | EARLIER_CASES | ENCODER_CASES | TRAIT_CASES | ATTENTION_CASES | STATE_CASES

# Seeds follow from these. Each later group goes on behind MORE_CASES, so that a case of one does not change the weights of others;
# further cases say their own seeds.
FIRST = CASES | MORE_CASES
NUMBERS = {name: number for group, start in ((FIRST, 1), (ATTENTION_CASES, 1 + len(FIRST)), (STATE_CASES, 1 + len(FIRST)))
           for number, name in enumerate(group, start)}

# The models ask for float32 in norms, softmax, router, rotary tables and recurrent layers even when the
# weights are double. Here "float32" means float64 while a model is built and run, so that nothing is rounded.
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


FACTORS = ("layer_scalar", "router.scale", "per_expert_scale", "correct_output_scale")
SELECTION = ("e_score_correction_bias", ".expert_bias")
NORMS = ("norm.weight", "norm_1.weight", "norm_2.weight", "ln_1.weight", "ln_2.weight", "ln_f.weight", "ln_attn.weight", "ln_mlp.weight", "norm_f.weight")
BEHIND_GELU = ("output.dense.weight", "mlp.c_proj.weight", "mlp.fc2.weight", "mlp.dense_4h_to_h.weight")
EMBEDDINGS = ("embed_tokens", "_embeddings", "wte", "wpe", "embed_in", "embeddings.weight")


def fill(model, arch, seed):
    """Random weights that are exact in float32 (as stored in the file), large enough that all of them matter."""
    rng = np.random.default_rng(seed)
    selection = [(name, b) for name, b in model.named_buffers() if name.endswith((*SELECTION, "layer_scalar"))]
    for name, p in [*model.named_parameters(), *selection]:
        shape = tuple(p.shape)
        if name.endswith(FACTORS):
            w = 1.0 + 0.3 * rng.standard_normal(shape)
        elif name.lower().endswith(NORMS) or "layernorm" in name and not name.endswith("bias"):
            w = 1.0 + 0.3 * rng.standard_normal(shape)
        elif name.endswith("A_log"):  # here A
            w = np.exp(rng.uniform(math.log(0.3), math.log(4.0), shape))
        elif name.endswith("dt_bias"):  # steps from 0.05 to 1.5
            w = np.log(np.expm1(np.exp(rng.uniform(math.log(0.05), math.log(1.5), shape))))
        elif name.endswith(("mamba.D", "mixer.D")):
            w = rng.standard_normal(shape)
        elif name.endswith("conv1d.weight"):
            w = 1.2 / math.sqrt(shape[2]) * rng.standard_normal(shape)
        elif name.endswith(("bias", "act_fn.alpha_p", "act_fn.alpha_n")):
            w = 0.5 * rng.standard_normal(shape)
        elif any(part in name for part in EMBEDDINGS):
            w = 0.35 * rng.standard_normal(shape)
        elif "lm_head" in name or "embed_out" in name:
            w = 2.5 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif name.endswith("sinks"):
            w = 2.0 * rng.standard_normal(shape)
        elif name.endswith("router.proj.weight"):  # of rows that are divided by the root of their width
            w = 1.2 * rng.standard_normal(shape)
        elif name.endswith("gate_up_proj"):  # large enough for the limit
            w = 4.0 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif name.endswith(BEHIND_GELU) and "attention" not in name:  # so that erf and tanh differ enough
            w = 4.0 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif name.endswith("Attention.q.weight"):  # of scores that are not scaled
            w = 0.4 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif any(part in name for part in ("q_proj", "k_proj", "query", "key")):
            w = 1.3 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif len(shape) == 1:  # other norms, of what reads pictures
            w = 1.0 + 0.3 * rng.standard_normal(shape)
        else:
            w = 1.2 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        w = w.astype(np.float32).astype(np.float64)
        if arch.startswith("gemma") and arch not in ("gemma3n", "gemma4") and "norm" in name or arch == "nemotron" and name.endswith("norm.weight") or (
                arch == "step35" and name.endswith("norm.weight") or arch.startswith(("qwen3next", "qwen35")) and name.endswith("norm.weight") and "linear_attn" not in name):
            w = w - 1.0  # the file holds 1 + weight
        if name.endswith("A_log"):
            w = np.log(w)  # the file holds -exp(A_log)
        with torch.no_grad():
            p.copy_(torch.from_numpy(np.array(w)))


def build(c, seed, changes=None):
    changes = dict(changes or {})
    zeroed = changes.pop("zeroed", None)  # the end of a parameter's name
    unselected = changes.pop("unselected", False)  # without the bias that experts are chosen with
    filled, value_of_filled = changes.pop("filled", (None, 0.0))  # likewise, and the value
    attributes = changes.pop("modules", {})  # of whatever modules have them
    settings = {**c["config"], **changes}
    layers = settings.pop("layers", [])  # sizes that each layer has of its own
    if layers:
        settings["num_hidden_layers"] = len(layers)
    config = c["make"](**settings, attn_implementation=c.get("attention", "eager"))
    model = c["model"](config)
    for i, sizes in enumerate(layers):
        own = c["make"](**{**settings, **sizes}, attn_implementation="eager")
        model.model.layers[i].self_attn = LlamaAttention(own, i)
        model.model.layers[i].mlp = LlamaMLP(own)
    model = model.double().eval()
    fill(model, c["arch"], seed)
    for name, p in model.named_parameters():
        if zeroed and name.endswith(zeroed):
            p.data.zero_()
        if filled and name.endswith(filled):
            p.data.fill_(value_of_filled)
    for name, b in model.named_buffers():
        if filled and name.endswith(filled):
            b.fill_(value_of_filled)
        if unselected and name.endswith(SELECTION):
            b.zero_()
    for module in model.modules():
        for attribute, value in attributes.items():
            if hasattr(module, attribute):
                setattr(module, attribute, value)
    return model


def with_common(c):
    return c if "config" in c else {**c, "config": {**COMMON, **c["settings"]}}


def tokens_for(seed, arch):
    rng = np.random.default_rng(seed + 1000)
    if arch == "bert":
        pieces = word_pieces()
        words = rng.integers(pieces.index("[MASK]") + 1, len(pieces), N_TOKENS - 2)
        return [pieces.index("[CLS]")] + [int(t) for t in words] + [pieces.index("[SEP]")]
    return [1] + [int(t) for t in rng.integers(3, N_VOCAB, N_TOKENS - 1)]


def logits_of(model, tokens):
    with torch.no_grad():
        cache = {} if model.config.model_type == "modernbert" else {"use_cache": False}
        result = model(input_ids=torch.tensor([tokens]), **cache)
    out = (result.logits if "logits" in result else result.last_hidden_state)[0]
    assert out.dtype == torch.float64
    return out.numpy()


def router_margin(c, model, tokens):
    """Smallest distance between the last expert used and the first one not used."""
    k = c.get("experts_used") or c["config"].get("num_experts_per_tok")
    if not k:
        return None
    logits = []

    def scores(name, router, logits):
        """What experts are chosen by."""
        if hasattr(router, "e_score_correction_bias"):
            return logits.sigmoid() + router.e_score_correction_bias
        block = dict(model.named_modules())[name.rsplit(".", 1)[0]]
        if hasattr(block, "e_score_correction_bias"):
            return logits.sigmoid() + block.e_score_correction_bias
        around = dict(model.named_modules())[name.rsplit(".", 2)[0]]
        if name.endswith(".router.gate") and hasattr(around, "expert_bias"):
            return logits.sigmoid() + around.expert_bias
        statics = getattr(block, "moe_statics", None)
        return logits if statics is None else statics(logits.softmax(-1))

    for name, module in model.named_modules():
        if name.endswith((".router", ".gate", ".router.layer", ".router.proj", ".gate.wg")) and hasattr(module, "weight"):
            module.register_forward_pre_hook(lambda m, args, name=name: logits.append(scores(name, m, torch.nn.functional.linear(
                args[0].reshape(-1, m.weight.shape[1]), m.weight, getattr(m, "bias", None)))))
    logits_of(model, tokens)
    for module in model.modules():
        module._forward_pre_hooks.clear()
    best = torch.stack(logits).sort(-1, descending=True).values
    return float((best[..., k - 1] - best[..., k]).min())


def main():
    for name, describe in ALL_CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        c = with_common(describe())
        seed = c["seed"] if "seed" in c else 100 * NUMBERS[name]
        while True:  # a draw where no token is near a change of experts
            tokens = tokens_for(seed, c["arch"])
            model = build(c, seed)
            margin = router_margin(c, model, tokens)
            if margin is None or margin > c.get("margin", 0.02):
                break
            seed += 1
        logits = logits_of(model, tokens)
        effect = {}
        for what, changes in c["without"].items():
            try:
                other = logits_of(build(c, seed, changes), tokens)
            except RuntimeError as e:
                raise RuntimeError(f"{name}, without {what}") from e
            effect[what] = round(float(np.abs(other - logits).max()), 4)
            assert effect[what] > 4e-4 * logits.std(), (name, what, effect)  # the tests allow 1e-4
        write(HERE / f"{name}.gguf", name, c, model)
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        info = {"case": name, "architecture": c["arch"], "tokens": tokens, "n_vocab": c["config"]["vocab_size"],
                "oracle": ORACLE.replace("eager", c.get("attention", "eager")),
                "seed": seed, "logits_std": round(float(logits.std()), 3),
                "max_logit_change_without": effect, "note": c["note"]}
        if c["arch"] == "bert" or c.get("encoder"):
            info["width"] = c["config"]["hidden_size"]
        if margin is not None:
            info["smallest_router_margin"] = round(margin, 4)
        (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
        print(f"{name:14} std {logits.std():.2f}  max {np.abs(logits).max():.2f}  {effect}"
              + (f"  margin {margin:.3f}" if margin is not None else ""))


if __name__ == "__main__":
    main()
