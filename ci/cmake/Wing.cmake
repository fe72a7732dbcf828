# assay_wing(NAME [BY_ROOMS] [LONG patterns] [HEADERS word…]): the library assay::NAME of all sources below the folder
# NAME, and the program NAME_tests of its *_test.cpp, of which some are LONG. The words name public headers,
# include/assay/<word>.hpp.
#
# The sources of a wing are parsed together as one, and with BY_ROOMS those of each of its folders.
#
# Folders are read at every build: a new file needs no line anywhere.
function(assay_wing name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BY_ROOMS" "LONG" "HEADERS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${name}/*.cpp)
  assay_take(sources "_test[.]cpp$" tests)
  list(FILTER sources EXCLUDE REGEX "main[.]cpp$")
  list(TRANSFORM arg_HEADERS REPLACE "(.+)" "include/assay/\\1.hpp")

  add_library(assay_${name} STATIC ${sources})
  add_library(assay::${name} ALIAS assay_${name})
  set_target_properties(assay_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(assay_${name} PUBLIC cxx_std_20)
  target_include_directories(assay_${name} PRIVATE .)
  target_sources(assay_${name} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  assay_compile(assay_${name} CHEAP)
  if(arg_BY_ROOMS)
    assay_parse_together(assay_${name} ${sources})
  else()
    assay_parse_together(assay_${name} AS ONE ${sources})
  endif()
  # Header-only libraries are of no concern to whoever links an installed one. fmt is not taken as one: each file
  # would compile it anew.
  set(private fmt::fmt $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  target_link_libraries(assay_${name} PRIVATE ${private})

  assay_tests(${name}_tests LABEL harness LONG "${arg_LONG}" ${tests})
  if(TARGET ${name}_tests)
    target_include_directories(${name}_tests PRIVATE .)
    target_link_libraries(${name}_tests PRIVATE assay::${name} ${private})
  endif()
endfunction()
