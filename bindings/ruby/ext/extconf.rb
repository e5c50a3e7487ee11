# frozen_string_literal: true

# Makes the Makefile of the module, in a folder with native_wrap.cc, which SWIG
# wrote, and the C sources of bindings/swig and swig. --with-runcible-dir=PREFIX
# names the prefix where Runcible is installed.
require "mkmf"

_, library = dir_config("runcible")
abort "--with-runcible-dir=PREFIX is needed" unless library

$CXXFLAGS += " -std=c++17 -fvisibility=hidden"
$CFLAGS += " -fvisibility=hidden"
# In the gem the library is in the folder lib next to the module.
$LDFLAGS += " -Wl,-rpath,'$$ORIGIN/lib'"
abort "there is no libruncible in #{library}" unless have_library("runcible", "rc_version")
create_makefile("native")
