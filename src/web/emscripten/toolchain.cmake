# Emscripten of the distribution; the README.md in this folder gives the reason,
# and lists the missing parts that are added.
set(emscripten /usr/share/emscripten)
foreach(program ${emscripten}/cmake/Modules/Platform/Emscripten.cmake
        /usr/bin/clang++-15 /usr/bin/wasm-ld-15 /usr/bin/llvm-ar-15)
  if(NOT EXISTS ${program})
    message(FATAL_ERROR "There is no ${program}: install the packages "
      "emscripten, clang-15, lld-15 and llvm-15")
  endif()
endforeach()
set(config ${CMAKE_CURRENT_LIST_DIR}/config.py)
set(RUNCIBLE_WEB_THREADS ON CACHE BOOL
    "Threads, for which pages must be allowed to share memory")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RUNCIBLE_WEB_THREADS)
set(flags "--em-config ${config} -msimd128 -fwasm-exceptions")
if(RUNCIBLE_WEB_THREADS)
  string(APPEND flags " -pthread")
endif()
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT
  "${flags} -fno-rtti -isystem ${CMAKE_CURRENT_LIST_DIR}/libcxx")
set(ENV{EM_CONFIG} ${config})
if(RUNCIBLE_WEB_THREADS)
  # Memory that grows is slow only where JavaScript looks at it.
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wno-pthreads-mem-growth")
endif()
set(CMAKE_INSTALL_PREFIX /usr/local CACHE PATH
  "Where a module looks for the models that come with Runcible")
include(${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
# The archivers as the compiler is, not as they are configured for others.
foreach(tool ar ranlib)
  string(TOUPPER ${tool} variable)
  set(CMAKE_${variable} /usr/bin/llvm-${tool}-15 CACHE FILEPATH "" FORCE)
endforeach()
