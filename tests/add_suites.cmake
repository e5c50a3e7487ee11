# Read by ctest: adds the suites that a test program has listed (suites.cmake).
#
#   rc_add_suites(PROGRAM LISTING PREFIX [PROPERTY VALUE]...)
function(rc_add_suites program listing prefix)
  # A program that was not built fails where it is asked for.
  if(NOT EXISTS "${listing}")
    add_test("${prefix}.not_built" "${program}")
    set_tests_properties("${prefix}.not_built" PROPERTIES ${ARGN})
    return()
  endif()
  # A suite is a line that ends with a full stop, or has a comment after it.
  file(STRINGS "${listing}" suites REGEX "^[A-Za-z0-9_/]+[.]( .*)?$")
  foreach(line IN LISTS suites)
    string(REGEX REPLACE "[.].*$" "" suite "${line}")
    add_test("${prefix}.${suite}" "${program}" "--gtest_filter=${suite}.*")
    set_tests_properties("${prefix}.${suite}" PROPERTIES ${ARGN})
  endforeach()
endfunction()
