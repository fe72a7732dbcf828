# assay_compile(target): the project's warnings and, in Release, the flags of measured code.
function(assay_compile target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
    # GCC and Clang warn at designated initializers that leave members at their defaults, which is their purpose.
    -Wno-missing-field-initializers
    $<$<BOOL:${ASSAY_WARNINGS_AS_ERRORS}>:-Werror>
    $<$<CONFIG:Release>:${ASSAY_RELEASE_FLAGS}>)
endfunction()
