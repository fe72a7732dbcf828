#include "core/files/child.hpp"

#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gtest/gtest.h>

#include <sys/personality.h>

#include <cstdlib>

namespace assay {
namespace {

/// What sh prints for this text in an environment that differs so.
std::string printed(const std::string& text, const Variables& environment) {
  const ScratchFolder scratch;
  const auto output = scratch.path() / "output.txt";
  const pid_t child = start_child("/bin/sh", {"-c", "printf %s \"" + text + "\""},
                                  {.environment = environment, .output = output});
  EXPECT_TRUE(wait_for_all({child}, {}).passed());
  return read_file(output);
}

TEST(Children, HaveVariablesSetOrTakenOutOfTheirOwnEnvironmentAlone) {
  setenv("ASSAY_CHILD_TEST", "inherited", /*overwrite=*/1);
  EXPECT_EQ(printed("${ASSAY_CHILD_TEST-none}", {}), "inherited");
  EXPECT_EQ(printed("${ASSAY_CHILD_TEST-none}", {{"ASSAY_CHILD_TEST", "set"}}), "set");
  EXPECT_EQ(printed("${ASSAY_CHILD_TEST-none}", {{"ASSAY_CHILD_TEST", std::nullopt}}), "none");
  EXPECT_STREQ(std::getenv("ASSAY_CHILD_TEST"), "inherited");
}

// Asking leaves this process as it was.
TEST(Children, AreAskedWhetherTheirAddressesCanBeFixed) {
  const int before = personality(0xffffffff);
  const bool can = can_fix_addresses();
  EXPECT_EQ(personality(0xffffffff), before);
  EXPECT_EQ(can_fix_addresses(), can);
}

}  // namespace
}  // namespace assay
