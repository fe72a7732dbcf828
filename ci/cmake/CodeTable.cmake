# assay_code_table(program target... [LIBRARY target]): links into the program a table of what is known of the machine
# code of each variant: a hash, so that two builds know which variants cannot have changed, and what it calls elsewhere.
# Objects of the targets are read after they were compiled; harness/core/code/identity.hpp says what counts. Of the
# library, which the program is linked with, every byte counts.
function(assay_code_table program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY" "")
  # The reader runs here. Without it, codes are unknown, which counts as changed, and calls are unknown.
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT TARGET assay::code_table OR multi_config OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
    message(STATUS "Cross-compiling, or for several configurations at once: the code of variants is unknown")
    return()
  endif()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${program}_code_objects.txt)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${program}_code_table.cpp)
  # A precompiled header counts as an object of its target, too.
  list(TRANSFORM arg_UNPARSED_ARGUMENTS
    REPLACE "(.+)" "$<FILTER:$<TARGET_OBJECTS:\\1>,INCLUDE,[.]o(bj)?$>" OUTPUT_VARIABLE objects)
  list(TRANSFORM objects REPLACE "(.+)" "$<JOIN:\\1,\n>\n" OUTPUT_VARIABLE lines)
  list(JOIN lines "" lines)
  file(GENERATE OUTPUT ${list} CONTENT "${lines}")
  set(archive)
  if(arg_LIBRARY)
    set(archive $<TARGET_FILE:${arg_LIBRARY}>)
  endif()
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMENT "Reading the machine code of the variants"
    COMMAND assay::code_table ${PROJECT_BINARY_DIR} ${list} ${output} ${archive}
    DEPENDS assay::code_table ${arg_UNPARSED_ARGUMENTS} ${arg_LIBRARY} ${objects} ${list})
  target_sources(${program} PRIVATE ${output})
endfunction()
