# The functions that the run.sh of every language needs; to be sourced, with $here as its
# folder and $1 as the build folder of Runcible. It leaves:
#
#   $work     a folder for this language: build/bindings/LANGUAGE
#   $prefix   Runcible, installed, with its command, backends and model
#   $soname   what programs load of it: lib/$soname of the prefix
#   $swig     SWIG 4.2 or newer
#   $shared   bindings/swig, with what comes of the headers
#   $cases    the cases that every language runs
#   generate LANGUAGE FROM TO
#             the sources of a package, with what comes of the headers
#   runcible_into FOLDER
#             makes that a prefix with what a package carries: libraries, with
#             those that may be missing on a machine, backends, their probe and the model
#   readme_program
#             the program of the language's README behind <!-- tests: chat -->
#   build_and_install
#             the CMake project of the language, into $clean
#   HF_ENDPOINT, HF_HOME   a hub on loopback, and the cache of what is fetched,
#             empty; its models are o/m, that in the box, o/e, which makes
#             embeddings, and o/c, which makes scores
#   RUNCIBLE_CUSTOM_OP   a shared library with functions of custom ops, see
#             conformance/custom_op.c
#   RUNCIBLE_CASES_REPORT   the file for the runner to write how they went,
#             see bindings/README.md
language=$(basename "$here")
build=$(cd "$1" && pwd)
cases=$(cd "$here/../conformance" && pwd)/cases.json
mkdir -p "$here/../../build/bindings/$language" \
  "$here/../../build/bindings/reports"
all=$(cd "$here/../../build/bindings" && pwd)
work=$all/$language
prefix=$all/prefix
export RUNCIBLE_CASES_REPORT="$all/reports/$language.tsv"
rm -f "$RUNCIBLE_CASES_REPORT"

generate() { # language, folder of its sources, folder to write them to
  python3 "$here/../api/generate.py" "$1" "$here/../../include/runcible" "$2" "$3"
}
shared=$work/shared
rm -rf "$shared"
generate swig "$here/../swig" "$shared"

swig=$(command -v swig || true)
if [ -z "$swig" ] || ! "$swig" -version |
  grep -qE 'Version (4\.([2-9]|[1-9][0-9])|[5-9])'; then
  # The distribution's is older; PyPI has one.
  swig=$all/swig/bin/swig
  wanted=$(cat "$shared/requirements.txt")
  if [ "$wanted" != "$(cat "$all/swig/made" 2>/dev/null)" ]; then
    echo "SWIG"
    python3 -m venv --clear "$all/swig"
    "$all/swig/bin/pip" install -q --disable-pip-version-check \
      -r "$shared/requirements.txt"
    printf '%s\n' "$wanted" >"$all/swig/made"
  fi
fi
# tests/run.sh says that another language has done it, for it runs them side by
# side.
if [ -z "${RUNCIBLE_IS_INSTALLED:-}" ]; then
  # Backends of an earlier build would be found together with those of this one.
  rm -rf "$prefix/lib/runcible" "$prefix"/lib/librunciblebackend-*.so
  cmake --install "$build" --prefix "$prefix" >"$all/install.log"
fi
# A build without modules installs no folder of them.
mkdir -p "$prefix/lib/runcible"
soname=$(readlink "$prefix/lib/libruncible.so")

RUNCIBLE_CUSTOM_OP=$work/custom_op.so
export RUNCIBLE_CUSTOM_OP
${CC:-cc} -shared -O2 -fPIC -Wall -Wextra -I"$prefix/include" \
  "$here/../conformance/custom_op.c" -lm -o "$RUNCIBLE_CUSTOM_OP"

runcible_into() {
  mkdir -p "$1/lib" "$1/libexec/runcible" "$1/share"
  cp -r "$prefix/lib/runcible" "$1/lib"
  cp "$prefix/lib/$soname" "$1/lib"
  cp "$prefix/libexec/runcible/runcible-probe" "$1/libexec/runcible"
  cp -r "$prefix/share/runcible" "$1/share"
  for name in libuv libpcre2-8 libutf8proc; do
    library=$(ldd "$1/lib/$soname" |
      sed -n "s/.* => \(.*\/$name\.so[.0-9]*\) .*/\1/p")
    [ -z "$library" ] || cp "$library" "$1/lib"
  done
}

. "$here/../../tests/readme_block.sh"
readme_program() {
  readme_block "$here/README.md" '<!-- tests: chat -->' '```'"$language"
}

rm -rf "$work/hub" "$work/hub_address"
for each in mean cross; do
  "$prefix/bin/runcible" convert "$here/../../tests/golden/embeddings/bert-$each" \
    --force -o "$work/bert-$each.gguf" >"$work/convert.log"
done
python3 "$here/../conformance/hub.py" "$work/hub_address" \
  o/m="$here/../../examples/model/fable.gguf" \
  o/e="$work/bert-mean.gguf" o/c="$work/bert-cross.gguf" &
hub=$!
trap 'kill "$hub"' EXIT
until [ -e "$work/hub_address" ]; do
  kill -0 "$hub"
  sleep 0.1
done
HF_ENDPOINT=$(cat "$work/hub_address")
HF_HOME=$work/hub
export HF_ENDPOINT HF_HOME

build_and_install() {
  cmake -S "$here" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DCMAKE_PREFIX_PATH="$prefix" -DSWIG_PROGRAM="$swig" \
    -DCMAKE_INSTALL_LIBDIR=lib >"$work/configure.log"
  cmake --build "$work/build" >"$work/build.log" 2>&1 ||
    { cat "$work/build.log" >&2; exit 1; }
  clean=$work/clean
  rm -rf "$clean"
  cmake --install "$work/build" --prefix "$clean" >"$work/install.log"
}
