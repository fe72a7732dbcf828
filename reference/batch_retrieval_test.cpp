#include "assay/ops/data_loader.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

namespace assay::batch_retrieval_test {
namespace {

namespace fs = std::filesystem;
using Problem = BatchRetrieval::Problem;
using Input = BatchRetrieval::Input;
using Output = BatchRetrieval::Output;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Agreement check(void (*run)(const Problem&, const Input&, Output&), const std::string& problem) {
  Registry registry;
  registry.add<BatchRetrieval>({.name = "naive", .run = run});
  return registry.at(BatchRetrieval::name)
      .open(problem, {.fill = Fill::uniform, .rng = Rng(5)})
      ->check(0, {});
}

void copy(const Problem& p, const Input& in, std::span<const Index> indices, Output& out) {
  for (std::size_t b = 0; b < indices.size(); ++b) {
    std::memcpy(out.batch.data() + static_cast<Index>(b) * p.bytes, in.records.file.record(indices[b]),
                static_cast<std::size_t>(p.bytes));
  }
}

void in_order(const Problem& p, const Input& in, Output& out) { copy(p, in, in.window(), out); }

void ascending(const Problem& p, const Input& in, Output& out) {
  const auto indices = in.window();
  std::vector<Index> sorted(indices.begin(), indices.end());
  std::ranges::sort(sorted);
  copy(p, in, sorted, out);
}

void without_repeats(const Problem& p, const Input& in, Output& out) {
  const auto indices = in.window();
  std::vector<Index> once(indices.begin(), indices.end());
  std::set<Index> seen;
  for (Index& i : once) i = seen.insert(i).second ? i : (i + 1) % p.records;
  copy(p, in, once, out);
}

void first_window_again(const Problem& p, const Input& in, Output& out) {
  copy(p, in, std::span<const Index>(in.indices).first(static_cast<std::size_t>(p.batch)), out);
}

void all_but_the_last_byte(const Problem& p, const Input& in, Output& out) {
  in_order(p, in, out);
  out.batch[out.batch.size() - 1] ^= std::byte{1};
}

constexpr auto repeating = "records=100,bytes=64,batch=33,repeats=30";

TEST(BatchRetrieval, AcceptsRecordsInTheOrderOfTheRequest) {
  const Agreement agreement = check(in_order, repeating);
  EXPECT_TRUE(agreement.agrees) << agreement.detail;
  EXPECT_EQ(agreement.compared, 33 * 64);
}

TEST(BatchRetrieval, CatchesRecordsInAscendingOrder) {
  const Agreement agreement = check(ascending, repeating);
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("it is record"));
}

TEST(BatchRetrieval, CatchesARepeatedIndexThatIsServedOnce) {
  EXPECT_FALSE(check(without_repeats, repeating).agrees);
}

TEST(BatchRetrieval, CatchesAKernelThatKeepsTheFirstWindow) {
  const Agreement agreement = check(first_window_again, repeating);
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("called again"));
}

TEST(BatchRetrieval, CatchesOneBitOfTheLastByte) {
  const Agreement agreement = check(all_but_the_last_byte, repeating);
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("batch[32, 63]"));
  EXPECT_THAT(agreement.detail, HasSubstr("it is no record of this batch"));
}

TEST(BatchRetrievalInput, RepeatsIndicesOnPurpose) {
  Setting setting{.fill = Fill::uniform};
  const Problem p{.records = 1'000'000, .bytes = 1, .batch = 1000, .repeats = 40};
  const Input in = BatchRetrieval::make_input(p, setting);
  const auto window = in.window();
  const std::set<Index> different(window.begin(), window.end());
  EXPECT_NEAR(static_cast<double>(different.size()), 600, 60);
}

TEST(BatchRetrievalInput, TakesTheWindowThatItsTurnSays) {
  Setting setting{.fill = Fill::uniform};
  Input in = BatchRetrieval::make_input({.records = 12, .bytes = 1, .batch = 20}, setting);
  ASSERT_EQ(in.indices.size(), 40);
  for (const Index turn : {0, 1, 2, 3}) {
    in.turn[0] = static_cast<std::uint64_t>(turn);
    EXPECT_EQ(in.window().data(), in.indices.data() + turn % 2 * 20);
  }
}

TEST(BatchRetrievalInput, LeavesNoFileBehind) {
  const fs::path folder = fs::path(::testing::TempDir()) / "batch_retrieval_scratch";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const char* const before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder.c_str(), 1);
  {
    Setting setting{.fill = Fill::uniform};
    const Input in = BatchRetrieval::make_input({.records = 5, .bytes = 5, .batch = 3, .cache = 1}, setting);
    EXPECT_TRUE(fs::is_empty(folder)) << "a crash would leave it";
  }
  EXPECT_TRUE(fs::is_empty(folder));
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", saved.c_str(), 1);
  fs::remove_all(folder);
}

/// A user's file of 40 records of 100 bytes.
class UsersFile : public ::testing::Test {
 protected:
  // Named for the test, since tests run side by side.
  UsersFile()
      : file_(fs::path(::testing::TempDir()) /
              ("batch_retrieval_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".rec")) {
    write_record_file(file_, {.records = 40, .bytes = 100}, [](Index first, std::span<std::byte> block) {
      for (std::size_t at = 0; at < block.size(); ++at)
        block[at] = static_cast<std::byte>(first * 7 + static_cast<Index>(at));
    });
  }
  ~UsersFile() override { fs::remove(file_); }
  fs::path file_;
};

TEST_F(UsersFile, BecomesAProblemThatNaiveSolves) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("batch_retrieval");
  const std::string problem = operation.problem_of(file_);
  EXPECT_EQ(problem, "records=40,bytes=100,batch=40");
  const auto workload = operation.open(problem, {.fill = Fill::uniform, .file = file_});
  const Agreement agreement = workload->check(0, {});
  EXPECT_TRUE(agreement.agrees) << agreement.detail;
}

TEST_F(UsersFile, ThatIsTruncatedUnderACallMakesTheCallThrow) {
  const Registry registry = Registry::linked();
  const auto workload = registry.at("batch_retrieval")
                            .open("records=40,bytes=100,batch=40", {.fill = Fill::uniform, .file = file_});
  fs::resize_file(file_, 4096);
  EXPECT_THAT([&] { workload->timed(0, {})->repeat(1); }, ThrowsMessage<Error>(HasSubstr("was truncated")));
}

TEST_F(UsersFile, MustBeARecordFile) {
  std::ofstream(file_) << "id,lower,upper,size\n";
  EXPECT_THAT([&] { BatchRetrieval::problem_of(file_); }, ThrowsMessage<Error>(HasSubstr(file_.string())));
}

}  // namespace
}  // namespace assay::batch_retrieval_test
