#include "assay/ops/memory_pool.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay::allocator_trace_test {
namespace {

using memory_pool::Request;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A file of this test alone, gone with it.
class AllocatorTrace : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::vector<Request> requests(const std::string& text) const {
    std::vector<Request> out;
    allocator_trace::for_each_request(file(text), [&](const Request& r) { out.push_back(r); });
    return out;
  }
  /// Returns the complaint of reading `text`; empty if there is none.
  std::string complaint(const std::string& text) const {
    try {
      requests(text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  ~AllocatorTrace() override { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("assay_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_" +
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
};

TEST_F(AllocatorTrace, ReadsTheFormOfMinimalloc) {
  EXPECT_THAT(requests("id,lower,upper,size\nb1,0,3,4\nb2,3,9,64\n"),
              ElementsAre(Request{4, 0, 3}, Request{64, 3, 9}));
}

TEST_F(AllocatorTrace, ReadsColumnsInAnyOrderAndIgnoresOthers) {
  EXPECT_THAT(requests("size, start ,offset,upper\n 8 , 1 ,0, 2\n"), ElementsAre(Request{8, 1, 2}));
  EXPECT_THAT(requests("buffer,begin,upper,size\nx,1,2,8\n"), ElementsAre(Request{8, 1, 2}));
}

TEST_F(AllocatorTrace, TakesEndAsTheLastStepOfALife) {
  EXPECT_THAT(requests("id,start,end,size\na,0,2,4\nb,3,3,4\n"),
              ElementsAre(Request{4, 0, 3}, Request{4, 3, 4}));
}

TEST_F(AllocatorTrace, ReadsLinesOfDosBlankLinesAMarkAndAnEndWithoutABreak) {
  EXPECT_THAT(requests("\xef\xbb\xbfid,lower,upper,size\r\n\r\na,0,2,4\r\n  \nb,2,3,5"),
              ElementsAre(Request{4, 0, 2}, Request{5, 2, 3}));
}

TEST_F(AllocatorTrace, RefusesAMissingColumnWithItsName) {
  EXPECT_THAT(complaint("id,upper,size\n"), AllOf(HasSubstr(".csv:1"), HasSubstr("lower, start or begin")));
  EXPECT_THAT(complaint("id,lower,size\n"), HasSubstr("upper or end"));
  EXPECT_THAT(complaint("id,lower,upper\n"), HasSubstr("named size"));
  EXPECT_THAT(complaint("0,1,2,3\n"), HasSubstr("first line names the columns"));
}

TEST_F(AllocatorTrace, RefusesTwoColumnsForOneThing) {
  EXPECT_THAT(complaint("id,lower,upper,end,size\na,0,1,2,3\n"), HasSubstr("column 'end' says again"));
  EXPECT_THAT(complaint("size,lower,upper,size\n1,0,1,2\n"), HasSubstr("column 'size' says again"));
}

TEST_F(AllocatorTrace, RefusesColumnsThatChangeWhatIsValid) {
  EXPECT_THAT(complaint("id,lower,upper,size,alignment\na,0,1,2,128\n"), HasSubstr("'alignment'"));
  EXPECT_THAT(complaint("id,lower,upper,size,gaps\na,0,9,2,3-4\n"), HasSubstr("'gaps'"));
}

TEST_F(AllocatorTrace, RefusesLivesThatAreNone) {
  const std::string head = "id,lower,upper,size\na,0,1,64\n";
  EXPECT_THAT(complaint(head + "b,-1,3,64\n"), AllOf(HasSubstr(".csv:3"), HasSubstr("starts at -1")));
  EXPECT_THAT(complaint(head + "b,3,2,64\n"), AllOf(HasSubstr(".csv:3"), HasSubstr("[3, 2)")));
  EXPECT_THAT(complaint(head + "b,3,3,64\n"), HasSubstr("[3, 3)"));
  EXPECT_THAT(complaint("id,begin,end,size\nb,3,2,64\n"), HasSubstr("last step"));
}

TEST_F(AllocatorTrace, RefusesSizesThatAreNone) {
  EXPECT_THAT(complaint("id,lower,upper,size\na,0,1,0\n"),
              AllOf(HasSubstr(".csv:2"), HasSubstr("size is 0")));
  EXPECT_THAT(complaint("id,lower,upper,size\na,0,1,-5\n"), HasSubstr("size is -5"));
}

TEST_F(AllocatorTrace, RefusesWhatIsNoInteger) {
  const std::vector<std::string> texts{
      "", "x", "1.5", "1e3", "0x10", "12 34", "+1", "\"4\"", std::string("4\0", 2)};
  for (const std::string& number : texts) {
    EXPECT_THAT(complaint("id,lower,upper,size\na,0,9," + number + "\n"),
                AllOf(HasSubstr(".csv:2: the size '"), HasSubstr("not an integer")))
        << number;
  }
}

TEST_F(AllocatorTrace, RefusesNumbersThatOverflow) {
  const std::string head = "id,start,end,size\na,0,";
  EXPECT_THAT(complaint(head + "4611686018427387904,1\n"), HasSubstr("too large"));
  EXPECT_THAT(complaint(head + "99999999999999999999,1\n"), HasSubstr("too large"));
  EXPECT_THAT(complaint("id,lower,upper,size\na,-99999999999999999999,1,1\n"), HasSubstr("too large"));
  // Each below 2^62, and rounded up to 64 it is 2^62: one fits, a second byte does not.
  const std::string most = "4611686018427387903";
  EXPECT_THAT(complaint(head + most + "," + most + "\n"), IsEmpty());
  EXPECT_THAT(complaint(head + "1," + most + "\nb,0,1,1\n"),
              AllOf(HasSubstr(".csv:3"), HasSubstr("sum to more")));
}

TEST_F(AllocatorTrace, RefusesALineWithTheWrongNumberOfFields) {
  EXPECT_THAT(complaint("id,lower,upper,size\na,0,1\n"), AllOf(HasSubstr(".csv:2"), HasSubstr("3 fields")));
  EXPECT_THAT(complaint("id,lower,upper,size\na,b,0,1,4\n"), HasSubstr("5 fields"));
}

TEST_F(AllocatorTrace, RefusesFilesWithoutRequests) {
  EXPECT_THAT(complaint(""), HasSubstr("is empty"));
  EXPECT_THAT(complaint("\n\r\n"), HasSubstr("is empty"));
  EXPECT_THAT(complaint("id,lower,upper,size\n"), HasSubstr("holds no request"));
}

TEST_F(AllocatorTrace, SaysHowATraceOfAProfilerBecomesCsv) {
  for (const std::string& start :
       {R"({"traceEvents": [)" + std::string(5000, ' '), std::string("\x1f\x8b\x08"), std::string("[\n")}) {
    EXPECT_THAT(complaint(start), AllOf(HasSubstr("is no CSV"), HasSubstr("--requests")));
  }
}

TEST_F(AllocatorTrace, RefusesFilesThatCannotBeRead) {
  EXPECT_THROW(allocator_trace::count_requests("no/such/file.csv"), Error);
  EXPECT_THROW(allocator_trace::count_requests(std::filesystem::temp_directory_path()), Error);
}

TEST_F(AllocatorTrace, RefusesALineWithoutAnEndInsteadOfHoldingIt) {
  EXPECT_THAT(complaint("id,lower,upper,size\n" + std::string(100'000, 'a')),
              AllOf(HasSubstr(".csv:2"), HasSubstr("more than 4095 characters")));
  EXPECT_THAT(complaint("id,lower,upper,size\n" + std::string(4089, 'a') + ",0,1,2\n"), IsEmpty());
  EXPECT_THAT(complaint("id,lower,upper,size\n" + std::string(4090, 'a') + ",0,1,2\n"), HasSubstr("4095"));
}

TEST_F(AllocatorTrace, RefusesMoreRequestsThanTheLimitAtTheLineAfterIt) {
  std::string text = "id,lower,upper,size\n";
  for (Index i = 0; i < allocator_trace::most_requests; ++i) text += "a,0,1,1\n";
  EXPECT_THAT(complaint(text), IsEmpty());
  EXPECT_THAT(complaint(text + "b,0,1,1\n"), AllOf(HasSubstr(".csv:1048578"), HasSubstr("1048576 requests")));
}

TEST_F(AllocatorTrace, BecomesTheProblemOfBothOperations) {
  const Registry registry = Registry::linked();
  const auto trace = file("id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n");
  EXPECT_EQ(registry.at("memory_pool_plan").problem_of(trace), "blocks=3,pattern=trace");
  EXPECT_EQ(registry.at("memory_pool_validate").problem_of(trace), "blocks=3,pattern=trace");
}

TEST_F(AllocatorTrace, IsMissedByItsProblem) {
  const Registry registry = Registry::linked();
  EXPECT_THROW(registry.at("memory_pool_plan").open("blocks=3,pattern=trace", {}), Error);
  const auto trace = file("id,lower,upper,size\na,0,2,64\n");
  EXPECT_THROW(registry.at("memory_pool_plan").open("blocks=3,pattern=trace", {.file = trace}), Error);
}

}  // namespace
}  // namespace assay::allocator_trace_test
