// Bundles: what was put in comes out, and what is not as it was put in is refused by name.
#include "bench/programs/revision.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/scratch.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>

namespace assay::bundle_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

class Bundles : public ::testing::Test {
 protected:
  fs::path program(const std::string& name) const {
    const fs::path out = scratch.path() / name;
    write_file(out, "#!/bin/sh\necho " + name + "\n");
    fs::permissions(out, fs::perms::owner_all);
    return out;
  }
  Bundle made() const {
    return {.base = {"1f3c9d2 (main)", "1f3c9d2e", {program("one-0"), program("one-1")}, ""},
            .head = {"this program", "", {program("other")}, "one layout only, since it was given"}};
  }
  static void expect_refused(const fs::path& folder, const std::string& what, const std::string& remedy) {
    EXPECT_THAT([&] { read_bundle(folder); },
                ThrowsMessage<Error>(AllOf(HasSubstr(what), HasSubstr(remedy))));
  }
  void edit_list(void (*edit)(BundleFile&)) const {
    const fs::path list = folder / "bundle.json";
    auto file = value_from<BundleFile>(read_file(list), list.string(), "");
    edit(file);
    write_file(list, json_text(to_value(file)));
  }
  ScratchFolder scratch;
  fs::path folder = scratch.path() / "bundle";
};

TEST_F(Bundles, HoldWhatWasPutIn) {
  write_bundle(folder, made());
  fs::rename(folder, scratch.path() / "moved");
  const Bundle read = read_bundle(scratch.path() / "moved");
  EXPECT_EQ(read.base.name, "1f3c9d2 (main)");
  EXPECT_EQ(read.base.commit, "1f3c9d2e");
  ASSERT_THAT(read.base.links, SizeIs(2));
  EXPECT_THAT(read_file(read.base.links[1]), HasSubstr("echo one-1"));
  EXPECT_EQ(read.head.layout_remark, "one layout only, since it was given");
  EXPECT_THAT(read.head.commit, IsEmpty());
  EXPECT_THAT(read_file(read.head.links.at(0)), HasSubstr("echo other"));
}

TEST_F(Bundles, ReplaceAnOlderOneAndNothingElse) {
  write_bundle(folder, made());
  write_file(folder / "of before", "");
  write_bundle(folder, made());
  EXPECT_FALSE(fs::exists(folder / "of before"));
  EXPECT_FALSE(fs::exists(scratch.path() / "bundle.part"));
  fs::create_directories(scratch.path() / "home");
  write_file(scratch.path() / "home" / "thesis.tex", "");
  EXPECT_THAT([&] { write_bundle(scratch.path() / "home", made()); },
              ThrowsMessage<Error>(HasSubstr("holds no bundle")));
  EXPECT_TRUE(fs::exists(scratch.path() / "home" / "thesis.tex"));
}

TEST_F(Bundles, AreRefusedWhereAProgramIsGoneOrAnother) {
  write_bundle(folder, made());
  const fs::path program = read_bundle(folder).base.links.at(1);
  write_file(program, "another");
  expect_refused(folder, program.filename().string(), "prepare it again");
  fs::remove(program);
  expect_refused(folder, "is missing from its bundle", "copy the whole folder");
  fs::remove(folder / "bundle.json");
  expect_refused(folder, "holds no bundle", "assay prepare");
}

TEST_F(Bundles, AreRefusedWhereAProgramMayNotBeExecuted) {
  write_bundle(folder, made());
  fs::permissions(read_bundle(folder).head.links.at(0), fs::perms::owner_read);
  expect_refused(folder, "may not be executed", "chmod");
}

TEST_F(Bundles, AreRefusedWhereAProgramHasANameThatNoFileHas) {
  write_bundle(folder, made());
  edit_list([](BundleFile& file) { file.base.links.at(0).file = std::string(1000, 'p'); });
  expect_refused(folder, "is missing from its bundle", "copy the whole folder");
}

TEST_F(Bundles, AreRefusedByAProcessorThatCanDoLess) {
  write_bundle(folder, made());
  edit_list([](BundleFile& file) {
    file.processor = "a processor of tomorrow";
    file.instruction_sets.push_back("avx4096");
  });
  expect_refused(folder, "a processor of tomorrow has avx4096", "on a machine of this kind");
}

}  // namespace
}  // namespace assay::bundle_test
