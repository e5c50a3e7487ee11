#!/bin/sh
# Checks and measures Runcible on the GPUs of this machine, prints tables, and
# keeps the figures as JSON in bench/results. See "GPUs" in bench/README.md.
#
#   bench/gpu.sh [-b BACKENDS] [-B BUILD] [-s SHAPES] [-t TYPES] [-p PARTS]
#                [-l SECONDS] [-o FILE] [-a] [-q]
#
#   -b  backends, some of "cuda rocm vulkan opencl webgpu"
#   -B  a build with its tests and benchmarks; then nothing is built or installed
#   -s  shapes of models, such as "tinyllama-1.1b llama3-8b"
#   -t  types of weights, such as "Q4_K_M Q8_0 F16"
#   -p  what to do, some of "check self-test models ops choice"
#   -l  the most seconds that one command may take (default: 600)
#   -o  the file for the figures
#   -a  all devices: also those that are processors, such as PoCL and lavapipe
#   -q  quick: fewer models, rounds, ops and calls
#
# A command that fails or runs out of time is noted, and the rest goes on; the
# exit status is 1 then. Where llama-bench is in PATH, or LLAMA_BENCH names one,
# it measures the same files in turns.
set -eu
cd "$(dirname "$0")/.."
. examples/setup.sh

backends="cuda rocm vulkan opencl webgpu"
build=
shapes=
types="Q4_K_M Q8_0 F16"
parts="check self-test models ops choice"
limit=600
output=
all=
quick=
while getopts b:B:s:t:p:l:o:aq option; do
  case $option in
    b) backends=$OPTARG ;;
    B) build=$(cd "$OPTARG" && pwd) ;;
    s) shapes=$OPTARG ;;
    t) types=$OPTARG ;;
    p) parts=$OPTARG ;;
    l) limit=$OPTARG ;;
    o) output=$OPTARG ;;
    a) all=1 ;;
    q) quick=1 ;;
    *)
      sed -n '5,21s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done

has_part() {
  case " $parts " in *" $1 "*) return 0 ;; esac
  return 1
}

if [ -z "$build" ]; then
  stage "build"
  # shellcheck disable=SC2086
  need_packages $build_packages libbenchmark-dev libgtest-dev python3 \
    libvulkan-dev libvulkan-volk-dev glslc clang
  build=$PWD/build/bench
  mkdir -p "$build"
  cmake --preset release -B "$build" -DRUNCIBLE_BUILD_TESTS=ON \
    -DRUNCIBLE_BUILD_BENCH=ON >"$build.log"
  targets="runcible runcible_probe bench_write_model bench_ops bench_choice"
  wanted=
  for backend in $backends; do wanted="$wanted runciblebackend-$backend"; done
  ! has_part check || for backend in $backends conformance; do
    wanted="$wanted test_$backend"
  done
  # A backend whose packages are missing is not there.
  for target in $wanted; do
    ! ninja -C "$build" -t query "$target" >/dev/null 2>&1 ||
      targets="$targets $target"
  done
  # shellcheck disable=SC2086
  cmake --build "$build" --target $targets >>"$build.log" || {
    tail -n 50 "$build.log" >&2
    exit 1
  }
fi
bin=$build/bin

# Each command leaves its output here, and a line in `runs`: what it did, with
# which device or backend, with which model, in which round, its exit status,
# the seconds that it took and its files. gpu_report.py puts them together.
raw=$PWD/build/gpu
models=$PWD/build/bench-models
rm -rf "$raw"
mkdir -p "$raw" "$models"
runs=$raw/runs
: >"$runs"
round=

# What the user has set or kept is left out, and left alone.
export RUNCIBLE_CONFIG="" XDG_CACHE_HOME="$raw/cache"
export RUNCIBLE_PLUGIN_PATH="$build/lib"
# Tests would have stand-ins for them.
newest() { # library whose name ends with the number of a version, another one
  ldconfig -p | sed -n "s/.*\($1\.[0-9]*\) .*/\1/p" | sort -Vr | grep . || echo "$2"
}
export RUNCIBLE_CUDA_LIBRARY="${RUNCIBLE_CUDA_LIBRARY:-libcuda.so.1}"
hip=$(newest libamdhip64.so libamdhip64.so.6 | head -n 1)
comgr=$(newest libamd_comgr.so libamd_comgr.so.2 | head -n 1)
export RUNCIBLE_HIP_LIBRARY="${RUNCIBLE_HIP_LIBRARY:-$hip}"
export RUNCIBLE_COMGR_LIBRARY="${RUNCIBLE_COMGR_LIBRARY:-$comgr}"

