#!/bin/sh
# Compares the exported symbols and the ABI of a library with what is committed.
#
#   tests/abi/check.sh LIBRARY
set -eu
library=$1
folder=$(dirname "$0")

symbols=$(nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort)
if ! printf '%s\n' "$symbols" | diff -u "$folder/symbols.txt" -; then
  echo "the exported symbols are not those of tests/abi/symbols.txt;" \
       "if that is meant, run tests/abi/update.sh" >&2
  exit 1
fi

if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
  echo "abidw and abidiff (package abigail-tools) are not here:" \
       "only the symbols were compared"
  exit 0
fi
if ! readelf -S "$library" | grep -q '\.debug_info'; then
  echo "the library has no debug information: only the symbols were compared"
  exit 0
fi
now=$(mktemp)
trap 'rm -f "$now"' EXIT
. "$folder/dump.sh"
dump_abi "$library" > "$now"
if ! abidiff "$folder/libruncible.abi" "$now"; then
  echo "the ABI is not that of tests/abi/libruncible.abi;" \
       "if that is meant, run tests/abi/update.sh" >&2
  exit 1
fi
