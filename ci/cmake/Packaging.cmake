# cmake --install: the executable, the libraries as a CMake package that may be moved elsewhere, the suites, and the
# scripts that divide a run among machines.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)

install(TARGETS assay)
install(TARGETS assay_core assay_bench assay_training assay_app assay_harness_main assay_reference assay_reference_archive EXPORT assayTargets
  FILE_SET HEADERS)
# Reads machine code while a program of assay_add_kernels() is built.
if(NOT CMAKE_CROSSCOMPILING)
  install(TARGETS assay_code_table EXPORT assayTargets DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/assay)
endif()
# Apart, so that who brings only kernels of their own needs none of the libraries that ours use.
install(TARGETS assay_kernels assay_kernels_archive EXPORT assayKernelsTargets)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${package_dir})
install(EXPORT assayKernelsTargets NAMESPACE assay:: DESTINATION ${package_dir})

set(ASSAY_KERNELS_NEED hwy OpenMP)
if(OpenBLAS_FOUND)
  list(APPEND ASSAY_KERNELS_NEED OpenBLAS)
endif()
if(dnnl_FOUND)
  list(APPEND ASSAY_KERNELS_NEED dnnl)
endif()
if(TBB_FOUND)
  list(APPEND ASSAY_KERNELS_NEED TBB)
endif()
configure_package_config_file(ci/cmake/assayConfig.cmake.in ${PROJECT_BINARY_DIR}/assayConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Until 1.0 a minor version may break callers.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/assayConfig.cmake ${PROJECT_BINARY_DIR}/assayConfigVersion.cmake
  ci/cmake/AddKernels.cmake ci/cmake/CodeTable.cmake ci/cmake/FindOpenBLAS.cmake DESTINATION ${package_dir})

install(DIRECTORY suites/ DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/suites FILES_MATCHING PATTERN "*.json")
install(PROGRAMS ci/cluster/parallel.sh ci/cluster/slurm.sh ci/cluster/shards.sh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/cluster)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