# attempt WHAT DEVICE MODEL COMMAND...   in a shell of its own
attempt() (
  what=$1 device=$2 model=$3
  shift 3
  name=$(echo "$what.$device${model:+.$model}${round:+.$round}" | tr : -)
  begin=$(date +%s)
  status=0
  timeout --foreground -k 10 "$limit" "$@" \
    >"$raw/$name.out" 2>"$raw/$name.err" || status=$?
  seconds=$(($(date +%s) - begin))
  printf '%s\t%s\t%s\t%s\t%d\t%d\t%s\n' "$what" "$device" "$model" "$round" \
    $status $seconds "$name" >>"$runs"
  [ $status -eq 0 ] ||
    echo "$name: exit status $status after $seconds s; see $raw/$name.err"
  exit $status
)

# Without the drivers that compute on processors, which would come among the
# tests of the others.
hide_software() {
  vendors=${OCL_ICD_VENDORS:-${OPENCL_VENDOR_PATH:-/etc/OpenCL/vendors}}
  mkdir -p "$raw/vendors"
  for file in "$vendors"/*.icd; do
    case $file in *pocl* | *"*.icd") ;; *) cp "$file" "$raw/vendors" ;; esac
  done
  [ ! -d "$vendors" ] || export OCL_ICD_VENDORS="$raw/vendors/"
  export VK_LOADER_DRIVERS_DISABLE="*lvp*,*lavapipe*"
}

list_devices() {
  attempt devices all "" "$bin/runcible" devices --json || exit 1
  # shellcheck disable=SC2086
  python3 bench/gpu_report.py --choose "$raw/devices.all.out" ${all:+--all} \
    $backends >"$raw/chosen"
  devices=$(cat "$raw/chosen")
}

stage "devices"
if [ -z "$all" ]; then
  if (hide_software && list_devices && [ -n "$devices" ]); then
    hide_software
  else
    all=1
  fi
fi
: >"$runs"
list_devices
[ -n "$devices" ] || {
  echo "No device of these backends is here: $backends. This is:" >&2
  "$bin/runcible" devices >&2
  exit 1
}
echo "$devices"

if has_part check || has_part self-test; then
  stage "check and self-test"
  ! has_part check || for backend in $backends; do
    case $devices in *"$backend:"*) ;; *) continue ;; esac
    attempt tests "$backend" "" "$bin/test_$backend" &
    attempt conformance "$backend" "" \
      env RUNCIBLE_TEST_MODULE="$build/lib/librunciblebackend-$backend.so" \
      "$bin/test_conformance" &
  done
  ! has_part self-test || for device in $devices; do
    attempt self-test "$device" "" \
      "$bin/runcible" devices --self-test "$device" --json &
  done
  wait
fi

if has_part models || has_part choice; then
  stage "rates of the devices"
  for device in $devices; do
    attempt calibrate "$device" "" \
      "$bin/runcible" calibrate --backend "$device,cpu" --json || :
  done
fi

if has_part models; then
  depths=4,1024 tokens=64 rounds="1 2 3"
  [ -z "$quick" ] || depths=4 tokens=32 rounds=1
  peer=${LLAMA_BENCH:-$(command -v llama-bench || :)}
  names=
  for shape in ${shapes:-tinyllama-1.1b}; do
    for type in $types; do names="$names $shape.$type"; done
  done
  [ -n "$shapes$quick" ] || names="$names llama3-8b.Q4_K_M"
  for name in $names; do
    stage "$name"
    file=$models/$name.gguf
    [ -f "$file" ] && [ -f "$file.json" ] || {
      attempt write cpu "$name" "$bin/bench/write_model" \
        --shape "${name%.*}" --type "${name##*.}" "$file" || continue
      cp "$raw/write.cpu.$name.out" "$file.json"
    }
    cp "$file.json" "$raw/model.$name.json"
    for round in $rounds; do
      for device in $devices; do
        attempt bench "$device" "$name" "$bin/runcible" bench "$file" \
          --backend "$device" --strict --prompts 512 --batches 1,8 --depths $depths \
          --tokens $tokens --json || :
      done
      [ -z "$peer" ] || attempt llama-bench all "$name" "$peer" -m "$file" \
        -ngl 99 -p 512 -n $tokens -d "0${depths#4}" -o json || :
    done
    round=
  done
fi

if has_part ops; then
  stage "ops"
  filter='linear/(Q4_K|Q6_K|Q8_0|F16)/|attention/F16/|rms_norm|rope|glu' least=0.2
  [ -z "$quick" ] || least=0.05 \
    filter='linear/(Q4_K|Q8_0|F16)/5632x2048/|attention/F16/context:1024/|rms_norm'
  for device in $devices; do
    attempt ops "$device" "" "$bin/bench/ops" --backend="$device" \
      --benchmark_filter="$filter" --benchmark_min_time=$least \
      --benchmark_format=json || :
  done
fi

if has_part choice; then
  stage "choice"
  calls=100 largest=1e7
  [ -z "$quick" ] || calls=30 largest=1e5
  for device in $devices; do
    attempt choice "$device" "" "$bin/bench/choice" --devices="cpu,$device" \
      --calls=$calls --largest=$largest --seconds=5 || :
  done
fi

stage "figures"
echo "what the commands said is in $raw"
python3 bench/gpu_report.py "$raw" ${output:+"$output"}
