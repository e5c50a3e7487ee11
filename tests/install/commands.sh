#!/bin/sh
# Does what README.md and docs/install.md say, word for word, from the quickstart to the first
# program, with a copy of the sources. What would change the machine is done
# otherwise here: packages are only looked for, the prefix is a folder of the
# test's, and ldconfig shows it to the loader of this test alone. For the
# commands as they are on a machine that has nothing see fresh_root.sh.
#   tests/install/commands.sh [BUILD]
# Builds have the levels of the cpu backend that the build folder BUILD has, which
# ccache knows.
set -eu
. "$(dirname "$0")/readme.sh"
work=$(mktemp -d)
# A failure within commands that are sourced ends this shell at once.
trap 'status=$?
  [ $status = 0 ] || cat "$work/log" >&2
  rm -rf "$work"' EXIT
prefix=$work/usr/local

sudo() { "$@"; }

# No function can be called so.
mkdir "$work/bin"
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
[ "$1" = install ] || exit 0
shift
for package in "$@"; do
  case $package in -*) continue ;; esac
  dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null |
    grep -qx 'install ok installed' ||
    { echo "docs/install.md wants $package, which is not here" >&2; exit 1; }
done
END
chmod +x "$work/bin/apt-get"

levels=
[ $# = 0 ] || levels=$(sed -n 's/^RUNCIBLE_CPU_LEVELS:[A-Z]*=//p' "$1/CMakeCache.txt")

cmake() {
  case $1 in
    --preset)
      command cmake "$@" "-DCMAKE_INSTALL_PREFIX=$prefix" \
        "-DRUNCIBLE_CPU_LEVELS=$levels"
      ;;
    *) command cmake "$@" ;;
  esac
}

ldconfig() {
  LD_LIBRARY_PATH=$prefix/lib
  export LD_LIBRARY_PATH
}

# As /usr/local is known to every Debian.
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
PATH=$work/bin:$prefix/bin:$PATH
export PKG_CONFIG_PATH PATH
unset LD_LIBRARY_PATH RUNCIBLE_DATA RUNCIBLE_PLUGIN_PATH DESTDIR

run() { # name of a block
  readme_commands "$1" >"$work/commands"
  echo "the documentation: $1"
  sed 's/^/  /' "$work/commands"
  . "$work/commands" >"$work/log" 2>&1
}

tree_into "$work/runcible"
cd "$work/runcible"
# For ccache, if it is there: the copy's files are the tree's.
export CCACHE_BASEDIR="$work/runcible"
run quickstart
grep -q '[a-z]\{3,\} [a-z]\{3,\}' "$work/log" # a text
# What the quickstart leaves out is listed with the reason, and nothing else.
! grep 'not available' "$work/log" |
  grep -vE 'RUNCIBLE_BUILD_GPU_MODULES|has no backend metal;' ||
  { echo "the quickstart leaves out more than it says" >&2; exit 1; }
# Its folder has no whole library to install.
! command cmake --install build/quickstart --prefix "$work/at once" \
  >"$work/log" 2>&1 || { echo "half a library is installed" >&2; exit 1; }
grep -q RUNCIBLE_INSTALL "$work/log"
run quickstart
# Once more it compiles nothing.
! grep -q 'Building CXX' "$work/log" ||
  { echo "the second quickstart compiled again" >&2; exit 1; }
run install
mkdir "$work/program"
cd "$work/program"
readme_program >hello.c
run program
[ "$(wc -w <"$work/log")" -ge 60 ] ||
  { echo "the first program wrote hardly any text" >&2; exit 1; }
readelf -d hello | grep -q libruncible
run static
# By itself, and outside the prefix.
! readelf -d hello-static | grep libruncible ||
  { echo "the static program needs the shared library" >&2; exit 1; }
echo "what the documentation says works"
