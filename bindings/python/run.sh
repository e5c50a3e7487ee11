#!/bin/sh
# Builds the wheel around an existing build of Runcible, installs it in a clean
# environment, without compilers on the path, and runs the tests there.
#
#   bindings/python/run.sh BUILD_FOLDER
#   bindings/python/run.sh --packages    prints the Debian packages it needs
#
# All files are in build/bindings/python. PYTHON (python3) is Python 3.11 or later,
# with its venv module and headers.
set -eu
if [ "$1" = --packages ]; then
  echo python3-venv python3-dev openssl
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
python=${PYTHON:-python3}

# An environment with the packages of requirements.txt, made once for each content.
tools=$work/tools
made=$(cat "$here/requirements.txt"; "$python" -V)
if [ "$made" != "$(cat "$tools/made" 2>/dev/null)" ]; then
  echo "Python packages"
  "$python" -m venv --clear "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check \
    -r "$here/requirements.txt"
  printf '%s\n' "$made" >"$tools/made"
fi

echo "wheel"
rm -rf "$work/raw" "$work/dist"
PATH="$tools/bin:$PATH" "$tools/bin/pip" wheel -q --no-deps \
  --disable-pip-version-check --no-build-isolation -w "$work/raw" \
  --config-settings build-dir="$work/build" \
  --config-settings cmake.define.RUNCIBLE_PREFIX="$prefix" "$here"
# The wheel includes libraries that a machine may not have: libuv, PCRE2, utf8proc.
PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair -w "$work/dist" \
  "$work"/raw/runcible-*.whl >"$work/repair.log" 2>&1 ||
  { cat "$work/repair.log" >&2; exit 1; }
ls "$work/dist"

echo "clean environment"
clean=$work/clean
"$python" -m venv --clear "$clean"
"$clean/bin/pip" install -q --disable-pip-version-check \
  "$work"/dist/runcible-*.whl
grep -E '^(numpy|pydantic|pytest|trio|uvloop)=' "$here/requirements.txt" |
  xargs "$clean/bin/pip" install -q --disable-pip-version-check

echo "types"
(cd "$work" && "$tools/bin/mypy" --strict --cache-dir "$work/mypy" \
  --python-executable "$clean/bin/python" -p runcible)

echo "tests"
cd /
# Drivers and kernels of custom ops call the linker and glslc.
env -i PATH="$clean/bin:/usr/bin" HOME="$work" PYTHONDONTWRITEBYTECODE=1 \
  RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  "$clean/bin/python" -X faulthandler -m pytest -q -p no:cacheprovider \
  "$here/tests"
