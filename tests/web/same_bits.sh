#!/bin/sh
# Whether models compute the same bits in WebAssembly as natively, at the level
# that multiplies and adds in the same steps:
#
#   same_bits.sh NATIVE_BUILD FOLDER COMMAND...
#
# COMMAND is the program `bits` in WebAssembly; it is compiled for NATIVE_BUILD
# here, and what both print goes to FOLDER. RUNCIBLE_RELAXED names the module of
# the level `relaxed`, if there is one.
set -eu
cd "$(dirname "$0")/../.."
native=$1
folder=$2
shift 2
mkdir -p "$folder"

cc -O1 -std=c99 -Iinclude tests/web/bits.c -o "$folder/bits" \
  -L"$native/lib" -lruncible "-Wl,-rpath,$(cd "$native" && pwd)/lib"
models="examples/model/fable.gguf tests/golden/architectures/*.gguf"
export RUNCIBLE_CONFIG=
# shellcheck disable=SC2086
RUNCIBLE_ISA=baseline "$folder/bits" cpu $models >"$folder/native"
for level in simd128 ${RUNCIBLE_RELAXED:+relaxed}; do
  # shellcheck disable=SC2086
  RUNCIBLE_ISA=$level "$@" cpu $models >"$folder/$level"
  diff "$folder/native" "$folder/$level"
  echo "$level: the same bits and texts of" \
    "$(grep -c ' [0-9a-f]\{16\}$' "$folder/$level") models"
done
