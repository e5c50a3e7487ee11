#!/bin/sh
# Builds the package for a Runcible that was built before, installs it in a clean
# place, and runs the tests there.
#
#   bindings/lua/run.sh BUILD_FOLDER
#   bindings/lua/run.sh --packages    prints the Debian packages it needs
#
# All output is in build/bindings/lua.
set -eu
if [ "$1" = --packages ]; then
  echo lua5.4 liblua5.4-dev lua-luv lua-dkjson lua-unit lua-check
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"

echo "package"
build_and_install
# Lua has no fork, which the tests need.
cc -shared -fPIC -Wall -Wextra $(pkg-config --cflags lua5.4) \
  "$here/tests/forking.c" -o "$work/forking.so"

echo "luacheck"
luacheck --quiet --std lua54 --no-max-line-length \
  "$clean/share/lua/5.4/runcible" "$here/examples"
# Tests leave loops at once, and assign nil to release objects.
luacheck --quiet --std lua54 --no-max-line-length \
  --ignore 211/closing 311 512 -- "$here/tests"

echo "tests"
cd /
env -i PATH=/usr/bin:/bin HOME="$work" \
  LUA_PATH="$clean/share/lua/5.4/?.lua;$clean/share/lua/5.4/?/init.lua;$here/tests/?.lua;;" \
  LUA_CPATH="$clean/lib/lua/5.4/?.so;$work/?.so;;" \
  RUNCIBLE_CASES="$cases" RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  RUNCIBLE_EXAMPLES="$here/examples" TMPDIR="$work" \
  lua5.4 "$here/tests/run.lua"
