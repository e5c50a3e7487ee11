#!/bin/sh
# Whether models compute the same bits in WebAssembly as natively, at the level
# that multiplies and adds in the same steps:
#
#   same_bits.sh NATIVE_BUILD FOLDER COMMAND...
#
# COMMAND is the program `bits` in WebAssembly; it is compiled for NATIVE_BUILD
# here, and what both print goes to FOLDER.
set -eu
cd "$(dirname "$0")/../.."
native=$1
folder=$2
shift 2
mkdir -p "$folder"

cc -O1 -std=c99 -Iinclude tests/web/bits.c -o "$folder/bits" \
  -L"$native/lib" -lruncible "-Wl,-rpath,$(cd "$native" && pwd)/lib"
models=examples/model/fable.gguf
# Not gptneox, mpt and others with the error function: it is the C library's.
for name in llama2 mistral gemma2 qwen3 qwen3moe gpt-oss gemma3 llama-layers \
  granitehybrid mamba2 phi3 qwen2moe cohere2 glm4moe deepseek2 llama4 lfm2 \
  nemotron_h falcon-h1 jamba qwen3next qwen35 gemma4 gemma3n dbrx minicpm rwkv6 \
  rwkv7; do
  models="$models tests/golden/architectures/$name.gguf"
done
export RUNCIBLE_CONFIG=
# shellcheck disable=SC2086
RUNCIBLE_ISA=baseline "$folder/bits" cpu $models >"$folder/native"
# shellcheck disable=SC2086
"$@" cpu $models >"$folder/web"
diff "$folder/native" "$folder/web"
echo "the same bits and texts of: $models"
