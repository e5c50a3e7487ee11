# frozen_string_literal: true

# Makes the Makefile of the module, in a folder where SWIG wrote native_wrap.cc
# and the C of bindings/swig and swig lies; --with-runcible-dir=PREFIX tells
# where Runcible is installed.
require "mkmf"

_, library = dir_config("runcible")
abort "--with-runcible-dir=PREFIX is needed" unless library

$CXXFLAGS += " -std=c++17 -fvisibility=hidden"
$CFLAGS += " -fvisibility=hidden"
# Within the gem the library lies in the folder lib beside the module.
$LDFLAGS += " -Wl,-rpath,'$$ORIGIN/lib'"
abort "there is no libruncible in #{library}" unless have_library("runcible", "rc_version")
create_makefile("native")
