#!/bin/sh
# Installs into a separate folder and builds programs outside the tree against it:
# by pkg-config, shared and static, and by find_package. All load the model that
# comes with Runcible, also after the prefix was moved. The sources as part of
# another project are tested by subproject.sh.
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
lib=${libdir%/pkgconfig}

fail() {
  echo "tests/install/run.sh: $*" >&2
  exit 1
}

echo "what lies where"
. "$here/../abi/dump.sh"
folder=$here/../abi
[ "$(readlink "$lib/libruncible.so")" = "$(soname)" ] ||
  fail "the library is not called $(soname)"
grep -qF "$(soname)" "$here/../../docs/install.md" ||
  fail "docs/install.md states another SONAME than $(soname)"
# Only what programs link is in the folder of libraries.
for file in "$lib"/lib*; do
  case $(basename "$file") in
    libruncible.a | libruncible.so*) ;;
    *) fail "$file is no library to link" ;;
  esac
done
modules=$(cd "$lib/runcible" && echo librunciblebackend-*.so |
  sed 's/librunciblebackend-//g; s/\.so//g')
[ "$modules" != "*" ] || modules=
# What a program that finds them prints. Backends that are not built are named too.
all=$(printf '%s\n' cpu cuda metal reference rocm $modules | LC_ALL=C sort -u | paste -sd' ')
# Programs by what they print; NAME is in it if they find everything.
finds_all() { # program
  "$@" >"$work/said" || fail "$1 fails"
  cat "$work/said"
  grep -qx "backends: $all" "$work/said" || fail "$1 does not find $all"
}
# Programs outside the prefix find what RUNCIBLE_PLUGIN_PATH names.
outside() ( # program
  export RUNCIBLE_PLUGIN_PATH="${moved:-$prefix}${lib#"$prefix"}/runcible"
  finds_all "$@"
)

echo "pkg-config, shared"
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -pedantic -Werror "$here/program.c" \
  $(pkg-config --cflags --libs runcible) -o "$work/shared"
finds_all "$work/shared"
readelf -d "$work/shared" | grep -qF "[$(soname)]" ||
  fail "the program does not ask for $(soname)"
# What pkg-config prints contains the folder of the headers and nothing else.
check_cflags() { # prefix
  for package in runcible runcible-static; do
    for mode in "" --static; do
      flags=$(pkg-config $mode --cflags $package | sed 's/\\\(.\)/\1/g; s/ *$//')
      [ "$(realpath "${flags#-I}")" = "$1/include" ] ||
        fail "$package: --cflags are $flags"
    done
  done
}
check_cflags "$prefix"
case $(pkg-config --libs runcible) in
  *libuv* | *-luv* | *pcre2* | *utf8proc*)
    fail "pkg-config tells programs to link what is the library's own" ;;
esac

echo "pkg-config, static"
# shellcheck disable=SC2046
cc -std=c99 "$here/program.c" $(pkg-config --cflags --libs runcible-static) \
  -o "$work/static"
(
  unset LD_LIBRARY_PATH
  cd /
  outside "$work/static"
)
! readelf -d "$work/static" | grep 'libruncible' ||
  fail "the static program needs the shared library"

# Built by the very command that their first lines tell, and run: without
# arguments if they can be.
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
    chat)
      echo "Tell me a fable." |
        (cd "$work/examples" && ./chat >text)
      ;;
    *) (cd "$work/examples" && "./$name" >text) ;;
  esac
done

echo "find_package"
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release >"$work/cmake.log" ||
  { cat "$work/cmake.log" >&2; exit 1; }
cmake --build "$work/build" >"$work/cmake.log" ||
  { cat "$work/cmake.log" >&2; exit 1; }
finds_all "$work/build/shared"
(
  unset LD_LIBRARY_PATH
  outside "$work/build/static"
)

# A machine without the packages that the static library needs: pkg-config finds
# nothing, or is missing itself.
configure_without() { # name, components, option
  PKG_CONFIG_PATH="" PKG_CONFIG_LIBDIR=$work/none cmake -S "$here" \
    -B "$work/$1" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENTS="$2" \
    ${3+"$3"} >"$work/cmake.log" 2>&1
}
for without in "" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON; do
  for components in "" shared; do
    name="without${without:+-pkg-config}$components"
    configure_without "$name" "$components" $without ||
      { cat "$work/cmake.log" >&2; fail "the shared library needs packages"; }
    [ "$(cd "$work/$name" && ninja -t targets all | grep -c '^static:')" = 0 ] ||
      fail "there is a static library without its packages"
  done
  cmake --build "$work/$name" >"$work/cmake.log"
  finds_all "$work/$name/shared"
  ! configure_without "component$without" static $without ||
    fail "the component static is found without its packages"
  tr -s '\n ' ' ' <"$work/cmake.log" | grep -q "${without:+pkg-config}\
$([ -n "$without" ] || echo libuv, libpcre2-8, libutf8proc)" ||
    { cat "$work/cmake.log" >&2; fail "the message names no packages"; }
done
! cmake -S "$here" -B "$work/other" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCOMPONENTS=dynamic >"$work/cmake.log" 2>&1 || fail "a component \"dynamic\""
tr -s '\n ' ' ' <"$work/cmake.log" | grep -q 'has shared and static' ||
  { cat "$work/cmake.log" >&2; fail "the message names no components"; }

echo "the command"
"$prefix/bin/runcible" --version

echo "the prefix moved"
mkdir "$work/else where"
mv "$prefix" "$work/else where/moved"
moved="$work/else where/moved"
export LD_LIBRARY_PATH="$moved${LD_LIBRARY_PATH#"$prefix"}"
cd /
finds_all "$work/shared"
# The files of pkg-config and CMake moved along.
export PKG_CONFIG_PATH="$moved${libdir#"$prefix"}"
check_cflags "$moved"
for package in runcible runcible-static; do
  eval "cc -std=c99 '$here/program.c' -o '$work/$package-moved' \
    $(pkg-config --cflags --libs $package)" ||
    fail "$package: flags of the moved prefix are wrong"
  RUNCIBLE_DATA=$moved/share/runcible outside "$work/$package-moved"
done
cmake -S "$here" -B "$work/moved" -G Ninja -DCMAKE_PREFIX_PATH="$moved" \
  >"$work/cmake.log" && cmake --build "$work/moved" >"$work/cmake.log" ||
  { cat "$work/cmake.log" >&2; fail "find_package fails in a moved prefix"; }
finds_all "$work/moved/shared"
cp "$work/static" "$moved/bin/outside-static"
finds_all "$moved/bin/outside-static"
PATH="$moved/bin:$PATH"
finds_all outside-static
unset LD_LIBRARY_PATH
# Outside there is nothing to be found by now, and the message says where.
! "$work/static" >"$work/said" 2>&1 || fail "there is still a model"
grep -qF "$prefix/share/runcible" "$work/said" ||
  fail "it is not said where the model was looked for: $(cat "$work/said")"
RUNCIBLE_DATA=$moved/share/runcible "$work/static"
runcible verify builtin:fable
runcible verify builtin:fabulist
runcible run -n 8 2>"$work/run.log" </dev/null
grep -q 'builtin:fable' "$work/run.log"
"$here/subproject.sh"
echo "installed programs run"
