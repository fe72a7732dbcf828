// Every way a suite file can be bad, and the message its author gets.

#include "assay/suite.hpp"

#include "assay/error.hpp"
#include "core/check/doubling.hpp"

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
  EXPECT_THAT(complaint(""), HasSubstr("line 1, column 1"));
  EXPECT_THAT(complaint(R"({"schema": 1, "cases": [)"), HasSubstr("is not JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("is not an object"));
}

TEST_F(SuiteFile, OfAnotherSchemaIsRefused) {
  EXPECT_THAT(complaint(R"({"schema": 2, "name": "x", "about": "", "cases": []})"),
              HasSubstr("has schema 2, this program reads schema 1"));
  EXPECT_THAT(complaint(R"({"name": "x", "about": "", "cases": []})"), HasSubstr("key 'schema' is missing"));
}

TEST_F(SuiteFile, WhoseNameIsNotItsFileNameIsRefused) {
  EXPECT_THAT(complaint(R"({"schema": 1, "name": "other", "about": "", "cases": [1]})"),
              HasSubstr("its name is 'other'"));
}

TEST_F(SuiteFile, WithoutCasesIsRefused) {
  const std::string head =
      R"({"schema": 1, "name": ")" + path_.stem().string() + R"(", "about": "x", "cases": )";
  EXPECT_THAT(complaint(head + "[]}"), HasSubstr("'cases' is not a list with entries"));
  EXPECT_THAT(complaint(head + "{}}"), HasSubstr("'cases' is not a list with entries"));
}

TEST_F(SuiteFile, NamesTheCaseAndKeyAtFault) {
  EXPECT_THAT(complaint_of_case("3"), HasSubstr("cases[0]: is not an object"));
  EXPECT_THAT(complaint_of_case(R"({"rows": 1})"), HasSubstr("cases[0]: key 'op' is missing"));
  EXPECT_THAT(complaint_of_case(R"({"op": 3})"), HasSubstr("key 'op' is 3, not a text"));
  EXPECT_THAT(complaint_of_case(R"({"op": "trebling", "rows": 1, "columns": 1})"),
              HasSubstr("trebling: unknown operation"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1})"), HasSubstr("field 'columns' is missing"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 1, "depth": 2})"),
              HasSubstr("unknown field 'depth'"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1.5, "columns": 1})"),
              HasSubstr("field 'rows' is 1.5, not an integer"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": [1], "columns": 1})"),
              HasSubstr("field 'rows' is [1]"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 0, "columns": 1})"), HasSubstr("out of range"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": -1, "columns": 1})"),
              HasSubstr("out of range"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 1, "per_step": -2})"),
              HasSubstr("key 'per_step' is -2, not a count"));
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 1, "note": 5})"),
              HasSubstr("key 'note' is 5, not a text"));
}

TEST_F(SuiteFile, RefusesARepeatedCaseHoweverItIsSpelled) {
  EXPECT_THAT(complaint_of_case(R"({"op": "doubling", "rows": 1, "columns": 2},
                                   {"op": "doubling", "columns": 2, "mode": "plain", "rows": 1})"),
              HasSubstr("cases[1]: repeats doubling/rows=1,columns=2"));
}

TEST_F(SuiteFile, RefusesUnknownKeysAtTheTop) {
  EXPECT_THAT(complaint(R"({"schema": 1, "name": "x", "about": "", "steps": 3, "cases": []})"),
              HasSubstr("unknown key 'steps'"));
}

}  // namespace
}  // namespace assay
