#include "bench/programs/project.hpp"

#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
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

TEST(Settings, AreTheBuildTypeFlagsAndOptionsOfTheHead) {
  const ScratchFolder scratch;
  const fs::path head = scratch.path() / "head", base = scratch.path() / "base";
  const auto configured = [](const fs::path& build, const std::string& entries) {
    fs::create_directories(build);
    write_file(build / "CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/their/source\n" + entries);
  };
  configured(head,
             "CMAKE_BUILD_TYPE:STRING=\nCMAKE_CXX_FLAGS:STRING=-O2 -I/their/source\nWITH_X:BOOL=ON\n"
             "TYPED:UNINITIALIZED=1\nDATA:STRING=/their/source/data\nZLIB_LIBRARY:FILEPATH=/z\n"
             "CMAKE_CXX_COMPILER_LAUNCHER:STRING=ccache\n");
  const BuildSettings settings = settings_of(head, false);
  EXPECT_THAT(settings.arguments,
              ElementsAre("-DCMAKE_BUILD_TYPE=", "-DCMAKE_CXX_FLAGS=-O2 -I/their/source", "-DTYPED=1",
                          "-DWITH_X=ON", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"));
  configured(base,
             "CMAKE_BUILD_TYPE:STRING=Release\nWITH_X:BOOL=OFF\nTYPED:UNINITIALIZED=1\nOTHER:BOOL=ON\n");
  EXPECT_THAT(differences(settings, base),
              ElementsAre("CMAKE_BUILD_TYPE is empty in the head and Release in the base",
                          "WITH_X is ON in the head and OFF in the base"));
  EXPECT_TRUE(settings_of("", false).compiler.empty());
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
