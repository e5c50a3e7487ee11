#!/bin/sh
# Installs into a folder of its own and builds programs outside the tree against
# it: by pkg-config, shared and static, and by find_package. All load the model
# that comes with Runcible, also after the prefix was moved.
#   tests/install/run.sh BUILD_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/install.log"

libdir=$(dirname "$(find "$prefix" -name runcible.pc)")
export PKG_CONFIG_PATH="$libdir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="${libdir%/pkgconfig}"
unset RUNCIBLE_DATA
# For programs outside the prefix that hold the library.
data=$(pkg-config --variable=pkgdatadir runcible)

echo "pkg-config, shared"
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -pedantic -Werror "$here/program.c" \
  $(pkg-config --cflags --libs runcible) -o "$work/shared"
"$work/shared"
readelf -d "$work/shared" | grep -q 'libruncible\.so\.1'

echo "pkg-config --static"
# What other libraries need comes after ours; only ours is taken static.
libs=$(pkg-config --static --libs runcible |
  sed 's/-lruncible\b/-l:libruncible.a/')
# shellcheck disable=SC2046,SC2086
cc -std=c99 "$here/program.c" $(pkg-config --cflags runcible) $libs \
  -o "$work/static"
RUNCIBLE_DATA=$data "$work/static"
! readelf -d "$work/static" | grep -q 'libruncible'

# Built by the very command that their first lines tell, and run if they can be
# run without arguments.
mkdir "$work/examples" "$work/examples/remote_backend"
cp "$here"/../../examples/*.c "$work/examples"
cp "$here"/../../examples/remote_backend/*.[ch] "$work/examples/remote_backend"
remote=$work/examples/remote_backend
for source in "$work"/examples/*.c \
  "$remote/remote_backend.c" "$remote/remote_server.c"; do
  name=$(basename "$source" .c)
  echo "examples/$name.c"
  command=$(sed -n '/^ \*     cc /,/^ \*$/s/^ \*     //p' "$source")
  (cd "$(dirname "$source")" && sh -ec "${command:?}")
  case $name in
    plugin_backend | remote_*) ;;
    *) (cd "$work/examples" && "./$name" >text) ;;
  esac
done

echo "find_package"
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release >"$work/cmake.log" ||
  { cat "$work/cmake.log" >&2; exit 1; }
cmake --build "$work/build" >"$work/cmake.log" ||
  { cat "$work/cmake.log" >&2; exit 1; }
"$work/build/shared"
RUNCIBLE_DATA=$data "$work/build/static"

echo "the command"
"$prefix/bin/runcible" --version

echo "the prefix moved"
mkdir "$work/else where"
mv "$prefix" "$work/else where/moved"
moved="$work/else where/moved"
export LD_LIBRARY_PATH="$moved${LD_LIBRARY_PATH#"$prefix"}"
cd /
"$work/shared"
cp "$work/static" "$moved/bin/outside-static"
"$moved/bin/outside-static"
PATH="$moved/bin:$PATH"
outside-static
unset LD_LIBRARY_PATH
runcible verify builtin:fable
runcible run -n 8 2>"$work/run.log"
grep -q 'builtin:fable' "$work/run.log"
echo "installed programs run"
