#!/usr/bin/env python3
"""Small Llama folders with quantized weights, and the same with what the weights stand for.

    python make.py

Writes NAME/config.json, NAME/model.safetensors and NAME/plain.safetensors. What FP8 and integers stand for is computed by
torch, in the layouts of compressed-tensors (version 0.20.0) by its own functions, of GPTQ and AWQ by what their
documentation says of them, as below. Versions: ../requirements.txt.
"""

import json
from pathlib import Path

import numpy as np
import torch
from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.lifecycle.forward import dequantize
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
LAYER = "model.layers.0."
SHAPES = {"self_attn.q_proj": (32, 48), "self_attn.k_proj": (16, 48), "self_attn.v_proj": (16, 48),
          "self_attn.o_proj": (48, 32), "mlp.gate_proj": (64, 48), "mlp.up_proj": (64, 48), "mlp.down_proj": (48, 64)}
QUANTIZED = ["self_attn.q_proj", "self_attn.k_proj", "mlp.down_proj"]


def blocks(scale, shape, rows, columns):
    """A scale for each element."""
    return scale.repeat_interleave(rows, 0)[:shape[0]].repeat_interleave(columns, 1)[:, :shape[1]]


def scales(rng, *shape, dtype=torch.float32):
    return torch.tensor(rng.uniform(0.004, 0.02, shape), dtype=torch.float32).to(dtype)


def fp8(rng, shape, kind=torch.float8_e4m3fn):
    return torch.tensor(rng.normal(0, 8, shape), dtype=torch.float32).to(kind)


