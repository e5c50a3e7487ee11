# The configuration of Emscripten (--em-config), which is Python.
import os
import shutil

# Debian has this Emscripten call LLVM 14, but it was written for the next: from
# 15 on what an exception carries to its handler belongs to each thread.
LLVM_ADD_VERSION = "15"
CLANG_ADD_VERSION = "15"
LLVM_ROOT = "/usr/bin"
BINARYEN_ROOT = "/usr"
NODE_JS = shutil.which("node") or shutil.which("nodejs") or "/usr/bin/node"
# Debian's libraries in JavaScript, which only Debian's own Node finds by itself.
os.environ["NODE_PATH"] = "/usr/share/nodejs"
# The C and C++ libraries come compiled.
FROZEN_CACHE = True
COMPILER_WRAPPER = shutil.which("ccache")
