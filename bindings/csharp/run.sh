#!/bin/sh
# Builds the package around a Runcible that was built before, and runs its tests
# with the package alone.
#
#   bindings/csharp/run.sh BUILD_FOLDER
#   bindings/csharp/run.sh --packages    prints the Debian packages it needs
#
# Everything is in build/bindings/csharp; the package is the folder runcible
# there.
set -eu
if [ "$1" = --packages ]; then
  command -v mono >/dev/null || echo mono-runtime
  command -v mcs >/dev/null || echo mono-mcs
  [ -e /usr/lib/mono/gac/System.Json ] || echo libmono-system-json4.0-cil
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
include=$(cd "$here/../../include" && pwd)

echo "native libraries"
package=$work/runcible
lib=$package/lib
rm -rf "$work/source" "$work/wrapper" "$package" "$work/tests"
mkdir -p "$work/source" "$work/wrapper" "$work/tests"
"$swig" -csharp -Werror -namespace Runcible.Native -dllimport runciblecsharp \
  -DSWIG_CSHARP_NO_EXCEPTION_HELPER -DSWIG_CSHARP_NO_STRING_HELPER \
  -DSWIG_CSHARP_NO_STRING_WITH_LENGTH_HELPER \
  -I"$here/swig" -I"$shared" -I"$include" -outdir "$work/wrapper" \
  -o "$work/native_wrap.c" "$here/swig/native.i"
runcible_into "$package"
# RPATH, the old tag, also applies to the libraries that these libraries need.
${CC:-cc} -shared -O2 -fPIC -Wall -Wextra -fvisibility=hidden \
  -I"$include" -I"$shared" -I"$here/swig" \
  -Wl,-rpath,'$ORIGIN' -Wl,--disable-new-dtags \
  "$work/native_wrap.c" "$shared/mailbox.c" "$lib/$soname" -lpthread \
  -o "$lib/librunciblecsharp.so"
find "$lib" -name '*.so*' -exec strip {} +

echo "assembly"
generate csharp "$here/src" "$work/source"
mcs -target:library -unsafe -warn:4 -warnaserror -optimize -doc:"$lib/Runcible.xml" \
  -nowarn:1591 -out:"$lib/Runcible.dll" "$work"/source/*.cs "$work"/wrapper/*.cs
ls "$lib/Runcible.dll"

echo "tests"
mcs -unsafe -warn:4 -warnaserror -debug -r:"$lib/Runcible.dll" -r:System.Json.dll \
  -out:"$work/tests/tests.exe" "$here"/tests/*.cs
readme_program >"$work/tests/Readme.cs"
for example in "$here"/examples/*.cs "$work/tests/Readme.cs"; do
  mcs -warn:4 -warnaserror -r:"$lib/Runcible.dll" \
    -out:"$work/tests/$(basename "$example" .cs).exe" "$example"
done
cd /
env -i PATH=/usr/bin:/bin HOME="$work/tests" MONO_PATH="$lib" \
  RUNCIBLE_CASES="$cases" RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  timeout 1800 mono --debug "$work/tests/tests.exe"