def fp8_block(rng, name, shape):
    weight = fp8(rng, shape)
    scale = scales(rng, -(-shape[0] // 20), -(-shape[1] // 20))
    return {"weight": weight, "weight_scale_inv": scale}, weight.float() * blocks(scale, shape, 20, 20)


def fp8_tensor(rng, name, shape):
    weight, scale = fp8(rng, shape, torch.float8_e5m2), scales(rng)
    return {"weight": weight, "weight_scale": scale, "input_scale": scales(rng)}, weight.float() * scale


def fp8_channel(rng, name, shape):
    weight, scale = fp8(rng, shape), scales(rng, shape[0], 1, dtype=torch.bfloat16)
    return {"weight": weight, "weight_scale": scale}, dequantize(weight, scale.float(), args=QuantizationArgs(
        num_bits=8, type="float", strategy="channel"), dtype=torch.float32)


def int8_channel(rng, name, shape):
    weight = torch.tensor(rng.integers(-128, 128, shape), dtype=torch.int8)
    scale = scales(rng, shape[0], 1, dtype=torch.bfloat16)
    zero = torch.tensor(rng.integers(-9, 9, (shape[0], 1)), dtype=torch.int8)
    return ({"weight": weight, "weight_scale": scale, "weight_zero_point": zero},
            (weight.float() - zero.float()) * scale.float())


def packed(bits, symmetric, groups=None, grouped=16):
    def make(rng, name, shape):
        half = 1 << (bits - 1)
        weight = torch.tensor(rng.integers(-half, half, shape), dtype=torch.int8)
        count = shape[1] // grouped if grouped else 1
        scale = scales(rng, shape[0], count, dtype=torch.bfloat16)
        zero = torch.zeros_like(scale, dtype=torch.int8)
        out = {"weight_packed": pack_to_int32(weight, bits), "weight_scale": scale,
               "weight_shape": torch.tensor(shape)}
        if not symmetric:
            zero = torch.tensor(rng.integers(-half, half, scale.shape), dtype=torch.int8)
            out["weight_zero_point"] = pack_to_int32(zero, bits, packed_dim=0).contiguous()
        of = torch.arange(shape[1]) // (grouped or shape[1])
        if groups:
            of = torch.tensor(rng.permutation(of.numpy()), dtype=torch.int32)
            out["weight_g_idx"] = of
        return out, (weight.float() - zero.float()[:, of]) * scale.float()[:, of]
    return make


def words(values, bits, axis, order=None):
    """32-bit words of several numbers along an axis, the lowest bits first."""
    count = 32 // bits
    values = np.moveaxis(values, axis, -1).astype(np.uint32)
    values = values.reshape(*values.shape[:-1], -1, count)[..., order or range(count)]
    word = np.zeros(values.shape[:-1], np.uint32)
    for i in range(count):
        word |= values[..., i] << np.uint32(i * bits)
    return torch.tensor(np.ascontiguousarray(np.moveaxis(word, -1, axis)).view(np.int32))


def columns(method, bits, group, act_order=False, offset=0):
    """GPTQ: qweight [in * bits / 32, out]; AWQ: [in, out * bits / 32], where rows 0 2 4 6 1 3 5 7 share a word."""
    def make(rng, name, shape):
        out, into = shape
        size = group if group > 0 else into
        weight = rng.integers(0, 1 << bits, (into, out))
        scale = scales(rng, into // size, out, dtype=torch.float16)
        zero = rng.integers(0, 1 << bits, (into // size, out))
        of = np.arange(into) // size
        order = [0, 2, 4, 6, 1, 3, 5, 7] if method == "awq" else None
        tensors = {"qweight": words(weight, bits, 1 if method == "awq" else 0, order), "scales": scale,
                   "qzeros": words((zero - offset) % (1 << bits), bits, 1, order)}
        if act_order:
            of = rng.permutation(of)
        if method == "gptq":
            tensors["g_idx"] = torch.tensor(of, dtype=torch.int32)
        plain = torch.tensor(weight - zero[of], dtype=torch.float32) * scale.float()[of]
        return tensors, plain.T.contiguous()
    return make


def compressed(form, **weights):
    return {"quant_method": "compressed-tensors", "format": form, "ignore": ["lm_head"],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


CASES = {
    "fp8": ({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [20, 20]}, fp8_block),
    "fp8-tensor": ({"quant_method": "fp8", "activation_scheme": "static"}, fp8_tensor),
    "float-quantized": (compressed("float-quantized", num_bits=8, type="float", strategy="channel"), fp8_channel),
    "int-quantized": (compressed("int-quantized", num_bits=8, type="int", strategy="channel"), int8_channel),
    "pack-quantized": (compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=16),
                       packed(4, True)),
    "pack-quantized-zeros": (compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=16,
                                        symmetric=False, actorder="group"), packed(4, False, groups=True)),
    "pack-quantized-8": (compressed("pack-quantized", num_bits=8, type="int", strategy="channel"),
                         packed(8, True, grouped=None)),
    "gptq": ({"quant_method": "gptq", "bits": 4, "group_size": 16, "desc_act": True, "sym": False},
             columns("gptq", 4, 16, act_order=True, offset=1)),
    "gptq-v2": ({"quant_method": "gptq", "bits": 8, "group_size": -1, "desc_act": False,
                 "checkpoint_format": "gptq_v2"}, columns("gptq", 8, -1)),
    "awq": ({"quant_method": "awq", "bits": 4, "group_size": 16, "zero_point": True, "version": "gemm"},
            columns("awq", 4, 16)),
}


def main():
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 48, "intermediate_size": 64,
              "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "num_hidden_layers": 1,
              "vocab_size": 32, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
              "hidden_act": "silu", "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2}
    for number, (name, (quantization, make)) in enumerate(CASES.items()):
        rng = np.random.default_rng(number)
        normal = lambda *shape: torch.tensor(rng.normal(0, 0.1, shape), dtype=torch.bfloat16)
        common = {"model.embed_tokens.weight": normal(32, 48), "model.norm.weight": normal(48)}
        for norm in ("input_layernorm", "post_attention_layernorm"):
            common[f"{LAYER}{norm}.weight"] = normal(48)
        for matrix, shape in SHAPES.items():
            if matrix not in QUANTIZED:
                common[f"{LAYER}{matrix}.weight"] = normal(*shape)
        tensors, plain = dict(common), dict(common)
        for matrix in QUANTIZED:
            parts, values = make(rng, matrix, SHAPES[matrix])
            tensors |= {f"{LAYER}{matrix}.{part}": value for part, value in parts.items()}
            plain[f"{LAYER}{matrix}.weight"] = values.contiguous()
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config | {"quantization_config": quantization}, indent=1) + "\n")
        save_file(tensors, folder / "model.safetensors")
        save_file(plain, folder / "plain.safetensors")


if __name__ == "__main__":
    main()
