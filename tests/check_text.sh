#!/bin/sh
# The text of the sources: format, static analysis, shell scripts.
#   tests/check_text.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
build=$1
# What the sources are: tracked files, or all of a tree without git.
sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -- "$@"
  else
    for pattern in "$@"; do find . -path ./build -prune -o -name "$pattern" -print; done
  fi
}

echo "clang-format"
sources '*.cc' '*.c' '*.h' | xargs clang-format --dry-run --Werror

echo "clang-tidy"
# Each file once, on all cores; the tests' own sources are left to the
# compiler.
sources '*.cc' | grep -E '^(\./)?(src|backends)/' |
  xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet \
    --extra-arg=-Wno-unknown-warning-option 2>/dev/null
echo "the text is in order"
