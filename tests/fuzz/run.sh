#!/bin/sh
# Builds every fuzz target with clang and runs each for some seconds.
#   tests/fuzz/run.sh [SECONDS [TARGET...]]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DRUNCIBLE_BUILD_FUZZ=ON \
  -DRUNCIBLE_BUILD_COMMAND=OFF -DRUNCIBLE_SANITIZE=address,undefined
cmake --build build/fuzz --target fuzz_targets
targets=${*:-$(ls build/fuzz/fuzz)}
for target in $targets; do
  echo "-- $target, $seconds s"
  work=build/fuzz/corpus/$target
  mkdir -p "$work"
  seeds=tests/fuzz/seeds/${target%_fuzz}
  [ -d "$seeds" ] || seeds=
  log=build/fuzz/$target.log
  # shellcheck disable=SC2086
  build/fuzz/fuzz/"$target" -max_total_time="$seconds" -rss_limit_mb=2048 \
    -timeout=20 -artifact_prefix=build/fuzz/ "$work" $seeds >"$log" 2>&1 ||
    { tail -n 60 "$log" >&2; exit 1; }
  tail -n 1 "$log"
done
