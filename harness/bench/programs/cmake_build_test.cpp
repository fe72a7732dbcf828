#include "bench/programs/cmake_build.hpp"

#include "assay/files.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(CacheEntries, AreReadByNameWithoutTypesAndComments) {
  EXPECT_THAT(cache_entries("# This is the CMakeCache file.\n"
                            "//Flags used: a=b\n"
                            "CMAKE_CXX_FLAGS:STRING=-O2 -DX:Y=1\n"
                            "\n"
                            "CMAKE_GENERATOR:INTERNAL=Ninja\n"
                            "EMPTY:STRING=\n"
                            "no entry\n"
                            "LAST:PATH=/opt"),
              UnorderedElementsAre(Pair("CMAKE_CXX_FLAGS", "-O2 -DX:Y=1"), Pair("CMAKE_GENERATOR", "Ninja"),
                                   Pair("EMPTY", ""), Pair("LAST", "/opt")));
}

TEST(CompilerOf, NamesTheCompilerAsThisProgramNamesItsOwn) {
  const fs::path build = fs::temp_directory_path() / ("assay_compiler_of_" + std::to_string(::getpid()));
  fs::create_directories(build / "CMakeFiles" / "3.25.1");
  EXPECT_EQ(compiler_of(build), "");
  write_file(build / "CMakeFiles" / "3.25.1" / "CMakeCXXCompiler.cmake",
             "set(CMAKE_CXX_COMPILER \"/usr/bin/c++\")\n"
             "set(CMAKE_CXX_COMPILER_ID \"GNU\")\n"
             "set(CMAKE_CXX_COMPILER_VERSION \"12.2.0\")\n");
  EXPECT_EQ(compiler_of(build), "GNU 12.2.0");
  fs::remove_all(build);
}

}  // namespace
}  // namespace assay
