# Flags of every compilation. An unoptimised benchmark is a lie, so the build type is Release unless told
# otherwise.
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Flags of measured code. Relinking alone moves small kernels by 7 to 33 % when functions and loops start at
# arbitrary offsets; aligned to a cache line all but one of 22 kernels stayed within 0.75 %.
# No -march: a stored baseline must not depend on whose machine compiled it. No -ffast-math, ever.
# Sections for each function and constant let the hash of a variant's code leave out what the variant does not use.
set(ASSAY_MEASURED_FLAGS -O3 -falign-functions=64 -falign-loops=64 -ffunction-sections -fdata-sections)

# Objects name sources from the project's folder, so that builds in different folders give equal code. Compilers see
# relative paths under ccache with a base folder.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE assay_root)
set(ASSAY_PATH_FLAGS -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${assay_root}/=)

# A compiler cache is used where there is one and no launcher was chosen (an empty one chooses none). It
# returns exactly what the compiler would have made here: no object names a folder, thanks to the flags above.
# ccache keeps files with a precompiled header only when told that these do not depend on the time of day.
find_program(ASSAY_CCACHE ccache)
mark_as_advanced(ASSAY_CCACHE)
if(ASSAY_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${ASSAY_CCACHE})
endif()

# Release builds and those with sanitizers parse what many files include once for all of them: precompiled headers, and
# sources compiled together. That hides a file that does not include what it uses; a plain Debug build, in which one
# edits, does neither.
if(CMAKE_BUILD_TYPE STREQUAL Release OR ASSAY_SANITIZE)
  set(ASSAY_PARSES_ONCE ON)
endif()

function(assay_precompile target)
  if(ASSAY_PARSES_ONCE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# assay_parse_together(target [AS ONE] source...): compiles the sources of each folder as one, or all of them. Sources
# with flags of their own stay apart. One by itself takes 1.7 s and ten together 3.4 s, since all use the same
# templates.
function(assay_parse_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "AS" "")
  if(NOT ASSAY_PARSES_ONCE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow)  # names of another file of the group
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    set(group ${arg_AS})
    if(NOT arg_AS)
      cmake_path(GET source PARENT_PATH group)
      cmake_path(GET group FILENAME group)
    endif()
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${target}_${group})
  endforeach()
endfunction()

# One directory-wide switch, so that tests, kernels and the harness are instrumented alike.
if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
  # The address sanitizer finds the accesses that these checks before each access are about, and processors fault on
  # those that have to be aligned. They are half of what the undefined-behaviour sanitizer adds to a compilation.
  if(ASSAY_SANITIZE MATCHES address AND ASSAY_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=null,object-size,alignment,pointer-overflow)
  endif()
endif()
