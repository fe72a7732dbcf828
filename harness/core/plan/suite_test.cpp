// Every way a suite file can be bad, and the message its author gets.

#include "assay/suite.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SuiteFile : public ::testing::Test {
 protected:
  ~SuiteFile() override { std::filesystem::remove(path_); }

  /// The message that loading this text gives; empty when it loads.
  std::string complaint(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    try {
      load_suite(path_, registry_);
      return "";
    } catch (const Error& failure) {
      return failure.what();
    }
  }
  std::string complaint_of_case(const std::string& row) {
    return complaint(R"({"schema": 1, "name": ")" + path_.stem().string() + R"(", "about": "x", "cases": [)" +
                     row + "]}");
  }

  Registry registry_ = testing::doubling_registry();
  std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("suite_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json");
};

TEST_F(SuiteFile, IsReadWholeWhenItIsRight) {
  const std::string text = R"({"schema": 1, "name": ")" + path_.stem().string() +
                           R"(", "about": "two cases", "steps_per_epoch": 10, "cases": [
    {"op": "doubling", "rows": 2, "columns": 3, "per_step": 4, "note": "first"},
    {"op": "doubling", "columns": 3, "rows": 2, "mode": "fancy"}]})";
  std::ofstream(path_) << text;
  const Suite suite = load_suite(path_, registry_);
  EXPECT_EQ(suite.steps_per_epoch, 10);
  ASSERT_EQ(suite.cases.size(), 2U);
  EXPECT_EQ(suite.cases[0].problem, "rows=2,columns=3");
  EXPECT_EQ(suite.cases[0].per_step, 4);
  EXPECT_EQ(suite.cases[0].note, "first");
  EXPECT_EQ(suite.cases[1].problem, "rows=2,columns=3,mode=fancy");
}

TEST_F(SuiteFile, ThatIsMissingOrAFolderIsNamed) {
  EXPECT_THROW(load_suite("no/such/suite.json", registry_), Error);
  EXPECT_THROW(load_suite(::testing::TempDir(), registry_), Error);
}

TEST_F(SuiteFile, ThatIsNotJsonIsLocatedByLineAndColumn) {
  EXPECT_THAT(complaint("{\n  \"schema\": 1,\n  \"name\" \"x\"\n}"),
              AllOf(HasSubstr(path_.string()), HasSubstr("line 3, column 12")));
  EXPECT_THAT(complaint(""), HasSubstr("is empty"));
  EXPECT_THAT(complaint(R"({"schema": 1, "cases": [)"), HasSubstr("ends in the middle"));
  EXPECT_THAT(complaint("[]"), HasSubstr("is an array, must be an object"));
}

TEST_F(SuiteFile, OfAnotherSchemaIsRefused) {
  EXPECT_THAT(complaint(R"({"schema": 2, "name": "x", "about": "", "cases": []})"),
              HasSubstr("schema: is 2, must be 1"));
  EXPECT_THAT(complaint(R"({"name": "x", "about": "", "cases": []})"), HasSubstr("has no \"schema\""));
}

TEST_F(SuiteFile, WhoseNameIsNotItsFileNameIsRefused) {
  EXPECT_THAT(complaint(R"({"schema": 1, "name": "other", "about": "", "cases": [{"op": "doubling"}]})"),
              HasSubstr("name: is \"other\", must be"));
}

TEST_F(SuiteFile, WithoutCasesIsRefused) {
  const std::string head =
      R"({"schema": 1, "name": ")" + path_.stem().string() + R"(", "about": "x", "cases": )";
  EXPECT_THAT(complaint(head + "[]}"), HasSubstr("cases: is empty"));
  EXPECT_THAT(complaint(head + "{}}"), HasSubstr("cases: is an object, must be an array"));
}

TEST_F(SuiteFile, NamesTheCaseAndKeyAtFault) {
  EXPECT_THAT(complaint_of_case("3"), HasSubstr("cases[0]: is a number, must be an object"));
  EXPECT_THAT(complaint_of_case(R"({"rows": 1})"), HasSubstr("cases[0]: has no \"op\""));
  EXPECT_THAT(complaint_of_case(R"({"op": 3})"), HasSubstr("cases[0].op: is a number, must be a string"));
  EXPECT_THAT(complaint_of_case(R"({"op": "trebling", "rows": 1, "columns": 1})"),
              HasSubstr("trebling: unknown operation"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1})"), HasSubstr("field 'columns' is missing"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 1, "depth": 2})"),
              HasSubstr("unknown field 'depth'"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1.5, "columns": 1})"),
              HasSubstr("cases[0].rows: is 1.5, must be an integer or a word"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": [1], "columns": 1})"),
              HasSubstr("cases[0].rows: is [1]"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 0, "columns": 1})"), HasSubstr("out of range"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": -1, "columns": 1})"),
              HasSubstr("out of range"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 1, "per_step": -2})"),
              HasSubstr("cases[0].per_step: is -2, must be a number from 0"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 1, "note": 5})"),
              HasSubstr("cases[0].note: is a number, must be a string"));
}

TEST_F(SuiteFile, RefusesARepeatedCaseHoweverItIsSpelled) {
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 2},
                                   {"op": "doubling", "columns": 2, "mode": "plain", "rows": 1})"),
              HasSubstr("cases[1]: repeats doubling/rows=1,columns=2"));
}

TEST_F(SuiteFile, RefusesUnknownKeysAtTheTop) {
  EXPECT_THAT(complaint(R"({"schema": 1, "name": "x", "about": "", "steps_per_epochs": 3, "cases": []})"),
              HasSubstr("has an unknown key \"steps_per_epochs\"; is it \"steps_per_epoch\""));
}

}  // namespace
}  // namespace assay
