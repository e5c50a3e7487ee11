# What the run.sh of every language needs; to be sourced, with $here as its
# folder and $1 as the build folder of Runcible. It leaves:
#
#   $work     a folder for this language: build/bindings/LANGUAGE
#   $prefix   Runcible, installed, with its command, backends and model
#   $swig     SWIG 4.2 or newer
#   $shared   bindings/swig
#   $cases    the cases that every language runs
#   RUNCIBLE_CASES_REPORT   the file for the runner to write how they went,
#             see bindings/README.md
language=$(basename "$here")
build=$(cd "$1" && pwd)
shared=$(cd "$here/../swig" && pwd)
cases=$(cd "$here/../conformance" && pwd)/cases.json
mkdir -p "$here/../../build/bindings/$language" \
  "$here/../../build/bindings/reports"
all=$(cd "$here/../../build/bindings" && pwd)
work=$all/$language
prefix=$all/prefix
export RUNCIBLE_CASES_REPORT="$all/reports/$language.tsv"
rm -f "$RUNCIBLE_CASES_REPORT"

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
cmake --install "$build" --prefix "$prefix" >"$all/install.log"
