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

# A folder that holds something else stays as it is.
if [ -e "$module" ] && ! grep -qsx 'module runcible' "$module/go.mod"; then
  echo "$module exists, and is not the module: name a new folder" >&2
  exit 1
fi
rm -rf "$module"
mkdir -p "$module"
cp -R "$here/src/." "$module"
"${SWIG:-swig}" -go -cgo -intgosize 64 -Wall -Werror \
  -I"$here/swig" -I"$shared" -I"$headers" \
  -outdir "$native" -o "$native/native_wrap.c" "$here/swig/native.i"
cp "$shared/mailbox.c" "$shared/mailbox.h" "$here/swig/values.h" "$native"
"${PYTHON:-python3}" "$here/document.py" "$headers/runcible" "$module"/*.go
gofmt -w "$module"
