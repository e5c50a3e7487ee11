#!/usr/bin/env python3
"""Writes docs/models.md: the models that Runcible reads, by architecture.

    docs/models.py            writes the page
    docs/models.py --check    fails if the page is not what would be written

Architectures and model types are read from src/model/architectures and
src/files/folder/architectures; tests/model/models_page_test.cc compares the page with
what the library knows. The common names of the models are below; each architecture
must have one.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "models.md"

# Section -> architecture -> models.
MODELS = {
    "Text": {
        "llama": "Llama 2 to 3.3, Mistral, Mixtral, SmolLM 1 and 2, InternLM 3, CWM, "
                 "IQuest-Coder and others of this form",
        "llama4": "Llama 4 (text)",
        "mistral3": "Ministral 3, Mistral 3 (text)",
        "smollm3": "SmolLM 3",
        "qwen": "Qwen 1",
        "qwen2": "Qwen 1.5 to 2.5",
        "qwen2moe": "Qwen 1.5 MoE, Qwen 2 MoE",
        "qwen2vl": "Qwen 2 VL, Qwen 2.5 VL (text)",
        "qwen3": "Qwen 3",
        "qwen3moe": "Qwen 3 with experts",
        "qwen3next": "Qwen3-Next",
        "qwen3vl": "Qwen 3 VL (text)",
        "qwen3vlmoe": "Qwen 3 VL with experts (text)",
        "qwen35": "Qwen 3.5 (text)",
        "qwen35moe": "Qwen 3.5 with experts (text)",
        "gemma": "Gemma 1",
        "gemma2": "Gemma 2",
        "gemma3": "Gemma 3 (text)",
        "gemma3n": "Gemma 3n (text)",
        "gemma4": "Gemma 4 (text)",
        "gpt-oss": "gpt-oss",
        "deepseek": "DeepSeek V1 with experts",
        "deepseek2": "DeepSeek V2, V3 and R1, Kimi K2, GLM 4.7 Flash, Youtu-LLM, "
                     "Sarvam 105B",
        "deepseek32": "DeepSeek V3.2, as long as its indexer chooses every position",
        "glm-dsa": "GLM 5, as long as its indexer chooses every position",
        "kimi-linear": "Kimi Linear",
        "bailingmoe": "Ling (first generation)",
        "bailingmoe2": "Ling 2, Sarvam 30B",
        "minimax-01": "MiniMax-01, MiniMax-M1",
        "minimax-m2": "MiniMax-M2",
        "minicpm": "MiniCPM 1, 2 and 4",
        "minicpm3": "MiniCPM 3",
        "internlm2": "InternLM 2",
        "baichuan": "Baichuan 1",
        "seed_oss": "Seed-OSS",
        "ernie4_5": "ERNIE 4.5",
        "ernie4_5-moe": "ERNIE 4.5 with experts",
        "granite": "Granite 3",
        "granitemoe": "Granite 3 with experts",
        "granitehybrid": "Granite 4.0-h, Bamba",
        "granite_swa": "Granite with attention sinks",
        "olmo": "OLMo 1",
        "olmo2": "OLMo 2 and 3",
        "olmoe": "OLMoE",
        "hunyuan-dense": "Hunyuan, dense",
        "hunyuan-moe": "Hunyuan with experts",
        "hy_v3": "Hy3",
        "chatglm": "ChatGLM 2 and 3, GLM 4 (first generation)",
        "glm4": "GLM 4",
        "glm4moe": "GLM 4.5 to 4.7, Solar Open",
        "dots1": "dots.llm1",
        "dots3note": "dots3.note (text), as long as its indexer chooses every position",
        "phi2": "Phi 1.5 and 2",
        "phi3": "Phi 3 to 4",
        "phimoe": "Phi 3.5 MoE",
        "dbrx": "DBRX",
        "exaone": "EXAONE 3",
        "exaone4": "EXAONE 4 and 4.5 (text)",
        "exaone-moe": "K-EXAONE",
        "mimo2": "MiMo V2 Flash",
        "step35": "Step 3.5 and 3.7",
        "jais2": "Jais 2",
        "mellum": "Mellum 2",
        "bitnet": "BitNet, but for packed weights in folders",
        "arcee": "Arcee AFM",
        "afmoe": "Arcee Trinity",
        "apertus": "Apertus",
        "nemotron": "Nemotron 4",
        "nemotron_h": "Nemotron-H",
        "nemotron_h_moe": "Nemotron-H with experts",
        "lfm2": "LFM2",
        "lfm2moe": "LFM2 with experts",
        "falcon": "Falcon",
        "falcon-h1": "Falcon-H1",
        "starcoder": "StarCoder 1",
        "starcoder2": "StarCoder 2",
        "codeshell": "CodeShell",
        "stablelm": "StableLM",
        "command-r": "Command R",
        "cohere2": "Command R7B, Command A",
        "cohere2moe": "Command A+, North",
        "laguna": "Laguna",
        "opt": "OPT",
        "gpt2": "GPT-2, GPT-SW3",
        "gptneo": "GPT-Neo",
        "gptj": "GPT-J, CodeGen",
        "gptneox": "GPT-NeoX, Pythia",
        "mpt": "MPT",
        "bloom": "BLOOM",
        "orion": "Orion",
        "xverse": "XVERSE",
        "mamba": "Mamba 1, Falcon Mamba",
        "mamba2": "Mamba 2",
        "jamba": "Jamba",
        "rwkv6": "RWKV 6",
        "rwkv7": "RWKV 7",
    },
    "Text from a source": {
        "t5": "T5, Flan-T5, mT5, UMT5",
    },
    "Encoders": {
        "bert": "BERT, RoBERTa, XLM-RoBERTa, CamemBERT",
        "nomic-bert": "Nomic BERT",
        "nomic-bert-moe": "Nomic BERT with experts",
        "jina-bert-v2": "Jina BERT v2",
        "modern-bert": "ModernBERT",
        "eurobert": "EuroBERT",
        "gemma-embedding": "EmbeddingGemma",
        "t5encoder": "encoders of T5",
    },
}

# Model types whose architecture a function chooses.
CHOSEN = {"bert": ("bert", "jina-bert-v2"), "nomic_bert": ("nomic-bert", "nomic-bert-moe"),
          "nemotron_h": ("nemotron_h", "nemotron_h_moe"),
          "gemma3_text": ("gemma3", "gemma-embedding"), "gemma3": ("gemma3",)}


def architectures():
    """The names of general.architecture."""
    names = set()
    for path in sorted((ROOT / "src/model/architectures").glob("*.cc")):
        text = path.read_text()
        names.update(re.findall(r'\.name = "([^"]+)"', text))
        names.update(re.findall(r'constexpr Architecture k\w+ = \w+\("([^"]+)"\)', text))
    return names


def model_types():
    """Model type of config.json -> general.architecture."""
    found = {}
    for path in sorted((ROOT / "src/files/folder/architectures").glob("*.cc")):
        blocks = re.split(r"\n(?=constexpr Architecture |const Architecture )", path.read_text())
        for block in blocks:
            kind = re.search(r'\.model_type = "([^"]+)"', block)
            if kind is None:
                continue
            name = re.search(r'\.name = "([^"]+)"', block)
            for each in CHOSEN.get(kind[1], (name and name[1],)):
                found.setdefault(each, set()).add(kind[1])
        for made, kind in re.findall(r'= t5_(\w+)\(\s*"([^"]+)"', path.read_text()):
            found.setdefault("t5" if made == "whole" else "t5encoder", set()).add(kind)
    return found


def page():
    known = architectures()
    named = [name for models in MODELS.values() for name in models]
    for name in sorted(known ^ set(named)):
        sys.exit(f"docs/models.py: {name}: " +
                 ("its models are not named" if name in known else "no architecture"))
    types = model_types()
    lines = [
        "# Models",
        "",
        "The models that Runcible reads: as a GGUF file by `general.architecture`, and as a",
        "folder of Hugging Face transformers by `model_type`. Other models are refused with a",
        "message that names the architecture. Written by `docs/models.py`.",
        "",
        "Weights are F32, F16, BF16 and all quantized types of GGUF: Q1_0 to Q8_0, IQ1_S to",
        "IQ4_XS, TQ1_0 and TQ2_0, MXFP4 and NVFP4. Weights in folders may also be FP8, GPTQ,",
        "AWQ and compressed-tensors.",
        "",
        "Each architecture is compared with transformers in double precision, on small models",
        "with random weights ([how](../tests/golden/architectures/README.md)). Published",
        "checkpoints have [a table of their own](checkpoints.md).",
    ]
    for section, models in MODELS.items():
        lines += ["", f"## {section}", "", "| models | GGUF | folders |", "|---|---|---|"]
        for name, text in models.items():
            of_folders = ", ".join(f"`{each}`" for each in sorted(types.get(name, ())))
            lines.append(f"| {text} | `{name}` | {of_folders or '–'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit("docs/models.md is not what docs/models.py writes; run docs/models.py")


if __name__ == "__main__":
    main()
