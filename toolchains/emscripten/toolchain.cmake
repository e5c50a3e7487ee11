# Emscripten of the distribution; README.md beside this file tells why, and what
# it is given that it lacks.
set(emscripten /usr/share/emscripten)
if(NOT EXISTS ${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
  message(FATAL_ERROR "There is no Emscripten in ${emscripten}: install the "
    "package emscripten")
endif()
set(flags "-pthread -msimd128 -fwasm-exceptions")
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT "${flags} -isystem ${CMAKE_CURRENT_LIST_DIR}/libcxx")
# Memory that grows is only slow where JavaScript looks at it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wno-pthreads-mem-growth")
# As programs outside of the sandbox that a page is.
set(CMAKE_INSTALL_PREFIX /usr/local CACHE PATH
  "Where a module looks for the models that come with Runcible")
include(${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
# Where Debian has the libraries in JavaScript that the linker needs; only
# Debian's own Node looks there by itself.
foreach(language C CXX)
  set(CMAKE_${language}_LINKER_LAUNCHER
    ${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs)
endforeach()
set(ENV{NODE_PATH} /usr/share/nodejs)
