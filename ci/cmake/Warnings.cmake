# assay_compile(target [CHEAP]): the project's warnings, sources named from its folder and, in Release, the flags of
# measured code; a CHEAP target measures nothing, and is compiled in half of the time. GCC takes a quarter less with -Og
# than with -O1, for which the tests of the harness run a quarter longer.
function(assay_compile target)
  set(release_flags ${ASSAY_MEASURED_FLAGS})
  if("CHEAP" IN_LIST ARGN)
    set(release_flags -Og -ffunction-sections -fdata-sections)
  endif()
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
    # GCC and Clang warn at designated initializers that leave members at their defaults, which is their purpose.
    -Wno-missing-field-initializers
    # GCC 12 sees overlapping copies in std::string's own code (GCC bug 105651, fixed in 13).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    # GCC's sanitizers hide initializations from it, in std::function among others (GCC bug 105562).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-Wno-maybe-uninitialized>
    $<$<BOOL:${ASSAY_WARNINGS_AS_ERRORS}>:-Werror>
    # GCC collects garbage as soon as it holds 128 MB; large files are compiled in a tenth less without.
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>
    ${ASSAY_PATH_FLAGS}
    $<$<CONFIG:Release>:${release_flags}>)
endfunction()
