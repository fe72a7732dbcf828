# Compiles for AArch64 with Debian's cross compiler, against the packages that ci/in_aarch64.sh unpacks below
# build/aarch64-root, and runs the outcome under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Otherwise GCC notes at each function with a pair of floats that GCC 9 passed it in other registers.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)

cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/aarch64-root)
set(CMAKE_SYSROOT ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# Programs find libraries in the root by themselves.
set(CMAKE_SKIP_BUILD_RPATH ON)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${root})
