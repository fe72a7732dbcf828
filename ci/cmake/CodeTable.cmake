# assay_code_table(program): links into the program a table of what identifies the machine code of each variant,
# so that two builds know which variants cannot have changed. Objects of the kernels and the reference are read
# after they were compiled; harness/core/code/identity.hpp says what counts.
function(assay_code_table program)
  # The reader runs here. Without it, codes are unknown, which counts as changed.
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "Cross-compiling: the code of variants is unknown")
    return()
  endif()
  set(objects ${CMAKE_CURRENT_BINARY_DIR}/code_objects.txt)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/code_table.cpp)
  set(archives assay_kernels_archive assay_reference_archive)
  set(lists ${archives})
  # A precompiled header counts as an object of its target, too.
  list(TRANSFORM lists REPLACE "(.+)" "$<JOIN:$<FILTER:$<TARGET_OBJECTS:\\1>,INCLUDE,[.]o(bj)?$>,\n>\n")
  list(JOIN lists "" lists)
  file(GENERATE OUTPUT ${objects} CONTENT "${lists}")
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMENT "Hashing the machine code of the variants"
    COMMAND assay_code_table ${PROJECT_BINARY_DIR} ${objects} ${output}
    DEPENDS assay_code_table ${archives} ${objects})
  target_sources(${program} PRIVATE ${output})
endfunction()
