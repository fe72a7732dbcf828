# cmake --install: the executable, the libraries as a package for CMake and pkg-config that may be moved elsewhere, the
# suites, the manual page, completions, gate.sh, and the scripts that divide a run among machines. cpack: the same as a
# tarball, and as a .deb where dpkg-dev and file are.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)

install(TARGETS assay)
# Kernels that are wrong or cheat come on request only: cmake --install BUILD --component teeth.
install(TARGETS assay_teeth COMPONENT teeth EXCLUDE_FROM_ALL)
if(TARGET assay_shared)
  install(TARGETS assay_shared LIBRARY)
endif()
install(TARGETS assay_core assay_bench assay_training assay_app assay_harness_main assay_reference_whole assay_reference_archive EXPORT assayTargets
  FILE_SET HEADERS)
# Reads machine code while a program of assay_add_kernels() is built.
if(NOT CMAKE_CROSSCOMPILING)
  install(TARGETS assay_code_table EXPORT assayTargets DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/assay)
endif()
# Apart, so that who brings only kernels of their own needs none of the libraries that ours use.
install(TARGETS assay_kernels_whole assay_kernels_archive EXPORT assayKernelsTargets)
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
  ci/cmake/AddKernels.cmake ci/cmake/CodeTable.cmake ci/cmake/FindOpenBLAS.cmake ci/cmake/Findhwloc.cmake
  DESTINATION ${package_dir})

# For whoever builds without CMake. What they link has no table of code, so that the calls of their variants are unknown.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE pc_prefix)
configure_file(ci/cmake/assay.pc.in ${PROJECT_BINARY_DIR}/assay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Libraries that ci/release.sh has a tarball bring along.
if(ASSAY_BUNDLED)
  install(FILES ${ASSAY_BUNDLED} DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay)
endif()
install(DIRECTORY suites/ DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/suites FILES_MATCHING PATTERN "*.json")
install(FILES harness/python/assay.py DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/python)
install(PROGRAMS ci/gate.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/ci)
install(PROGRAMS ci/cluster/parallel.sh ci/cluster/slurm.sh ci/cluster/shards.sh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/cluster)
install(FILES ci/gitlab/assay.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/ci/gitlab)

# zsh of Debian and Ubuntu looks elsewhere.
find_program(ASSAY_DPKG_DEB dpkg-deb)
mark_as_advanced(ASSAY_DPKG_DEB)
set(zsh_completions zsh/site-functions)
if(ASSAY_DPKG_DEB)
  set(zsh_completions zsh/vendor-completions)
endif()

# Pages that the program writes itself, when it is installed: none can be older than its options.
set(pages ${PROJECT_BINARY_DIR}/pages)
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    file(MAKE_DIRECTORY \"${pages}\")
    execute_process(COMMAND \"$<TARGET_FILE:assay>\" man OUTPUT_FILE \"${pages}/assay.1\" COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      execute_process(COMMAND \"$<TARGET_FILE:assay>\" completions \${shell}
        OUTPUT_FILE \"${pages}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    # Without name and time, so that equal pages are equal files.
    execute_process(COMMAND gzip -9nf \"${pages}/assay.1\" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND gzip -9nc \"${PROJECT_SOURCE_DIR}/ci/CHANGELOG.md\"
      OUTPUT_FILE \"${pages}/changelog.gz\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${pages}/assay.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${pages}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME assay)
  install(FILES ${pages}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/${zsh_completions} RENAME _assay)
  install(FILES ${pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME assay.fish)
endif()
install(FILES LICENSE ci/cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR TGZ)
# Without dpkg-shlibdeps, which asks file, a .deb would depend on none of the libraries that the program links.
find_program(ASSAY_DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(ASSAY_FILE file)
mark_as_advanced(ASSAY_DPKG_SHLIBDEPS ASSAY_FILE)
if(ASSAY_DPKG_DEB AND ASSAY_DPKG_SHLIBDEPS AND ASSAY_FILE)
  list(APPEND CPACK_GENERATOR DEB)
elseif(ASSAY_DPKG_DEB)
  message(STATUS "The target package makes no .deb (apt install dpkg-dev file)")
endif()
# Whoever hands packages on names themselves: cpack -D CPACK_PACKAGE_CONTACT='A Name <an@address>'.
set(CPACK_PACKAGE_CONTACT "whoever built it")
string(TOLOWER assay-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_PACKAGE_FILE_NAME)
set(CPACK_PACKAGE_DESCRIPTION [[
Checks variants of a kernel against an oracle, times those that agree, and
says whether a build is slower than another one. With the program come the
libraries, headers and CMake files by which a project adds its own kernels.]])
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# dpkg-shlibdeps finds the libraries of the program. The packages besides are those that a project needs to link the
# libraries, and those that build the revisions of a gate.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libbenchmark-dev, libfmt-dev, libhwloc-dev, libhwy-dev, zlib1g-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake, g++, git, ninja-build")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenblas-dev")
# Nothing is stripped, since gates name functions by their symbols. xz takes twice the time, for three fifths of the size.
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
# Packed alone: cmake --build BUILD --target assay_teeth_package
set(CPACK_DEBIAN_TEETH_PACKAGE_DEPENDS "assay (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_TEETH_DESCRIPTION [[
Kernels that are wrong or cheat on purpose. The program assay runs them to show
that its checks reject them: assay check --known-bad, --known-cheats.]])
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/ci/cmake/Repack.cmake)
set(CPACK_VERBATIM_VARIABLES ON)
# Whoever installs a package has another processor.
if(ASSAY_TIERS MATCHES "^(native|portable)$")
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/refuse_package.cmake)
  file(WRITE ${CPACK_PROJECT_CONFIG_FILE} "message(FATAL_ERROR \"This build has the tier ${ASSAY_BUILT_TIERS} alone, and \
packages have the usual ones: configure with -DASSAY_TIERS=usual and build again\")\n")
endif()
include(CPack)
add_custom_target(assay_teeth_package VERBATIM
  COMMAND ${CMAKE_CPACK_COMMAND} -D CPACK_DEB_COMPONENT_INSTALL=ON -D CPACK_ARCHIVE_COMPONENT_INSTALL=ON
    -D CPACK_COMPONENTS_ALL=teeth)
add_dependencies(assay_teeth_package assay_teeth)
