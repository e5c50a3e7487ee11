#!/bin/sh
# Everything that must hold, in stages: installs what is missing, builds, runs
# every test.
#
#   tests/run.sh            every stage but web, tidy, instructions and fresh
#   tests/run.sh STAGE...   some: format release install bindings arm asan
#                           tsan fuzz web tidy instructions fresh
#
# FUZZ_SECONDS (10) is the time of each fuzz target.
set -eu
cd "$(dirname "$0")/.."
. examples/setup.sh
stages=${*:-format release install bindings arm asan tsan fuzz}
jobs=$(nproc)
# Some tests wait.
test_jobs=$((jobs + 1))
# What whoever runs this has configured is nothing to the tests.
export RUNCIBLE_CONFIG=
# lavapipe compiles shaders for longer than the tests run them.
export GALLIVM_PERF=nopt
# What one stage compiled a later one takes from ccache, also in a copy of the
# tree. Warnings that end one build have ended it before.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS=-Werror
export CCACHE_SLOPPINESS=pch_defines,time_macros

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
  libedit-dev ccache"
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

# Levels of the cpu backend that the address sanitizer looks at: what this
# machine has. Kernels of avx512vnni are those of avx512 but for sums of bytes;
# amx is emulated beside it.
sanitized_levels() {
  [ "$(uname -m)" = x86_64 ] || return 0
  flags=" $(sed -n '/^flags/{p;q}' /proc/cpuinfo) "
  case $flags in
    *" avx512_vnni "*) echo "baseline;avx2;avx512vnni;amx" ;;
    *" avx512bw "*) echo "baseline;avx2;avx512" ;;
    *) echo "baseline;avx2" ;;
  esac
}

# Levels of the cpu backend (all if empty), preset, targets (all if none are
# named).
configure_and_build() {
  levels=$1
  preset=$2
  shift 2
  cmake --preset "$preset" -DRUNCIBLE_WERROR=ON -DRUNCIBLE_BUILD_TESTS=ON \
    -DRUNCIBLE_BUILD_EXAMPLES=ON -DRUNCIBLE_CPU_LEVELS="$levels"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

for name in $stages; do
  case $name in
    release)
      stage "release build and tests"
      configure_and_build "" release
      ctest --preset release -j "$test_jobs"
      ;;
    install)
      stage "installed, as programs outside the tree see it"
      [ -d build/release ] || configure_and_build "" release
      tests/install/run.sh build/release
      tests/install/commands.sh
      ;;
    bindings)
      stage "bindings, as programs of other languages see them"
      [ -d build/release ] || configure_and_build "" release
      python3 -m unittest discover -s bindings/api/tests
      # The first leaves what all of them need. The others use a core or wait, so
      # that they run side by side; each has its say at its end.
      # shellcheck disable=SC2046
      set -- $(language_runs)
      stage "$1"
      "$1" build/release
      shift
      printf '%s\n' "$@" | RUNCIBLE_IS_INSTALLED=1 xargs -P "$jobs" -n 1 sh -c '
        status=0
        said=$(mktemp)
        "$1" build/release >"$said" 2>&1 || status=1
        printf "\n== %s\n" "$1"
        cat "$said"
        rm "$said"
        exit $status' side_by_side
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
      # Not among the default stages: it compiles all of the library twice more,
      # which takes six minutes of processor time each.
      # -DRUNCIBLE_WEB_ALL_TESTS=ON adds conformance, engines, models, texts and
      # the ABI in C.
      stage "WebAssembly, in Node"
      # Bits are compared with those of this build.
      [ -d build/release ] || configure_and_build "" release
      for preset in web web-single; do
        cmake --preset $preset -DRUNCIBLE_WERROR=ON -DRUNCIBLE_BUILD_TESTS=ON
        cmake --build --preset $preset
        ctest --preset $preset -j "$jobs"
      done
      stage "WebAssembly, in browsers"
      bindings/web/run.sh build/release build/web build/web-single
      ;;
    asan)
      stage "address and undefined behaviour sanitizers"
      configure_and_build "$(sanitized_levels)" asan
      # What is about numbers, time or the size of stacks alone the other builds
      # show, and what a driver makes of the same calls once more.
      ctest --preset asan -j "$test_jobs" -E "Perplexity|Determinism|Invariance|AreQuick|\
BitsDoNotDepend|CpuFused.LeavesWhatIsRead|\
vulkan[.](validation|tensors_to_gpus|rows_to_gpus)|Faults[.].*/(opencl|vulkan)|\
(Vulkan|Opencl|Webgpu)Model.Architectures|SmallStack"
      ;;
    tsan)
      stage "thread sanitizer over engine, loops and threads"
      # Threads meet outside of the kernels: two levels show how.
      case $(uname -m) in x86_64) levels="baseline;avx2" ;; *) levels= ;; esac
      configure_and_build "$levels" tsan \
        test_engine test_api test_backends c_programs
      # The reference backend has no threads of its own; long texts, tests of
      # devices and draws without end are about numbers.
      ctest --preset tsan -j "$test_jobs" -R '^(engine|api|backends|c)[.]' \
        -E "CpuAmx|Determinism.*reference|TellsTheExpectedFables|LeavesWhatIsRead|\
DeviceTest[.](Tells|Refuses)|Estimate|Fabulist[.](Answers|CallsWhat)|\
ModelImportance[.]IsTheSame|MirostatHolds|SamplerShares"
      ;;
    fuzz)
      stage "fuzz targets"
      # The targets are not about kernels.
      case $(uname -m) in x86_64) levels=baseline ;; *) levels= ;; esac
      cmake -S . -B build/fuzz -G Ninja -DRUNCIBLE_BUILD_FUZZ=ON \
        -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
        -DRUNCIBLE_CPU_LEVELS="$levels" \
        -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRUNCIBLE_BUILD_COMMAND=OFF \
        -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
        -DRUNCIBLE_FUZZ_SECONDS="${FUZZ_SECONDS:-10}"
      cmake --build build/fuzz --target fuzz_targets
      ctest --test-dir build/fuzz -R '^fuzz' --output-on-failure -j "$jobs"
      ;;
    format)
      stage "the format of the sources"
      sources '*.cc' '*.c' '*.h' | xargs clang-format --dry-run --Werror
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
      [ -d build/release ] || configure_and_build "" release
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
done
stage "every stage passed: $stages"
