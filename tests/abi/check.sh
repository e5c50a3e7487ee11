#!/bin/sh
# Compares the SONAME of a library with the version in the public headers, what
# it exports with tests/abi/symbols.txt, and what the headers declare with that
# and with tests/abi/libruncible.abi. Refuses thread_local objects with
# destructors: the C library ends the process if it has no memory to register
# one.
#
#   tests/abi/check.sh LIBRARY
set -eu
library=$1
folder=$(dirname "$0")
. "$folder/dump.sh"
now=$(mktemp)
trap 'rm -f "$now"' EXIT

loaded=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$loaded" != "$(soname)" ]; then
  echo "the SONAME is $loaded; by the version in base.h and rc_abi_check it" \
       "must be $(soname)" >&2
  exit 1
fi

nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort > "$now"
if ! diff -u "$folder/symbols.txt" "$now"; then
  echo "the exported symbols are not those of tests/abi/symbols.txt;" \
       "if that is meant, run tests/abi/update.sh" >&2
  exit 1
fi

if nm -D --undefined-only "$library" | grep -q __cxa_thread_atexit; then
  echo "a thread_local object of the library has a destructor; use" \
       "src/base/thread_owned.h" >&2
  exit 1
fi

if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
  echo "abidw and abidiff (package abigail-tools) are not here:" \
       "only the symbols were compared"
  exit 0
fi
dump_abi > "$now"
if ! abidiff "$folder/libruncible.abi" "$now"; then
  echo "the ABI is not that of tests/abi/libruncible.abi;" \
       "if that is meant, run tests/abi/update.sh" >&2
  exit 1
fi
