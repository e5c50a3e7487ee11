#!/bin/sh
# The tests, in stages: installs what is missing, builds, runs, and lists which tests
# were skipped and why.
#
#   tests/run.sh            the stages that find most: format release install
#                           bindings asan; the last is left out, which is then
#                           said, where those before took longer than 22 minutes
#   tests/run.sh full       every test: those and tsan, arm and web, with the tests that
#                           take long (label kFull of tests/labels.h) and an
#                           implementation of WebGPU
#   tests/run.sh STAGE...   single stages: format release install bindings asan fuzz
#                           tsan arm web tidy instructions fresh
#
# FUZZ_SECONDS (10) is the time of each fuzz target, in the stages asan and fuzz.
# TEST_SET is `full` for the tests that take long in single stages.
set -eu
cd "$(dirname "$0")/.."
. examples/setup.sh
is_default=
[ $# -gt 0 ] || is_default=1
stages=${*:-format release install bindings asan}
began=$(date +%s)
# Seconds after which a run without names of stages begins no long one: all of it is
# to end within 45 minutes on machines of any speed.
patience=1300
left_out=
passed=
if [ "$stages" = full ]; then
  stages="format release install bindings asan tsan arm web"
  TEST_SET=full
fi
export TEST_SET="${TEST_SET:-}"
[ "$TEST_SET" = full ] && is_full=1 || is_full=
jobs=$(nproc)
# Some tests wait.
test_jobs=$((jobs + 1))
# Ignore the user's configuration.
export RUNCIBLE_CONFIG=
# lavapipe compiles shaders for longer than the tests run them.
export GALLIVM_PERF=nopt
# What one stage compiled a later one takes from ccache, also in a copy of the
# tree. Warnings that end one build have ended it before.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS=-Werror
export CCACHE_SLOPPINESS=pch_defines,time_macros
# The same for kernels in PTX.
export PTX_CACHE_DIR="${PTX_CACHE_DIR:-$PWD/build/ptx}"

# Of the languages; pages are tested where their builds are.
language_runs() {
  for run in bindings/*/run.sh; do
    [ "$run" = bindings/web/run.sh ] || echo "$run"
  done
}

stage "packages"
packages="$build_packages libgtest-dev abigail-tools clang libclang-rt-14-dev
  clang-format libvulkan-dev libvulkan-volk-dev glslc mesa-vulkan-drivers
  vulkan-validationlayers pocl-opencl-icd ocl-icd-libopencl1
  libopenblas0-pthread libblis4 libamd-comgr2
  libedit-dev ccache python3 python3-prometheus-client"
case " $stages " in *" tidy "*) packages="$packages clang-tidy" ;; esac
case " $stages " in
  *" arm "*) packages="$packages g++-aarch64-linux-gnu qemu-user" ;;
esac
case " $stages " in
  *" web "*)
    packages="$packages emscripten clang-15 lld-15 llvm-15 dpkg-dev python3"
    packages="$packages $(bindings/web/run.sh --packages)"
    ;;
esac
case " $stages " in
  *" instructions "*) packages="$packages valgrind python3" ;;
esac
case " $stages " in *" fresh "*) packages="$packages debootstrap" ;; esac
case " $stages " in
  *" bindings "*)
    packages="$packages python3-venv"
    for run in $(language_runs); do
      packages="$packages $($run --packages)"
    done
    ;;
esac
# shellcheck disable=SC2086
need_packages $packages

# The files of these names that git tracks, or all of a tree without git.
sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -- "$@"
  else
    for pattern in "$@"; do
      find . -path ./build -prune -o -type f -name "$pattern" -print
    done
  fi
}

# Prints the levels of the cpu backend that are built to be tested, nothing for all:
# those that this machine cannot execute are left out unless everything is tested.
tested_levels() {
  [ -z "$is_full" ] && [ "$(uname -m)" = x86_64 ] || return 0
  case $(processor_flags) in
    *" avx512bw "*) ;;
    *" avx2 "*) echo "baseline;avx2" ;;
    *) echo baseline ;;
  esac
}
processor_flags() {
  echo " $(sed -n '/^flags/{p;q}' /proc/cpuinfo) "
}

# Prints the levels of the cpu backend for the address sanitizer: all levels are the
# same source with vectors of another width, so that one is enough unless everything
# is tested. Kernels of avx512vnni are those of avx512 but for sums of bytes; amx is
# emulated.
sanitized_levels() {
  [ "$(uname -m)" = x86_64 ] || return 0
  if [ -z "$is_full" ]; then
    echo baseline
    return
  fi
  case $(processor_flags) in
    *" avx512_vnni "*) echo "baseline;avx2;avx512vnni;amx" ;;
    *" avx512bw "*) echo "baseline;avx2;avx512" ;;
    *) echo "baseline;avx2" ;;
  esac
}

# Levels of the cpu backend (all if empty), preset, options of CMake.
configure() {
  levels=$1
  preset=$2
  shift 2
  cmake --preset "$preset" -DRUNCIBLE_WERROR=ON -DRUNCIBLE_BUILD_TESTS=ON \
    -DRUNCIBLE_BUILD_EXAMPLES=ON -DRUNCIBLE_CPU_LEVELS="$levels" "$@"
}
configure_and_build() {
  configure "$@"
  cmake --build --preset "$preset"
}

# Preset, options of ctest.
run_tests() {
  preset=$1
  shift
  if [ -n "$is_full" ]; then
    webgpu_library
  else
    set -- "$@" -LE full
  fi
  ctest --preset "$preset" -j "$test_jobs" "$@"
  tests/skipped.py "build/$preset" >"build/$preset/skipped.txt" || {
    cat "build/$preset/skipped.txt" >&2
    exit 1
  }
  ran="$ran $preset"
}
ran=

# Finds or installs an implementation of WebGPU, for the backend webgpu.
webgpu_library() {
  [ -z "${RUNCIBLE_WEBGPU_LIBRARY:-}" ] || return 0
  tools=$PWD/build/webgpu
  [ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check wgpu==0.32.0
  RUNCIBLE_WEBGPU_LIBRARY=$(echo \
    "$tools"/lib/python3*/site-packages/wgpu/resources/libwgpu_native-release.so)
  export RUNCIBLE_WEBGPU_LIBRARY
  # wgpu asks Vulkan for windows, and a layer of Mesa that looks for Wayland then
  # writes to the error output of programs whose output is tested.
  export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$tools}"
}

