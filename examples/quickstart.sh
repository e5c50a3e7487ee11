#!/bin/sh
# From a clone to generated text: installs what is missing, builds, runs.
#
#   examples/quickstart.sh MODEL.gguf [PROMPT]
set -eu
cd "$(dirname "$0")/.."
. examples/setup.sh

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: examples/quickstart.sh MODEL.gguf [PROMPT]" >&2
  echo "MODEL.gguf is a language model in GGUF format that you have." >&2
  exit 2
fi
model=$1
prompt=${2-Once upon a time}
if [ ! -r "$model" ]; then
  echo "$model: there is no such file, or it cannot be read" >&2
  exit 1
fi

stage "packages"
# shellcheck disable=SC2086
need_packages $build_packages

stage "build"
cmake --preset release -DRUNCIBLE_BUILD_TESTS=OFF >build.log 2>&1 ||
  { cat build.log >&2; exit 1; }
rm -f build.log
cmake --build --preset release --target runcible

stage "the devices of this machine"
build/release/bin/runcible devices

stage "text"
build/release/bin/runcible run "$model" -p "$prompt" -n 200

stage "done"
cat <<'END'
What to try next:
  build/release/bin/runcible --help                 every command and option
  build/release/bin/runcible bench MODEL.gguf       how fast it is here
  sudo cmake --install build/release                library, headers, command
END
