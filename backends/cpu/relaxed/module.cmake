# The module of the level `relaxed`, for which the LLVM of the rest is too old; it
# is left out where there is no newer one. It stands alone: no library, no table
# that others see and no data, so that it needs no place in memory: it is linked to
# begin where its memory ends, and with data the linker finds that too small.
foreach(version 22 21 20 19)
  find_program(RUNCIBLE_RELAXED_CLANG clang++-${version})
  if(RUNCIBLE_RELAXED_CLANG)
    find_program(RUNCIBLE_RELAXED_LINKER wasm-ld-${version})
    break()
  endif()
endforeach()
mark_as_advanced(RUNCIBLE_RELAXED_CLANG RUNCIBLE_RELAXED_LINKER)
if(NOT RUNCIBLE_RELAXED_CLANG OR NOT RUNCIBLE_RELAXED_LINKER)
  message(STATUS "The cpu backend is built without the level relaxed: it "
    "requires clang-19 and lld-19, or newer ones")
  return()
endif()

set(relaxed_options --target=wasm32 -std=c++20 -O2 -ffreestanding -fno-exceptions
  -fno-rtti -fno-jump-tables -mbulk-memory -msimd128 -mrelaxed-simd
  -DRC_CPU_LEVEL=relaxed -Wall -Wextra
  # Half of what instance.cc sets aside for all that a product calls.
  -Wframe-larger-than=65536 -Werror=frame-larger-than
  -I${CMAKE_CURRENT_SOURCE_DIR}/relaxed/freestanding
  -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
  -I${PROJECT_SOURCE_DIR}/backends)
if(RUNCIBLE_WERROR)
  list(APPEND relaxed_options -Werror)
endif()
set(relaxed_memory)
set(relaxed_name runcible-single-relaxed)
if(RUNCIBLE_WEB_THREADS)
  list(APPEND relaxed_options -matomics)
  set(relaxed_memory --shared-memory)
  set(relaxed_name runcible-relaxed)
endif()
set(relaxed_objects)
foreach(source kernels/linear.cc relaxed/module.cc)
  cmake_path(GET source STEM object)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/relaxed_${object}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${RUNCIBLE_RELAXED_CLANG} ${relaxed_options} -MD -MF ${object}.d
      -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${object}.d
    COMMENT "Compiling ${source} for the level relaxed" VERBATIM)
  list(APPEND relaxed_objects ${object})
endforeach()
set(relaxed_module ${PROJECT_BINARY_DIR}/bin/${relaxed_name}.wasm)
add_custom_command(OUTPUT ${relaxed_module}
  COMMAND ${RUNCIBLE_RELAXED_LINKER} --no-entry --strip-all
    --import-memory ${relaxed_memory} --max-memory=4294967296
    --initial-memory=65536 --global-base=65536 -z stack-size=0
    --export=rc_relaxed_multiply --export=__stack_pointer
    ${relaxed_objects} -o ${relaxed_module}
  DEPENDS ${relaxed_objects}
  COMMENT "Linking ${relaxed_name}.wasm" VERBATIM)
add_custom_target(rc_cpu_relaxed_module ALL DEPENDS ${relaxed_module})
set_target_properties(rc_cpu_relaxed_module PROPERTIES RC_FILE ${relaxed_module})
target_compile_definitions(rc_cpu PRIVATE RC_CPU_HAS_relaxed)
target_sources(rc_cpu PRIVATE relaxed/instance.cc)
