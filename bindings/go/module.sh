#!/bin/sh
# Writes the Go module to a folder: the package, the wrappers that SWIG generates,
# and the comments of the headers.
#
#   bindings/go/module.sh FOLDER [MODULE]
#
# MODULE is the path from which "go get" shall fetch the module (default:
# "runcible").
# SWIG is SWIG 4.2 or newer (swig), PYTHON is Python 3 (python3).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
headers=$here/../../include
module=$1
path=${2:-runcible}
native=$module/internal/native

# A folder that does not contain the module is left as it is.
if [ -e "$module" ] && ! grep -qs '^package runcible$' "$module/doc.go"; then
  echo "$module exists, and is not the module: name a new folder" >&2
  exit 1
fi
rm -rf "$module"
mkdir -p "$module"
cp -R "$here/src/." "$module"
"${PYTHON:-python3}" "$here/../api/generate.py" go "$headers/runcible" \
  "$here/src" "$module"
gofmt -w "$module"
shared=$module/shared
"${PYTHON:-python3}" "$here/../api/generate.py" swig "$headers/runcible" \
  "$here/../swig" "$shared"
"${SWIG:-swig}" -go -cgo -intgosize 64 -Wall -Werror \
  -I"$here/swig" -I"$shared" -I"$headers" \
  -outdir "$native" -o "$native/native_wrap.c" "$here/swig/native.i"
cp "$shared/mailbox.c" "$shared/mailbox.h" "$shared/own_words.h" \
  "$shared/retry_after.h" "$here/swig/values.h" "$native"
rm -r "$shared"
find "$module" -name '*.go' -exec sed -i \
  -e "s#^\(import \|\t\)\"runcible\(/internal/native\)\{0,1\}\"\$#\1\"$path\2\"#" {} +
sed -i "s|^module .*|module $path|" "$module/go.mod"
gofmt -w "$module"
