# The libraries that the engine stands on, for WebAssembly. Those that are headers
# alone are the machine's; the others are compiled from the source packages of
# Debian, as the packages themselves are for other processors.
cmake_path(GET CMAKE_BINARY_DIR PARENT_PATH builds)
set(RUNCIBLE_LIBRARY_SOURCES ${builds}/web-sources CACHE PATH
    "Folder of the sources of utf8proc and pcre2; fetched if there are none")
set(lacking)
foreach(package utf8proc pcre2)
  if(NOT EXISTS ${RUNCIBLE_LIBRARY_SOURCES}/${package})
    list(APPEND lacking ${package})
  endif()
endforeach()
if(lacking)
  message(STATUS "Fetching the sources of ${lacking}")
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/sources.sh ${RUNCIBLE_LIBRARY_SOURCES}
      ${lacking}
    COMMAND_ERROR_IS_FATAL ANY)
endif()

# Other people's code, whose warnings are theirs.
function(rc_foreign_library name include)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC ${include})
endfunction()

set(utf8proc ${RUNCIBLE_LIBRARY_SOURCES}/utf8proc)
rc_foreign_library(rc_utf8proc ${utf8proc} ${utf8proc}/utf8proc.c)
target_compile_definitions(rc_utf8proc PUBLIC UTF8PROC_STATIC)

# As its NON-AUTOTOOLS-BUILD has it, with 8-bit units and Unicode. WebAssembly
# cannot write code as it runs, so there is no JIT.
set(pcre2 ${RUNCIBLE_LIBRARY_SOURCES}/pcre2/src)
set(pcre2_made ${CMAKE_CURRENT_BINARY_DIR}/pcre2)
configure_file(${pcre2}/config.h.generic ${pcre2_made}/config.h COPYONLY)
configure_file(${pcre2}/pcre2.h.generic ${pcre2_made}/pcre2.h COPYONLY)
configure_file(${pcre2}/pcre2_chartables.c.dist
  ${pcre2_made}/pcre2_chartables.c COPYONLY)
set(pcre2_sources ${pcre2_made}/pcre2_chartables.c)
foreach(part auto_possess compile config context convert dfa_match error extuni
        find_bracket jit_compile maketables match match_data newline ord2utf
        pattern_info script_run serialize string_utils study substitute
        substring tables ucd valid_utf xclass)
  list(APPEND pcre2_sources ${pcre2}/pcre2_${part}.c)
endforeach()
rc_foreign_library(rc_pcre2 ${pcre2_made} ${pcre2_sources})
target_include_directories(rc_pcre2 PRIVATE ${pcre2})
target_compile_definitions(rc_pcre2 PUBLIC PCRE2_STATIC
  PRIVATE HAVE_CONFIG_H PCRE2_CODE_UNIT_WIDTH=8 SUPPORT_PCRE2_8 SUPPORT_UNICODE)

set(headers ${CMAKE_CURRENT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
if(NOT EXISTS /usr/include/nlohmann)
  message(FATAL_ERROR "There is no /usr/include/nlohmann: install the package "
    "nlohmann-json3-dev")
endif()
file(CREATE_LINK /usr/include/nlohmann ${headers}/nlohmann SYMBOLIC)
add_library(rc_headers INTERFACE)
target_include_directories(rc_headers SYSTEM INTERFACE ${headers})

# The libraries of the sources, and objects that the library contains.
set(rc_libraries)
set(rc_header_libraries rc_headers)
foreach(library rc_utf8proc rc_pcre2)
  add_library(${library}_headers INTERFACE)
  target_include_directories(${library}_headers SYSTEM INTERFACE
    $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${library}_headers INTERFACE
    $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
  list(APPEND rc_libraries ${library}_headers)
  list(APPEND rc_library_objects $<TARGET_OBJECTS:${library}>)
endforeach()

# The missing parts of this C++ library.
add_library(rc_libcxx OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/libcxx/floating_point_text.cc)
list(APPEND rc_library_objects $<TARGET_OBJECTS:rc_libcxx>)
