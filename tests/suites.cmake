# Registers each suite of a GoogleTest program as one test of ctest: its tests share
# a process, and with it the opening of devices and the start of sanitizers.
#
#   rc_discover_suites(TARGET PREFIX NAME [LABELS L...] [PROPERTIES P V ...])
#
# The test of suite S is called NAME.S. LABELS and PROPERTIES are those of ctest and
# apply to every suite of the program.
function(rc_discover_suites target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "LABELS;PROPERTIES")
  set(listing ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.txt)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND sh -c "\"$1\" --gtest_list_tests >\"$2\"" list $<TARGET_FILE:${target}>
      ${listing}
    BYPRODUCTS ${listing} VERBATIM)
  # Lists keep their semicolons within brackets.
  set(properties)
  foreach(word IN LISTS arg_PROPERTIES)
    string(APPEND properties " [==[${word}]==]")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake CONTENT
"include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/add_suites.cmake]==])
rc_add_suites([==[$<TARGET_FILE:${target}>]==] [==[${listing}]==]
  [==[${arg_PREFIX}]==] LABELS [==[${arg_LABELS}]==]${properties})
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
    ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
endfunction()
