#!/bin/sh
# Writes the symbol list and the ABI dump anew, from a library that was built
# with debug information:
#
#   tests/abi/update.sh build/debug/lib/libruncible.so
#
# Say in the commit why the ABI changes.
set -eu
library=$1
folder=$(dirname "$0")
nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort \
  > "$folder/symbols.txt"
. "$folder/dump.sh"
dump_abi "$library" > "$folder/libruncible.abi"