# A language whose sources, headers and library are those of its last successful run
# is not tested again: prints what they are.
made_from() { # run.sh of the language
  find "$(dirname "$1")" bindings/api bindings/swig bindings/conformance \
    bindings/prepare.sh include build/release/lib build/release/bin/runcible \
    examples/model examples/chat_model -type f ! -name '*.pyc' -exec sha256sum {} + |
    LC_ALL=C sort | sha256sum
}

for name in $stages; do
  case $name in
    release)
      stage "release build and tests"
      configure_and_build "$(tested_levels)" release
      run_tests release
      ;;
    install)
      stage "installed, as programs outside the tree see it"
      [ -d build/release ] || configure_and_build "$(tested_levels)" release
      tests/install/run.sh build/release
      tests/install/commands.sh build/release
      ;;
    bindings)
      stage "bindings, as programs of other languages see them"
      [ -d build/release ] || configure_and_build "$(tested_levels)" release
      python3 -m unittest discover -s bindings/api/tests
      # The first leaves what all of them need. The others use a core or wait, so
      # that they run side by side; the output of each is printed at its end.
      # shellcheck disable=SC2046
      set -- $(language_runs)
      mkdir -p build/bindings/passed
      changed=
      for run in "$@"; do
        if made_from "$run" |
          cmp -s - "build/bindings/passed/$(basename "$(dirname "$run")")" &&
          [ -z "$is_full" ]; then
          echo "$run: passed before with the same sources and library"
        else
          changed="$changed $run"
        fi
      done
      # shellcheck disable=SC2086
      set -- $changed
      if [ $# -gt 0 ]; then
        stage "$1"
        "$1" build/release
        made_from "$1" >"build/bindings/passed/$(basename "$(dirname "$1")")"
        shift
      fi
      [ $# -eq 0 ] || printf '%s\n' "$@" |
        RUNCIBLE_IS_INSTALLED=1 xargs -P "$jobs" -n 1 sh -c '
        status=0
        output=$(mktemp)
        "$1" build/release >"$output" 2>&1 || status=1
        printf "\n== %s\n" "$1"
        cat "$output"
        rm "$output"
        exit $status' side_by_side
      for run in "$@"; do
        made_from "$run" >"build/bindings/passed/$(basename "$(dirname "$run")")"
      done
      bindings/conformance/table.py --check build/bindings/reports/*.tsv
      ;;
    arm)
      stage "kernels for ARM, emulated"
      cmake -S tests/arm -B build/arm -G Ninja --toolchain toolchain.cmake \
        -DRUNCIBLE_WERROR=ON
      cmake --build build/arm
      ctest --test-dir build/arm --output-on-failure -j "$jobs"
      ;;
    web)
      # It compiles all of the library twice more, which takes six minutes of
      # processor time each.
      # -DRUNCIBLE_WEB_ALL_TESTS=ON adds conformance, engines, models, texts and
      # the ABI in C.
      stage "WebAssembly, in Node"
      # Bits are compared with those of this build.
      [ -d build/release ] || configure_and_build "$(tested_levels)" release
      for preset in web web-single; do
        cmake --preset $preset -DRUNCIBLE_WERROR=ON -DRUNCIBLE_BUILD_TESTS=ON
        cmake --build --preset $preset
        ctest --preset $preset -j "$jobs"
      done
      stage "WebAssembly, in browsers"
      bindings/web/run.sh build/release build/web build/web-single
      ;;
    asan)
      if [ -n "$is_default" ] && [ $(($(date +%s) - began)) -gt $patience ]; then
        left_out="$left_out asan"
        continue
      fi
      stage "address and undefined behaviour sanitizers, fuzz targets"
      configure_and_build "$(sanitized_levels)" asan \
        -DRUNCIBLE_FUZZ_SECONDS="${FUZZ_SECONDS:-10}"
      run_tests asan
      ;;
    fuzz)
      # The targets alone, for longer runs.
      stage "fuzz targets"
      configure "$(sanitized_levels)" asan \
        -DRUNCIBLE_FUZZ_SECONDS="${FUZZ_SECONDS:-10}"
      cmake --build --preset asan --target fuzz_targets
      ctest --preset asan -L fuzz -j "$jobs"
      ;;
    tsan)
      stage "thread sanitizer over engine, loops and threads"
      # Threads meet outside of the kernels: two levels show how.
      case $(uname -m) in x86_64) levels="baseline;avx2" ;; *) levels= ;; esac
      configure_and_build "$levels" tsan -DRUNCIBLE_BUILD_EXAMPLES=OFF \
        -DRUNCIBLE_BUILD_COMMAND=OFF -DRUNCIBLE_BUILD_GPU_MODULES=OFF
      run_tests tsan
      ;;
    format)
      stage "the format of the sources"
      sources '*.cc' '*.c' '*.h' |
        xargs -P "$jobs" -n 50 clang-format --dry-run --Werror
      ;;
    tidy)
      # Not among the default stages: some files take a minute each.
      stage "static analysis"
      cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release
      sources '*.cc' | grep -E '^(\./)?(src|backends)/' |
        xargs -P "$jobs" -n 4 clang-tidy -p build/tidy --quiet
      ;;
    instructions)
      # Not among the default stages: a change may be worth its instructions.
      stage "instructions of a token"
      [ -d build/release ] || configure_and_build "$(tested_levels)" release
      bench/instructions.py build/release/bin/runcible
      ;;
    fresh)
      # Not among the default stages: it needs root and a mirror of Debian.
      stage "the README on a fresh Debian"
      tests/install/fresh_root.sh
      ;;
    *)
      echo "tests/run.sh: there is no stage '$name'" >&2
      exit 2
      ;;
  esac
  passed="$passed $name"
done
for preset in $ran; do
  stage "skipped tests: $preset"
  cat "build/$preset/skipped.txt"
done
if [ -n "$left_out" ]; then
  stage "left out, since the stages before took long: run tests/run.sh$left_out"
fi
stage "every stage passed:$passed"
