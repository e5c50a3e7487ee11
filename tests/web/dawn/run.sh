#!/bin/sh
# The backend webgpu of a build of WebAssembly with threads, in Node, by Dawn as the
# npm package `webgpu` has it, on whatever adapter that finds: whole models beside
# golden logits, and every op beside double precision.
#
#   npm install webgpu          in FOLDER
#   run.sh WEB_BUILD FOLDER [OPTION...]
#
# Options are those of GoogleTest. WEB_BUILD is configured with
# -DRUNCIBLE_WEB_ALL_TESTS=ON. Dawn wants a lavapipe later than Debian 12's:
# VK_DRIVER_FILES names the driver. On a machine that does much else, compiling a kernel
# may outlast the time that a self-test has.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1/bin" && pwd)
export DAWN="$(cd "$2" && pwd)/node_modules/webgpu/index.js"
shift 2
export RUNCIBLE_CONFIG= RUNCIBLE_QUARANTINE=0
export RUNCIBLE_WEBGPU="file://$bin/runcible-webgpu.mjs"
export RUNCIBLE_WEBGPU_LIBRARY="file://$here/library.mjs"
export RUNCIBLE_WEBGPU_SHADERS="file://$bin/runcible-webgpu.wgsl"
for test in webgpu conformance; do
  "${NODE:-node}" --require "$here/navigator.cjs" "$bin/test_$test.js" "$@"
done
