#include "core/code/identity.hpp"

#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace assay::library_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string member(const std::string& name, const std::string& content) {
  return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{}{}", name, 0, 0, 0, 100644, content.size(),
                     content, content.size() % 2 == 1 ? "\n" : "");
}

TEST(CodeLibrary, IsKnownByItsBytesAndTheSourcesOfItsMembers) {
  const ScratchFolder scratch;
  const auto file = scratch.path() / "libassay_reference_archive.a";
  const std::string archive = "!<arch>\n" + member("/", "symbols") +
                              member("//", "layernorm_backward.cpp.o/\ngradient_accumulation.cpp.o/\n") +
                              member("gemm.cpp.o/", "odd") + member("/0", "") + member("/26", "even");
  write_file(file, archive);
  std::string unknown;
  const CodeLibrary found = library_of(file, unknown);
  EXPECT_THAT(unknown, IsEmpty());
  EXPECT_THAT(found.sources, ElementsAre("reference/gemm.cpp", "reference/layernorm_backward.cpp",
                                         "reference/gradient_accumulation.cpp"));
  write_file(file, archive + " ");
  EXPECT_NE(library_of(file, unknown).hash, found.hash);
}

TEST(CodeLibrary, IsUnknownWhereItCannotBeRead) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "text.a", "no archive");
  std::string unknown;
  EXPECT_THAT(library_of(scratch.path() / "text.a", unknown).hash, IsEmpty());
  EXPECT_THAT(unknown, HasSubstr("text.a is no archive"));
}

}  // namespace
}  // namespace assay::library_test
