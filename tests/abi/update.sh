#!/bin/sh
# Writes the symbol list and the ABI dump anew:
#
#   tests/abi/update.sh build/release/lib/libruncible.so
#
# Say in the commit why the ABI changes.
set -eu
library=$1
folder=$(dirname "$0")
. "$folder/dump.sh"
nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort \
  > "$folder/symbols.txt"
dump_abi > "$folder/libruncible.abi"
