#!/bin/sh
# From a clone to text: installs the packages that are missing, builds the command
# for this machine, lets a model write as you watch, and a second one answer a
# question. Without a MODEL the first model is also one that comes with Runcible.
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
# Builds in a separate folder, without parts that a text does not need: backends
# for GPUs, kernels for other processors, and most of the optimisation outside of
# kernels. An existing configuration stays; ninja handles changes.
bin=build/quickstart/bin
if [ ! -f build/quickstart/build.ninja ]; then
  mkdir -p build
  cmake --preset quickstart >build/configure.log 2>&1 ||
    { cat build/configure.log >&2; exit 1; }
  sed -n 's/^-- \(Left out: \)/\1/p' build/configure.log
fi
cmake --build --preset quickstart

stage "the devices of this machine"
$bin/runcible devices

stage "text"
$bin/runcible run "$model" -p "$prompt" --echo -n 300

stage "a conversation"
question="What is the moral of The Bear and the Honey?"
echo "> $question"
echo "$question" | $bin/runcible chat --temperature 0

stage "done"
cat <<'END'
What to try next, from the folder of the clone:
  to talk to it      build/quickstart/bin/runcible chat
  your own model     build/quickstart/bin/runcible run MODEL.gguf -p "Once"
  another backend    build/quickstart/bin/runcible run --backend reference
  all of it          cmake --preset release -DRUNCIBLE_BUILD_TESTS=OFF &&
                       cmake --build --preset release
                     the library, fully optimised, for every processor, with the
                     backends for GPUs; some minutes
  then install it    sudo cmake --install build/release && sudo ldconfig
  a program in C     cc examples/hello.c -o hello \
                       $(pkg-config --cflags --libs runcible) && ./hello
END
echo "In all that took $(($(date +%s) - started)) seconds."
