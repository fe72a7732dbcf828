#include "bench/programs/revision.hpp"

#include "assay/files.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay {
namespace {

class Repository : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v git >/dev/null") != 0) GTEST_SKIP() << "there is no git here";
    git({"init", "-q", "."});
  }
  std::string git(std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b"});
    const Answer answer = ask_child({.words = words, .folder = folder_.path()}, {});
    EXPECT_EQ(answer.exit_code, 0) << answer.errors;
    return answer.output.substr(0, answer.output.find('\n'));
  }
  /// A commit in which this file has this text.
  std::string commit(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    write_file(folder_.path() / file, text);
    git({"add", "-A"});
    git({"commit", "-q", "-m", text});
    return git({"rev-parse", "--short=9", "HEAD"});
  }
  bool only_ledger(const std::string& from, const std::string& to) {
    return differ_only_in(folder_.path(), from, to, "baselines/s.ledger.json", {});
  }
  ScratchFolder folder_;
};

TEST_F(Repository, KnowsCommitsThatChangedNothingButOneFile) {
  const std::string first = commit("kernel.cpp", "one"), stored = commit("baselines/s.ledger.json", "a step"),
                    again = commit("baselines/s.ledger.json", "two steps"),
                    edit = commit("kernel.cpp", "two"),
                    both = commit("baselines/s.ledger.json", "three steps");
  EXPECT_TRUE(only_ledger(first, stored));
  EXPECT_TRUE(only_ledger(first, again));
  EXPECT_TRUE(only_ledger(first, first));
  EXPECT_TRUE(only_ledger(edit, both));
  EXPECT_FALSE(only_ledger(stored, edit));
  EXPECT_FALSE(only_ledger(first, both)) << "the edit lies between";
  EXPECT_FALSE(only_ledger(stored, first)) << "which came before";
  EXPECT_FALSE(only_ledger("0123456789", first));
}

}  // namespace
}  // namespace assay
