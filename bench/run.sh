#!/bin/sh
# Builds, writes the models, measures, prints a table, and keeps the figures as
# JSON in bench/results. See bench/README.md.
#
#   bench/run.sh [-m SHAPES] [-t TYPES] [-p PARTS] [-j THREADS] [-q] [-o FILE]
#
#   -m  shapes of models, such as "tinyllama-1.1b smollm-135m"
#   -t  types of weights, such as "Q4_K_M Q8_0"
#   -p  what to measure, some of "engine loop ops"
#   -j  threads of the engine (default: as many as the process may use)
#   -q  quick: fewer lengths, batches and ops
#   -o  the file for the figures
set -eu
cd "$(dirname "$0")/.."
. examples/setup.sh

shapes=tinyllama-1.1b
types="Q4_K_M Q8_0"
parts="engine loop ops"
threads=
quick=
output=
while getopts m:t:p:j:o:q option; do
  case $option in
    m) shapes=$OPTARG ;;
    t) types=$OPTARG ;;
    p) parts=$OPTARG ;;
    j) threads=$OPTARG ;;
    o) output=$OPTARG ;;
    q) quick=1 ;;
    *)
      sed -n '5,12s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done

has_part() {
  case " $parts " in *" $1 "*) return 0 ;; esac
  return 1
}

stage "build"
# shellcheck disable=SC2086
need_packages $build_packages libbenchmark-dev python3
build=build/bench
models=build/bench-models
mkdir -p $build
cmake --preset release -B $build \
  -DRUNCIBLE_BUILD_TESTS=OFF -DRUNCIBLE_BUILD_BENCH=ON >$build.log
cmake --build $build >>$build.log || {
  tail -n 50 $build.log >&2
  exit 1
}
tools=$build/bin/bench
[ -z "$threads" ] || export RUNCIBLE_THREADS="$threads"

# Each measurement leaves a file here; report.py puts them together.
raw=$build/raw
rm -rf $raw
mkdir -p $raw $models

# Again between the measurements: other programs can only lower what is
# measured, so that the best of several is nearest to the limit.
count=0
measure_limits() {
  count=$((count + 1))
  $tools/machine ${threads:+--threads "$threads"} >$raw/machine.$count.json
}
stage "limits of the machine"
measure_limits
cat $raw/machine.1.json

if [ -n "$quick" ]; then
  prompts=256 batches=1,8 filter='Q4_K/5632|Q8_0/5632|F16/context:1024'
else
  prompts=16,128,512 batches=1,4,8,16 filter=.
fi

for shape in $shapes; do
  for type in $types; do
    name=$shape.$type
    model=$models/$name.gguf
    stage "$name"
    [ -f "$model" ] && [ -f "$model.json" ] || {
      $tools/write_model --shape "$shape" --type "$type" "$model" \
        >"$model.json.part"
      mv "$model.json.part" "$model.json"
    }
    cp "$model.json" "$raw/model.$name.json"
    if has_part engine; then
      $build/bin/runcible bench "$model" --prompts $prompts \
        --batches $batches --json | tee "$raw/engine.$name.json"
      measure_limits
    fi
    if has_part loop; then
      for loop in uv epoll; do
        # 64 at once, and a cancel with nothing else under way.
        $tools/event_loop "$model" --loop $loop --requests 64 --tokens 16 \
          --json | tee "$raw/loop.$loop.$name.json"
        $tools/event_loop "$model" --loop $loop --requests 0 --cancel 2000 \
          --json | tee "$raw/cancel.$loop.$name.json"
      done
    fi
  done
done

if has_part ops; then
  stage "ops"
  $tools/ops ${threads:+--threads="$threads"} --benchmark_filter="$filter" \
    --benchmark_min_time=0.2 --benchmark_out=$raw/ops.json
  measure_limits
fi

stage "figures"
python3 bench/report.py $raw ${output:+"$output"}
