#!/bin/sh
# Everything that must hold, in stages: installs what is missing, builds, runs
# every test.
#
#   tests/run.sh            all stages
#   tests/run.sh STAGE...   some: release install asan tsan fuzz text
#
# FUZZ_SECONDS (60) is the time of each fuzz target.
set -eu
cd "$(dirname "$0")/.."
. examples/setup.sh
stages=${*:-release install asan tsan fuzz text}
jobs=$(nproc)

stage "packages"
# shellcheck disable=SC2086
need_packages $build_packages libgtest-dev abigail-tools clang \
  libclang-rt-14-dev clang-format clang-tidy

configure_and_build() { # preset, targets (all if none are named)
  preset=$1
  shift
  cmake --preset "$preset" -DRUNCIBLE_WERROR=ON
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

for name in $stages; do
  case $name in
    release)
      stage "release build and tests"
      configure_and_build release
      ctest --preset release -j "$jobs"
      ;;
    install)
      stage "installed, as programs outside the tree see it"
      [ -d build/release ] || configure_and_build release
      tests/install/run.sh build/release
      ;;
    asan)
      stage "address and undefined behaviour sanitizers"
      configure_and_build asan
      ctest --preset asan -j "$jobs"
      ;;
    tsan)
      stage "thread sanitizer over engine, loops and threads"
      configure_and_build tsan test_engine test_api test_backends c_programs
      ctest --preset tsan -j "$jobs" -R '^(engine|api|backends|c)[.]'
      ;;
    fuzz)
      stage "fuzz targets"
      cmake -S . -B build/fuzz -G Ninja -DRUNCIBLE_BUILD_FUZZ=ON \
        -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRUNCIBLE_BUILD_COMMAND=OFF \
        -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
        -DRUNCIBLE_FUZZ_SECONDS="${FUZZ_SECONDS:-60}"
      cmake --build build/fuzz --target fuzz_targets
      ctest --test-dir build/fuzz -R '^fuzz' --output-on-failure -j "$jobs"
      ;;
    text)
      stage "format and static analysis"
      [ -f build/release/compile_commands.json ] || configure_and_build release
      tests/check_text.sh build/release
      ;;
    *)
      echo "tests/run.sh: there is no stage '$name'" >&2
      exit 2
      ;;
  esac
done
stage "every stage passed: $stages"
