#!/bin/sh
# From a clone to text: installs what is missing, builds, lets a model write as
# you watch, and a second one answer a question. Without a MODEL the first one
# comes with Runcible too.
#
#   examples/quickstart.sh [MODEL.gguf [PROMPT]]
set -eu
model=${1-builtin:fable}
prompt=${2-}
if [ $# -gt 2 ]; then
  echo "usage: examples/quickstart.sh [MODEL.gguf [PROMPT]]" >&2
  exit 2
fi
case $model in
  builtin:*) ;;
  *)
    if [ ! -r "$model" ]; then
      echo "$model: there is no such file, or it cannot be read" >&2
      exit 1
    fi
    model=$(realpath "$model")
    ;;
esac
cd "$(dirname "$0")/.."
. examples/setup.sh

stage "packages"
# shellcheck disable=SC2086
need_packages $build_packages

stage "build"
# What is configured already stays as it is; ninja looks after changes.
if [ ! -f build/release/build.ninja ]; then
  mkdir -p build
  cmake --preset release -DRUNCIBLE_BUILD_TESTS=OFF >build/configure.log 2>&1 ||
    { cat build/configure.log >&2; exit 1; }
fi
# All that can be installed, whatever else the folder is configured for.
cmake --build --preset release --target runcible_installed

stage "the devices of this machine"
build/release/bin/runcible devices

stage "text"
build/release/bin/runcible run "$model" -p "$prompt" --echo -n 300

stage "a conversation"
question="What is the moral of The Bear and the Honey?"
echo "> $question"
echo "$question" | build/release/bin/runcible chat --temperature 0

stage "done"
cat <<'END'
What to try next, from the folder of the clone:
  to talk to it      build/release/bin/runcible chat
  your own model     build/release/bin/runcible run MODEL.gguf -p "Once"
  another backend    build/release/bin/runcible run --backend reference
  to install it      sudo cmake --install build/release && sudo ldconfig
  a program in C     cc examples/hello.c -o hello \
                       $(pkg-config --cflags --libs runcible) && ./hello
END
echo "In all that took $(($(date +%s) - started)) seconds."
