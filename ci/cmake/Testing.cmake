# assay_tests(NAME sources…): one GoogleTest program, its cases known to ctest by name.
if(ASSAY_BUILD_TESTS)
  enable_testing()
  include(GoogleTest)
endif()

function(assay_tests name)
  if(NOT ASSAY_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  assay_compile(${name})
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
  assay_precompile(${name} <gmock/gmock.h> <gtest/gtest.h>)
  # Parameters show as their names. Generated tests of all variants are many to list and some are long.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 1200)
endfunction()
