# assay_tests(NAME [BY n] [PARTS 4] LABEL label [LONG patterns] sources…): one GoogleTest program, which ctest runs in
# parts, NAME.0 to NAME.3, and selects by the label: `harness`, `contracts`, `kernels` or `program`. A process for each of
# two thousand tests would spend most of its time on starting: sanitized, that takes half a second. NAME
# --gtest_filter=Suite.Test runs a single test. Tests that LONG, a filter, selects are in parts of their own, NAME_long.0
# and so on, with the label `long`. The sources of a folder are compiled together, or n at a time, each in a namespace of
# its own.
if(ASSAY_BUILD_TESTS)
  enable_testing()
endif()

# assay_take(FROM REGEX INTO): moves the elements of the list FROM that match into the list INTO.
function(assay_take from regex into)
  set(taken ${${from}})
  list(FILTER taken INCLUDE REGEX "${regex}")
  list(FILTER ${from} EXCLUDE REGEX "${regex}")
  set(${into} ${taken} PARENT_SCOPE)
  set(${from} ${${from}} PARENT_SCOPE)
endfunction()

function(assay_tests name)
  if(NOT ASSAY_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;BY;PARTS;LONG" "")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  add_executable(${name} ${sources})
  assay_compile(${name} CHEAP)
  # Tests compile a third faster without optimisation. The libraries that they call are optimised.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
  if(arg_BY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD "${ASSAY_PARSES_ONCE}" UNITY_BUILD_BATCH_SIZE ${arg_BY})
  else()
    assay_parse_together(${name} ${sources})
  endif()
  assay_precompile(${name} <gmock/gmock.h> <gtest/gtest.h>)
  if(NOT arg_PARTS)
    set(arg_PARTS 4)
  endif()
  math(EXPR last "${arg_PARTS} - 1")
  foreach(kind IN ITEMS "" _long)
    set(label ${arg_LABEL})
    set(filter)
    if(kind)
      set(label long)
      set(filter "GTEST_FILTER=${arg_LONG};")
    elseif(arg_LONG)
      set(filter "GTEST_FILTER=-${arg_LONG};")
    endif()
    foreach(part RANGE ${last})
      add_test(NAME ${name}${kind}.${part} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}${kind}.${part} PROPERTIES LABELS "${label}"
        # Clang's OpenMP keeps threads busy for 200 ms after a call, and a check waits until they sleep.
        ENVIRONMENT "${filter}GTEST_TOTAL_SHARDS=${arg_PARTS};GTEST_SHARD_INDEX=${part};KMP_BLOCKTIME=1" TIMEOUT 1200
        # A filter that selects nothing is no success.
        FAIL_REGULAR_EXPRESSION "\\] 0 tests from")
    endforeach()
    if(NOT arg_LONG)
      break()
    endif()
  endforeach()
endfunction()
