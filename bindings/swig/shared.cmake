# Writes the files that all wrappers share, completed from the headers in
# ${headers}, to the folder ${shared}. ${root} is the repository's folder.
set(shared ${CMAKE_CURRENT_BINARY_DIR}/shared)
file(GLOB_RECURSE described CONFIGURE_DEPENDS ${root}/bindings/swig/*
  ${root}/bindings/api/*.py ${headers}/runcible/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${described})
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(REMOVE_RECURSE ${shared})
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${Python3_EXECUTABLE} ${root}/bindings/api/generate.py swig
    ${headers}/runcible ${root}/bindings/swig ${shared})
