#!/bin/sh
# Builds the package for a Runcible that was built before, installs it in a clean
# place, and runs the tests there.
#
#   bindings/tcl/run.sh BUILD_FOLDER
#   bindings/tcl/run.sh --packages    prints the Debian packages it needs
#
# All output is in build/bindings/tcl.
set -eu
if [ "$1" = --packages ]; then
  echo tcl8.6 tcl8.6-dev tcllib tcl-thread
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"

echo "package"
build_and_install
# Tcl has no fork, which the tests need.
cc -shared -fPIC -Wall -Wextra -DUSE_TCL_STUBS $(pkg-config --cflags tcl8.6) \
  "$here/tests/forking.c" -o "$work/forking.so" -ltclstub8.6

echo "tests"
cd /
env -i PATH=/usr/bin:/bin HOME="$work" LC_ALL=C.UTF-8 \
  TCLLIBPATH="$clean/lib/tcltk" FORKING="$work/forking.so" \
  RUNCIBLE_CASES="$cases" RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  TMPDIR="$work" \
  tclsh8.6 "$here/tests/run.tcl"
