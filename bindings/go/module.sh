#!/bin/sh
# Writes the Go module "runcible" to a folder: the package, what SWIG makes of
# the headers, and their comments.
#
#   bindings/go/module.sh FOLDER
#
# SWIG is SWIG 4.2 or newer (swig), PYTHON is Python 3 (python3).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
shared=$here/../swig
headers=$here/../../include
module=$1
native=$module/internal/native

rm -rf "$module"
mkdir -p "$module"
cp -R "$here/src/." "$module"
"${SWIG:-swig}" -go -cgo -intgosize 64 -Wall -Werror \
  -I"$here/swig" -I"$shared" -I"$headers" \
  -outdir "$native" -o "$native/native_wrap.c" "$here/swig/native.i"
cp "$shared/mailbox.c" "$shared/mailbox.h" "$here/swig/values.h" "$native"
"${PYTHON:-python3}" "$here/document.py" "$headers/runcible" "$module"/*.go
gofmt -w "$module"
