# Everything the project needs, found on the system: no downloads. A missing package is one line that names it.
macro(assay_need package debian fedora arch)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "assay needs ${package}: apt install ${debian} | dnf install ${fedora} | "
                        "pacman -S ${arch}")
  endif()
endmacro()

assay_need(Threads build-essential gcc-c++ gcc)
assay_need(OpenMP build-essential gcc-c++ gcc COMPONENTS CXX)
assay_need(benchmark libbenchmark-dev google-benchmark-devel benchmark)
assay_need(fmt libfmt-dev fmt-devel fmt)
assay_need(nlohmann_json nlohmann-json3-dev json-devel nlohmann-json)
assay_need(CLI11 libcli11-dev cli11-devel cli11)
assay_need(hwy libhwy-dev highway-devel highway CONFIG)
assay_need(hwloc libhwloc-dev hwloc-devel hwloc)
assay_need(ZLIB zlib1g-dev zlib-devel zlib)
if(ASSAY_BUILD_TESTS)
  assay_need(GTest "libgtest-dev libgmock-dev" "gtest-devel gmock-devel" gtest)
endif()

# assay_peer(OPTION package name variant command [find_package argument...]): a library that our kernels are measured
# against. Peers are optional: our own kernels do not need them, and every report says which were left out. Highway and
# OpenMP are not optional, since variants that are half missing compare with nothing. ${package}_known, if it is set,
# matches the versions that the variant is written for; others are left out.
macro(assay_peer option package name variant command)
  if(NOT ASSAY_WITH_${option} STREQUAL "OFF")
    find_package(${package} ${ARGN} QUIET)
    if(${package}_FOUND AND NOT ${package}_VERSION MATCHES "${${package}_known}")
      set(${package}_FOUND FALSE)
      message(STATUS "${name} ${${package}_VERSION} is of a major version that no variant knows")
    endif()
    if(NOT ${package}_FOUND AND ASSAY_WITH_${option} STREQUAL "ON")
      message(FATAL_ERROR "ASSAY_WITH_${option}=ON needs ${name}: ${command}")
    endif()
  endif()
  if(${package}_FOUND)
    message(STATUS "${name} ${${package}_VERSION} found: variant ${variant} is built")
  else()
    message(STATUS "${name} is not found, or not wanted: variant ${variant} is left out (${command})")
  endif()
endmacro()

assay_peer(OPENBLAS OpenBLAS OpenBLAS openblas
  "apt install libopenblas-dev | dnf install openblas-devel | pacman -S openblas")
set(dnnl_known "^[23][.]")
assay_peer(ONEDNN dnnl oneDNN onednn "apt install libdnnl-dev | dnf install onednn-devel" CONFIG)
if(ASSAY_SANITIZE MATCHES "thread")
  # It would see races in TBB that are none, since the library itself is not instrumented.
  message(STATUS "ThreadSanitizer: variant tbb is left out")
else()
  assay_peer(TBB TBB oneTBB tbb "apt install libtbb-dev | dnf install tbb-devel | pacman -S onetbb" CONFIG)
endif()
