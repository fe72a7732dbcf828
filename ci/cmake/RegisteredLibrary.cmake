# assay_registered_library(NAME sources…): a library whose sources register themselves from static objects.
#
# An archive would lose a file that nothing refers to, so users link an interface target that pulls the archive
# in whole. install(EXPORT) does not rewrite names inside $<LINK_LIBRARY:…>: hence the namespaced alias there.
function(assay_registered_library name)
  add_library(assay_${name}_archive STATIC ${ARGN})
  add_library(assay::${name}_archive ALIAS assay_${name}_archive)
  set_target_properties(assay_${name}_archive PROPERTIES EXPORT_NAME ${name}_archive)
  assay_compile(assay_${name}_archive)
  # Frameworks compile with this flag: the branch by which std::sqrt sets errno keeps loops scalar, and naive
  # a strawman.
  target_compile_options(assay_${name}_archive PRIVATE -fno-math-errno)
  # Kernels and the reference do nearly all the work of the tests; the rest compiles four times as fast without.
  target_compile_options(assay_${name}_archive PRIVATE $<$<CONFIG:Debug>:-O1>)

  assay_precompile(assay_${name}_archive <assay/registry.hpp>)

  add_library(assay_${name}_whole INTERFACE)
  add_library(assay::${name} ALIAS assay_${name}_whole)
  set_target_properties(assay_${name}_whole PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(assay_${name}_whole INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,assay::${name}_archive>)
endfunction()
