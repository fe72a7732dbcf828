# assay_add_kernels(NAME SOURCES file... [SUITE file.json]): the program NAME, with the whole command line, from
# files that register variants; the ctest check.NAME, and with a suite bench.NAME, which gates against the
# baseline of this machine in the build folder and records one when there is none. The sources are compiled as the
# target NAME_kernels, with what NAME links and is compiled with, so that what they call is known.
include(${CMAKE_CURRENT_LIST_DIR}/CodeTable.cmake)

function(assay_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SUITE" "SOURCES")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "usage: assay_add_kernels(NAME SOURCES file... [SUITE file.json])")
  endif()
  add_library(${name}_kernels OBJECT ${arg_SOURCES})
  add_executable(${name} $<TARGET_OBJECTS:${name}_kernels>)
  target_link_libraries(${name} PRIVATE assay::reference assay::harness_main)
  foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES INCLUDE_DIRECTORIES LINK_LIBRARIES)
    set_property(TARGET ${name}_kernels APPEND PROPERTY ${property} $<TARGET_PROPERTY:${name},${property}>)
  endforeach()
  # A table of code names sources from the project's folder. Compilers see relative paths under ccache with a base
  # folder, and of a source by another name it would be unknown what it calls.
  cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE root)
  target_compile_options(${name}_kernels PRIVATE
    -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${root}/=)
  assay_code_table(${name} ${name}_kernels LIBRARY assay::reference_archive)
  add_test(NAME check.${name} COMMAND ${name} check)
  if(arg_SUITE)
    cmake_path(ABSOLUTE_PATH arg_SUITE)
    set(baselines ${CMAKE_CURRENT_BINARY_DIR}/baselines)
    add_test(NAME bench.${name} COMMAND ${name} gate --suite ${arg_SUITE} --baselines ${baselines}
      --record-missing ${baselines} --reports ${CMAKE_CURRENT_BINARY_DIR}/reports
      -o ${CMAKE_CURRENT_BINARY_DIR}/reports/${name}.json)
    # Alone on the machine: a benchmark beside running tests measures the tests.
    set_tests_properties(bench.${name} PROPERTIES LABELS bench RUN_SERIAL TRUE SKIP_RETURN_CODE 77)
  endif()
endfunction()
