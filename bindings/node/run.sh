#!/bin/sh
# Builds the npm package around an existing build of Runcible, installs its
# tarball in an empty folder, without compilers on the path, and runs the tests
# there.
#
#   bindings/node/run.sh BUILD_FOLDER
#   bindings/node/run.sh BUILD_FOLDER package    makes the tarball, without tests
#   bindings/node/run.sh --packages    prints the Debian packages it needs
#
# All files are in build/bindings/node. NODE (node) is the Node that runs the
# tests, 18 or later; its npm gets the packages of package.json.
set -eu
if [ "$1" = --packages ]; then
  command -v "${NODE:-node}" >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
  command -v patchelf >/dev/null || echo patchelf
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
node=$(command -v "${NODE:-node}")

# A folder with the packages of package-lock.json, made once for each content.
tools=$work/tools
if ! cmp -s "$here/package-lock.json" "$tools/made"; then
  echo "npm packages"
  mkdir -p "$tools"
  cp "$here/package.json" "$here/package-lock.json" "$tools"
  (cd "$tools" && npm ci --no-audit --no-fund --loglevel=error)
  cp "$here/package-lock.json" "$tools/made"
fi

echo "module"
package=$work/package
rm -rf "$package" "$work/dist"
mkdir -p "$package" "$work/dist"
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DRUNCIBLE_PREFIX="$prefix" -DNODE_MODULES="$tools/node_modules" \
  -DSWIG_PROGRAM="$swig" >"$work/configure.log" ||
  { cat "$work/configure.log" >&2; exit 1; }
cmake --build "$work/build" >"$work/build.log" ||
  { cat "$work/build.log" >&2; exit 1; }
cmake --install "$work/build" --prefix "$package" --strip >"$work/install.log"

echo "types"
# The compiler looks for packages above the sources.
rm -rf "$work/source"
mkdir "$work/source"
cp "$here/tsconfig.json" "$here/package.json" "$work/source"
ln -s "$tools/node_modules" "$work/source/node_modules"
generate node "$here/src" "$work/source/src"
"$tools/node_modules/.bin/tsc" -p "$work/source" --outDir "$package/dist"
cp "$here/src/index.mjs" "$here/src/index.d.mts" "$package/dist"
cp "$here/README.md" "$here/../../LICENSE" "$package"
"$node" "$here/manifest.mjs" "$here/package.json" >"$package/package.json"

echo "package"
(cd "$package" && npm pack --loglevel=error --pack-destination "$work/dist")
[ "${2-}" != package ] || exit 0

echo "clean folder"
clean=$work/clean
rm -rf "$clean"
mkdir -p "$clean/bin"
ln -s "$node" "$clean/bin/node"
# Drivers of OpenCL call the linker.
ln -s "$(command -v ld)" "$clean/bin/ld"
(cd "$clean" && echo '{"private": true}' >package.json &&
  npm install --offline --ignore-scripts --no-audit --no-fund \
    --loglevel=error "$work"/dist/runcible-*.tgz)
# The tests of schemas need zod.
cp -r "$tools/node_modules/zod" "$clean/node_modules"
mkdir -p "$clean/bindings/node" "$clean/tests/golden/architectures"
cp -r "$here/tests" "$here/examples" "$here/bench.mjs" "$clean/bindings/node"
cp -r "$here/../conformance" "$clean/bindings"
cp -r "$here/../../tests/golden/fable" "$clean/tests/golden"
cp "$here/../../tests/golden/architectures/llama2.gguf" \
  "$clean/tests/golden/architectures"

echo "tests"
cd "$clean"
for kind in esm cjs; do
  "$tools/node_modules/.bin/tsc" --strict --noEmit --target ES2022 \
    --module Node16 --types node --typeRoots "$tools/node_modules/@types" \
    "bindings/node/tests/types.$([ $kind = esm ] && echo mts || echo cts)"
done
env -i PATH="$clean/bin" HOME="$work" \
  RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  "$clean/bin/node" --test --test-reporter=spec bindings/node/tests/*.test.mjs
