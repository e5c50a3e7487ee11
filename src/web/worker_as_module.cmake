# Makes the start script of Node threads, which is CommonJS, valid as a module,
# too, as packages may require.
#
#     cmake -DWORKER=FILE -P worker_as_module.cmake
file(READ ${WORKER} text)
if(text MATCHES "getBuiltinModule")
  return()
endif()
if(NOT text MATCHES "^\"use strict\";" OR NOT text MATCHES "__filename")
  message(FATAL_ERROR "${WORKER} is not what this Emscripten is known to write")
endif()
string(REPLACE "href:__filename" "href:\"\"" text "${text}")
string(REGEX REPLACE "^\"use strict\";" "\"use strict\";\
if(typeof process==\"object\"&&process.getBuiltinModule)\
globalThis.require=process.getBuiltinModule;" text "${text}")
file(WRITE ${WORKER} "${text}")
