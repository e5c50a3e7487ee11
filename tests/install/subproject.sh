#!/bin/sh
# Takes the sources into another project (add_subdirectory, as FetchContent does)
# and checks that they leave its build type, its variables, its target `all` and
# what it installs alone.
#   tests/install/subproject.sh [build]
# With `build` it also builds and runs programs of that project, which takes
# minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "tests/install/subproject.sh: $*" >&2
  exit 1
}

configure() { # folder, options
  folder=$1
  shift
  cmake -S "$here/subproject" -B "$work/$folder" -G Ninja \
    -DSOURCES="$sources" "$@" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
}

plan() { # folder, target
  ninja -C "$work/$1" -t commands "$2" >"$work/plan" || fail "no plan of $2"
}

echo "a project that contains Runcible and links nothing of it"
configure plain
plan plain all
[ ! -s "$work/plan" ] ||
  fail "all builds $(wc -l <"$work/plan") files that nothing links"
for folder in bin lib share; do
  [ ! -e "$work/plain/$folder" ] || fail "there is a $folder in its build folder"
done
cmake --install "$work/plain" --prefix "$work/prefix" >/dev/null
[ "$(cd "$work/prefix" && find . -type f)" = ./share/parent/CMakeLists.txt ] ||
  fail "it installs $(cd "$work/prefix" && find . -type f | head -5)"

echo "one that links it"
configure linked -DLINK=ON
plan linked all
grep -q 'runcible/lib/libruncible\.so' "$work/plan" || fail "no shared library"
grep -q 'runcible/lib/libruncible\.a' "$work/plan" || fail "no static library"
! grep -E 'runciblebackend-|-o runcible/bin/|src/cli/' "$work/plan" ||
  fail "all builds more than what is linked"
plan linked runcible_modules
grep -q -e '-o runcible/bin/runcible-probe' "$work/plan" || fail "there is no probe"

echo "one that installs it"
configure installing -DRUNCIBLE_INSTALL=ON
plan installing all
for name in lib/libruncible.so lib/libruncible.a bin/runcible-probe; do
  grep -qF "runcible/$name" "$work/plan" || fail "all does not build $name"
done

if [ "${1-}" = build ]; then
  echo "programs of that project"
  cmake -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
    -DCMAKE_BUILD_TYPE=Release -DRUNCIBLE_CPU_LEVELS=native \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" \
    "$work/linked" >"$work/log" 2>&1 || true
  cmake --build "$work/linked" >"$work/log" || { cat "$work/log" >&2; exit 1; }
  "$work/linked/app_shared"
  "$work/linked/app_static"
fi
echo "Runcible leaves a project around it alone"
