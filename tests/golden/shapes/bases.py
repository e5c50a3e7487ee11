"""A tiny model of each model type: the classes and settings that a draw starts from."""

import sys
from pathlib import Path

import transformers as hf

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "architectures"), str(HERE.parent / "traits")]
import make  # noqa: E402, also makes float32 mean float64
from attention_cases import ATTENTION_CASES  # noqa: E402
from cases import CASES  # noqa: E402
from earlier_cases import EARLIER_CASES  # noqa: E402
from more_cases import MORE_CASES  # noqa: E402
from state_cases import STATE_CASES  # noqa: E402

EXPERTS = dict(num_experts=4, num_experts_per_tok=2)

# Of types that no case of ../architectures makes as these releases do: the class and what its configuration says.
FURTHER = {
    "dbrx": ("Dbrx", "dbrx", dict(d_model=32, n_heads=4, n_layers=2, max_seq_len=512, vocab_size=64, attn_config=dict(kv_n_heads=2, clip_qkv=8.0, rope_theta=1e4),
                                  ffn_config=dict(ffn_hidden_size=16, moe_num_experts=4, moe_top_k=2, hidden_size=32))),
    "apertus": ("Apertus", "apertus", dict(make.COMMON)),
}

# Models that see pictures: the type of their text part, and the sizes of the others.
SMALL_VISION = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, patch_size=2, image_size=8)
WHOLE = {
    "gemma3": ("gemma3_text", dict(vision_config=SMALL_VISION)),
    "gemma4": ("gemma4_text", dict(vision_config=dict(SMALL_VISION, head_dim=8, num_key_value_heads=2))),
    "qwen3_5": ("qwen3_5_text", dict(vision_config=dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=2, out_hidden_size=32, patch_size=2,
                                                        num_position_embeddings=16))),
}
WHOLE["qwen3_5_moe"] = ("qwen3_5_moe_text", WHOLE["qwen3_5"][1])

# Such that can't be made or run here: their text part, their class, and what the names of its tensors begin with in place of "model.".
WRAPPED = {
    "dots3_note": ("dots3_note_text", "Dots3NoteForConditionalGeneration", "model.language_model."),
    "gemma3n": ("gemma3n_text", "Gemma3nForConditionalGeneration", "model.language_model."),
    "gemma4_unified": ("gemma4_unified_text", "Gemma4UnifiedForConditionalGeneration", "model.language_model."),
    "llama4": ("llama4_text", "Llama4ForConditionalGeneration", "language_model.model."),
}


def of_case(describe):
    c = make.with_common(describe())
    settings = {key: value for key, value in c["config"].items() if key != "layers"}
    config = c["make"](**settings, attn_implementation="eager")
    return dict(config=config, model=c["model"], arch=c["arch"], used=c.get("experts_used"))


def of_further(kind, arch, settings):
    return dict(config=getattr(hf, kind + "Config")(**settings, attn_implementation="eager"), model=getattr(hf, kind + "ForCausalLM"), arch=arch, used=None)


def of_whole(model_type, text, settings):
    config = type(hf.AutoConfig.for_model(model_type))(text_config=text["config"].to_dict(), attn_implementation="eager", pad_token_id=0, **settings)
    return dict(config=config, model=hf.AutoModelForImageTextToText._model_mapping[type(config)], arch=text["arch"], used=text["used"])


def bases():
    """By model type."""
    result, failed = {}, {}
    for group in (make.ALL_CASES, CASES, MORE_CASES, EARLIER_CASES, ATTENTION_CASES, STATE_CASES):
        for name, describe in group.items():
            try:
                base = of_case(describe)
            except Exception as e:  # of another release
                failed[name] = e
                continue
            result.setdefault(base["config"].model_type, base)
    for model_type, further in FURTHER.items():
        if model_type not in result:
            result[model_type] = of_further(*further)
    if "gemma4_text" in result:
        config = result["gemma4_text"]["config"].to_dict() | dict(model_type="gemma4_unified_text", hidden_size_per_layer_input=0)
        result["gemma4_unified_text"] = result["gemma4_text"] | dict(
            config=hf.Gemma4UnifiedTextConfig(**config, attn_implementation="eager"), model=hf.Gemma4UnifiedForCausalLM)
    if "gpt2" in result:  # whose class and configuration it has
        result["gpt-sw3"] = result["gpt2"] | dict(renamed="gpt-sw3")
    for model_type, (text, settings) in WHOLE.items():
        if text in result:
            result[model_type] = of_whole(model_type, result[text], settings)
    for model_type, (text, name, prefix) in WRAPPED.items():
        if text in result:
            result[model_type] = result[text] | dict(wrapped=(model_type, name, prefix))
    return result, failed


if __name__ == "__main__":
    made, failed = bases()
    print(len(made), sorted(made))
    for name, e in failed.items():
        print(name, type(e).__name__, str(e)[:200])
