# Sets `variable` to the levels that the cpu backend uses on the machine that
# compiles: the highest one, and the one that it takes the other kernels from.
# They are found by the compiler, which asks the processor.
function(rc_native_levels variable)
  if(EMSCRIPTEN OR CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "RUNCIBLE_CPU_LEVELS is native, but this build is not "
      "for the machine that compiles: name the levels, or leave it empty for all")
  endif()
  separate_arguments(compiler NATIVE_COMMAND "${CMAKE_CXX_COMPILER_ARG1}")
  list(PREPEND compiler ${CMAKE_CXX_COMPILER})
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/native_levels.txt)
  foreach(option -march=native -mcpu=native)
    execute_process(COMMAND ${compiler} -x c++ ${option} -E -P ${source}
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
      RESULT_VARIABLE failed ERROR_VARIABLE reason)
    if(NOT failed)
      break()
    endif()
  endforeach()
  if(failed)
    message(STATUS "${CMAKE_CXX_COMPILER} does not know the processor of this "
      "machine, so that all levels are compiled: ${reason}")
    set(found)
  endif()
  string(REGEX MATCHALL "[a-z0-9]+" found "${found}")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
