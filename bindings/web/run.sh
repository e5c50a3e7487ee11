#!/bin/sh
# Makes the npm package from the WebAssembly builds, installs its tarball in an empty
# folder, and tests it there, in browsers.
#
#   bindings/web/run.sh RELEASE_BUILD WEB_BUILD WEB_SINGLE_BUILD
#   bindings/web/run.sh --packages    prints the Debian packages it needs
#
# RELEASE_BUILD is a build for this machine, whose texts the pages must equal. All
# files are in build/bindings/web. NODE (node) runs the tests; its npm gets the
# packages of package.json. BROWSERS ("chromium firefox") are those of Debian.
set -eu
if [ "$1" = --packages ]; then
  command -v "${NODE:-node}" >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
  echo chromium firefox-esr clang-15
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
release=$(cd "$1" && pwd)
threaded=$(cd "$2" && pwd)
single=$(cd "$3" && pwd)
node=$(command -v "${NODE:-node}")
mkdir -p "$root/build/bindings/web"
work=$(cd "$root/build/bindings/web" && pwd)

# A folder with the packages of package-lock.json, made once for each content.
tools=$work/tools
if ! cmp -s "$here/package-lock.json" "$tools/made"; then
  echo "npm packages"
  mkdir -p "$tools"
  cp "$here/package.json" "$here/package-lock.json" "$tools"
  (cd "$tools" && npm ci --no-audit --no-fund --loglevel=error)
  cp "$here/package-lock.json" "$tools/made"
fi

echo "package"
package=$work/package
rm -rf "$package" "$work/source" "$work/dist"
mkdir -p "$package/dist/runcible" "$package/dist/models" "$work/source" \
  "$work/dist"
# The compiler looks for packages above the sources.
cp "$here/tsconfig.json" "$here/tsconfig.worker.json" "$here/package.json" \
  "$work/source"
ln -s "$tools/node_modules" "$work/source/node_modules"
python3 "$here/../api/generate.py" web "$root/include/runcible" "$here/src" \
  "$work/source/src"
tsc=$tools/node_modules/.bin/tsc
"$tsc" -p "$work/source" --outDir "$package/dist"
"$tsc" -p "$work/source/tsconfig.worker.json" --outDir "$package/dist"
"$node" "$here/tests/layouts.mjs" "$package/dist" |
  clang-15 --target=wasm32 -ffreestanding -fsyntax-only -I "$root/include" -x c -
for file in runcible.mjs runcible.wasm runcible.worker.js; do
  cp "$threaded/bin/$file" "$package/dist/runcible"
done
# Without naga there is no webgpu, and discover() reports that.
for file in runcible-webgpu.mjs runcible-webgpu.wgsl; do
  [ ! -e "$threaded/bin/$file" ] || cp "$threaded/bin/$file" "$package/dist/runcible"
done
for file in runcible-single.mjs runcible-single.wasm; do
  cp "$single/bin/$file" "$package/dist/runcible"
done
# If the build has no level `relaxed`, an empty module takes its place: bundlers look
# for all files that are named.
for file in "$threaded/bin/runcible-relaxed" "$single/bin/runcible-single-relaxed"; do
  to=$package/dist/runcible/${file##*/}.wasm
  cp "$file.wasm" "$to" 2>/dev/null || printf '\0asm\1\0\0\0' >"$to"
done
"$node" --test "$here/order/order.test.mjs" >"$work/order.log" || {
  cat "$work/order.log"
  exit 1
}
"$node" "$here/order/order.mjs" "$package"/dist/runcible/*.wasm
cp "$root/examples/model/fable.gguf" "$root/examples/chat_model/fabulist.gguf" \
  "$package/dist/models"
# The list of files is for service workers.
"$node" -e '
  const names = require("node:fs").readdirSync(process.argv[1], { recursive: true });
  const files = names.filter((name) => /\.(js|mjs|wasm|wgsl|gguf)$/.test(name));
  console.log(JSON.stringify(files.sort(), null, 1));
' "$package/dist" >"$work/files.json"
mv "$work/files.json" "$package/dist"
cp "$here/README.md" "$root/LICENSE" "$package"
"$node" -e '
  const { devDependencies, ...manifest } = require(process.argv[1]);
  console.log(JSON.stringify(manifest, null, 2));
' "$here/package.json" >"$package/package.json"
(cd "$package" && npm pack --loglevel=error --pack-destination "$work/dist")
for file in "$package"/dist/runcible/*.wasm; do
  echo "$(basename "$file"): $(gzip -9 -c "$file" | wc -c) bytes gzipped"
done

echo "clean folder"
clean=$work/clean
rm -rf "$clean"
mkdir -p "$clean/bindings/web" "$clean/tests/golden" "$clean/examples"
(cd "$clean" && echo '{"private": true}' >package.json &&
  npm install --offline --ignore-scripts --no-audit --no-fund \
    --loglevel=error "$work"/dist/runcible-web-*.tgz)
ln -s "$tools/node_modules/playwright-core" "$clean/node_modules"
cp -r "$here/tests" "$clean/bindings/web"
cp -r "$here/../conformance" "$clean/bindings"
cp -r "$root/tests/golden/architectures" "$root/tests/golden/fable" \
  "$root/tests/golden/parts" "$clean/tests/golden"
cp -r "$root/examples/web" "$root/examples/chat_model" "$clean/examples"

echo "types"
"$tsc" --strict --noEmit --target ES2022 --lib ES2022,DOM,ESNext.Disposable \
  --module ES2022 --moduleResolution Bundler --types "" \
  "$clean/bindings/web/tests/types.mts"

echo "texts and bits of this machine"
converted=$work/converted
mkdir -p "$converted"
for each in mean cross; do
  "$release/bin/runcible" convert "$root/tests/golden/embeddings/bert-$each" \
    --force -o "$converted/bert-$each.gguf" >"$work/convert.log"
done
RUNCIBLE_CONFIG= RUNCIBLE_ISA=baseline "$release/bin/runcible" run \
  --backend cpu --temp 0 --tokens 120 --prompt "A fox" >"$work/native.txt"
# RUNCIBLE_ISA=baseline takes the same steps as SIMD128.
cc -O1 -std=c99 -I "$root/include" "$root/tests/web/bits.c" -o "$work/bits" \
  -L "$release/lib" -lruncible "-Wl,-rpath,$release/lib"
RUNCIBLE_CONFIG= RUNCIBLE_ISA=baseline "$work/bits" cpu \
  "$root"/tests/golden/architectures/*.gguf >"$work/bits.txt"

cd "$clean"
for browser in ${BROWSERS:-chromium firefox}; do
  echo "tests in $browser"
  case $browser in
    chromium) program=$(command -v chromium) ;;
    *) program=$(command -v firefox-esr) ;;
  esac
  BROWSER=$browser BROWSER_PROGRAM=$program CONVERTED=$converted \
    NATIVE=$work/native.txt BITS=$work/bits.txt \
    DIST=$clean/node_modules/runcible-web/dist \
    "$node" --test --test-reporter=spec --test-concurrency=1 \
    --test-timeout=900000 \
    bindings/web/tests/*.test.mjs
done
