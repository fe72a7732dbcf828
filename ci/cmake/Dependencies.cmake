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

# The peer that GEMM is measured against. Optional: our own kernels do not need it, and every report says when
# it was left out. Highway and OpenMP are not optional, since variants that are half missing compare with nothing.
if(NOT ASSAY_WITH_OPENBLAS STREQUAL "OFF")
  find_package(OpenBLAS QUIET)
  if(NOT OpenBLAS_FOUND AND ASSAY_WITH_OPENBLAS STREQUAL "ON")
    message(FATAL_ERROR "ASSAY_WITH_OPENBLAS=ON needs OpenBLAS: apt install libopenblas-dev | "
                        "dnf install openblas-devel | pacman -S openblas")
  endif()
endif()
if(OpenBLAS_FOUND)
  message(STATUS "OpenBLAS ${OpenBLAS_VERSION} found: variant openblas is built")
else()
  message(STATUS "OpenBLAS not found: variant openblas is left out (apt install libopenblas-dev)")
endif()

# The peer that convolution is measured against, optional like OpenBLAS. Its C interface changed with version 3.
if(NOT ASSAY_WITH_ONEDNN STREQUAL "OFF")
  find_package(dnnl 2 CONFIG QUIET)
  if(NOT dnnl_FOUND AND ASSAY_WITH_ONEDNN STREQUAL "ON")
    message(FATAL_ERROR "ASSAY_WITH_ONEDNN=ON needs oneDNN 2: apt install libdnnl-dev | dnf install onednn-devel")
  endif()
endif()
if(dnnl_FOUND)
  message(STATUS "oneDNN ${dnnl_VERSION} found: variant onednn is built")
else()
  message(STATUS "oneDNN 2 not found: variant onednn is left out (apt install libdnnl-dev)")
endif()

# The peer that task graphs are run against. Optional as OpenBLAS is. ThreadSanitizer would see races in it that
# are none, since the library itself is not instrumented.
if(ASSAY_SANITIZE MATCHES "thread")
  message(STATUS "ThreadSanitizer: variant tbb is left out")
elseif(NOT ASSAY_WITH_TBB STREQUAL "OFF")
  find_package(TBB CONFIG QUIET)
  if(TBB_FOUND)
    message(STATUS "TBB ${TBB_VERSION} found: variant tbb is built")
  elseif(ASSAY_WITH_TBB STREQUAL "ON")
    message(FATAL_ERROR "ASSAY_WITH_TBB=ON needs oneTBB: apt install libtbb-dev | dnf install tbb-devel | "
                        "pacman -S onetbb")
  else()
    message(STATUS "TBB not found: variant tbb is left out (apt install libtbb-dev)")
  endif()
endif()
