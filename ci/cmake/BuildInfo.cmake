# assay_build_info(target): compiles into the target what build_info() reports: flags, versions, commit.
#
# The commit is read at every build, not when CMake ran: this file is therefore also the script that writes the
# source. It is rewritten only when its content changes, so that nothing is compiled or linked needlessly.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(ASSAY_BUILD_INFO_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

  function(assay_build_info target)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp)
    set(common "${CMAKE_CXX_FLAGS}")
    foreach(type Release RelWithDebInfo MinSizeRel Debug)
      string(TOUPPER ${type} upper)
      string(APPEND common "$<$<CONFIG:${type}>: ${CMAKE_CXX_FLAGS_${upper}}>")
    endforeach()
    add_custom_target(${target}_build_info BYPRODUCTS ${output} VERBATIM
      COMMENT "Reading the commit"
      COMMAND ${CMAKE_COMMAND}
        "-DOUTPUT=${output}" "-DSOURCE=${PROJECT_SOURCE_DIR}"
        "-DVERSION=${PROJECT_VERSION}" "-DBUILD_TYPE=$<CONFIG>"
        "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
        # Read from the targets themselves, so that what is reported is what was used.
        "-DKERNEL_FLAGS=${common} $<JOIN:$<TARGET_PROPERTY:assay_kernels_archive,COMPILE_OPTIONS>, >"
        "-DREFERENCE_FLAGS=${common} $<JOIN:$<TARGET_PROPERTY:assay_reference_archive,COMPILE_OPTIONS>, >"
        "-DPLANTED=${ASSAY_PLANT}" "-DTIERS=${ASSAY_BUILT_TIERS}"
        "-DHIGHWAY=${hwy_VERSION}" "-DBENCHMARK=${benchmark_VERSION}"
        -P ${ASSAY_BUILD_INFO_SCRIPT})
    add_dependencies(${target} ${target}_build_info)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

# Flags as they act: warnings and the names of folders left out, each flag once.
function(essential_flags variable)
  separate_arguments(flags UNIX_COMMAND "${${variable}}")
  list(FILTER flags EXCLUDE REGEX "^-W|^-f[a-z]+-prefix-map=")
  list(REMOVE_DUPLICATES flags)
  list(JOIN flags " " flags)
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()
essential_flags(KERNEL_FLAGS)
essential_flags(REFERENCE_FLAGS)

# Optional locks are off: a build must not collide with the user's own git commands.
set(git ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 git -C ${SOURCE})
execute_process(COMMAND ${git} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE COMMIT RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(COMMIT unknown)
else()
  execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND COMMIT "+changes")
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "core/machine/build_info.hpp"

namespace assay {

const BuildInfo& build_info() {
  static const BuildInfo info{
      .version = R"(@VERSION@)",
      .commit = R"(@COMMIT@)",
      .compiler = R"(@COMPILER@)",
      .build_type = R"(@BUILD_TYPE@)",
      .kernel_flags = R"(@KERNEL_FLAGS@)",
      .reference_flags = R"(@REFERENCE_FLAGS@)",
      .highway = R"(@HIGHWAY@)",
      .benchmark = R"(@BENCHMARK@)",
      .planted = R"(@PLANTED@)",
      .tiers = R"(@TIERS@)",
  };
  return info;
}

}  // namespace assay
]])
