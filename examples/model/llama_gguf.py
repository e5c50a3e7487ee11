"""Writes and reads Llama models as GGUF: matrices as Q8_0, norms as F32.

The layout is that of every Llama file: rows of q and k are reordered from the two halves of a head, as transformers
rotates them, to neighbouring pairs.
"""

from pathlib import Path

import gguf
import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaForCausalLM

NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, *part, _ = name.split(".")
    return f"blk.{layer}.{NAMES['.'.join(part)]}.weight"


def pairs(weight, heads):
    """[heads * (2 * half), n]: the two halves of each head become pairs."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def add_tokens(writer, tokenizer):
    """Adds the tokens of a byte-level BPE tokenizer of `tokenizers`; returns the ids of its special tokens."""
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([" ".join(merge) for merge in tokenizer["model"]["merges"]])
    return special


def add_shape(writer, config):
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)


def add_weights(writer, model):
    config = model.config
    for name, parameter in model.named_parameters():
        weight = parameter.detach().float().numpy()
        if "q_proj" in name:
            weight = pairs(weight, config.num_attention_heads)
        elif "k_proj" in name:
            weight = pairs(weight, config.num_key_value_heads)
        if weight.ndim == 1:
            writer.add_tensor(gguf_name(name), weight)
        else:
            blocks = gguf.quantize(np.ascontiguousarray(weight), gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(gguf_name(name), blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)


def write(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_tokenizer(path):
    file = gguf.GGUFReader(path)
    tokens = file.get_field(gguf.Keys.Tokenizer.LIST).contents()
    merges = [tuple(merge.split(" ")) for merge in file.get_field(gguf.Keys.Tokenizer.MERGES).contents()]
    tokenizer = Tokenizer(models.BPE({token: index for index, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    types = file.get_field(gguf.Keys.Tokenizer.TOKEN_TYPE).contents()
    tokenizer.add_special_tokens([token for token, kind in zip(tokens, types) if kind == gguf.TokenType.CONTROL])
    return tokenizer


def read_model(path):
    path = Path(path)
    return LlamaForCausalLM.from_pretrained(path.parent, gguf_file=path.name).eval()
