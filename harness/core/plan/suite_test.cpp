// Every way a suite file can be bad, and the message its author gets.

#include "assay/suite.hpp"
#include "assay/check.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/check/doubling_test.hpp"
#include "core/files/scratch.hpp"
#include "core/plan/suite.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

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

namespace fs = std::filesystem;
using ::testing::SizeIs;

// Cases whose problem a file holds: what they are called, what tells them apart, and how they can be bad.

/// Its extents, and the number that x holds, stand in a file.
struct Stored : testing::Doubling {
  static constexpr std::string_view name = "stored";
  struct Content {
    Index rows = 0, columns = 0;
    float x = 0;
  };
  static Content content(const fs::path& file) {
    Content out;
    if (!(std::ifstream(file) >> out.rows >> out.columns >> out.x))
      throw Error(file.string(), "holds no numbers", "write three");
    return out;
  }
  static Problem problem_of(const fs::path& file) {
    const Content found = content(file);
    return {found.rows, found.columns};
  }
  static Input make_input(const Problem& p, Setting& setting) {
    Input in{setting.buffer<float>(p.rows * p.columns)};
    std::ranges::fill(in.x, content(setting.file).x);
    return in;
  }
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output& out) {
    return {{.name = "sum", .value = std::accumulate(out.y.begin(), out.y.end(), 0.0)}};
  }
};

class Traces : public ::testing::Test {
 protected:
  Traces() {
    registry_.add<Stored>({.name = "naive", .run = testing::doubled});
    write_file(folder_.path() / "a.txt", "2 3 1");
  }

  Suite suite_of(const std::string& cases) {
    const fs::path file = folder_.path() / "s.json";
    write_file(file, R"({"schema": 1, "name": "s", "about": "x", "cases": [)" + cases + "]}");
    return load_suite(file, registry_);
  }
  std::string complaint(const std::string& cases) {
    try {
      suite_of(cases);
      return "";
    } catch (const Error& failure) {
      return failure.what();
    }
  }
  static std::string trace(const std::string& name) {
    return R"({"op": "stored", "trace": ")" + name + "\"}";
  }
  std::vector<Trial> planned(const Suite& suite) {
    return make_plan(registry_, suite, {}, {.key = "m", .cores = 1, .memory_bytes = 1e9});
  }

  Registry registry_ = testing::doubling_registry();
  ScratchFolder folder_;
};

TEST_F(Traces, LieBesideTheSuiteAndGiveTheirNameToTheKey) {
  fs::create_directory(folder_.path() / "net");
  write_file(folder_.path() / "net/b.txt", "4 5 1");
  const Suite suite = suite_of(trace("a.txt") + ", " + trace("net/b.txt"));
  ASSERT_THAT(suite.cases, SizeIs(2));
  EXPECT_EQ(suite.cases[0].problem, "trace=a.txt");
  EXPECT_EQ(suite.cases[0].file, folder_.path() / "a.txt");
  const Operation& operation = registry_.at("stored");
  EXPECT_EQ(fields_of(operation, suite.cases[1].problem, suite.cases[1].file), "rows=4,columns=5");
  EXPECT_EQ(planned(suite)[1].key, "stored/naive/trace=net/b.txt#1");
}

TEST_F(Traces, MayHaveFieldsBesideThem) {
  const Suite suite = suite_of(R"({"op": "stored", "mode": "fancy", "trace": "a.txt"})");
  EXPECT_EQ(suite.cases[0].problem, "trace=a.txt,mode=fancy");
  EXPECT_EQ(fields_of(registry_.at("stored"), suite.cases[0].problem, suite.cases[0].file),
            "rows=2,columns=3,mode=fancy");
  EXPECT_THAT(complaint(trace("a.txt") + R"(, {"op": "stored", "mode": "plain", "trace": "a.txt"})"),
              HasSubstr("cases[1]: repeats stored/trace=a.txt"))
      << "plain is the fallback";
}

TEST_F(Traces, AreSoughtFromTheWorkingDirectoryOfACommandLine) {
  const std::string path = folder_.path() / "a.txt";
  const Suite suite = suite_of_shapes("stored/trace=" + path, registry_);
  EXPECT_EQ(suite.cases[0].problem, "trace=" + path);
  const std::string up = fs::relative(path).string();
  EXPECT_EQ(suite_of_shapes("stored/trace=" + up, registry_).cases[0].problem, "trace=" + up)
      << "dots are no sweep";
  write_file(folder_.path() / "b.txt", "1 1 1");
  EXPECT_THAT(suite_of_shapes("stored/trace=" + path + "|" + path + "/../b.txt,mode=fancy", registry_).cases,
              SizeIs(2));
}

TEST_F(Traces, TellWorkloadsApartByTheirContent) {
  const Suite suite = suite_of(trace("a.txt"));
  const std::string before = planned(suite)[0].workload;
  EXPECT_EQ(planned(suite)[0].workload, before);
  write_file(folder_.path() / "a.txt", "2 3 2");
  const Trial after = planned(suite)[0];
  EXPECT_EQ(after.key, "stored/naive/trace=a.txt#1");
  EXPECT_NE(after.workload, before);
}

// Both have the same extents, so that the one could be taken for the other.
TEST_F(Traces, AreCheckedEachOnItsOwnContent) {
  write_file(folder_.path() / "b.txt", "2 3 4");
  const std::vector<Checked> found =
      check(planned(suite_of(trace("a.txt") + ", " + trace("b.txt"))), 42, {}, {}, Sizes::and_beside);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_TRUE(found[0].agrees && found[1].agrees) << found[0].detail << found[1].detail;
  ASSERT_THAT(found[0].figures, SizeIs(1));
  EXPECT_EQ(found[0].figures[0].value, 12);
  EXPECT_EQ(found[1].figures[0].value, 48);
}

TEST_F(Traces, ThatAreBadAreNamedWithSuiteCaseAndKey) {
  const std::string place = (folder_.path() / "s.json").string() + ": cases[0] (stored): trace: ";
  const auto refused = [&](const std::string& name, const std::string& why) {
    EXPECT_THAT(complaint(trace(name)), AllOf(HasSubstr(place), HasSubstr(why))) << name;
  };
  refused("none.txt", "none.txt: is not there");
  refused(".", "is no regular file");
  refused("net/", "names no file");
  refused("", "names no file");
  fs::create_directory(folder_.path() / "net");
  refused("net", "net: is no regular file");
  write_file(folder_.path() / "empty.txt", "");
  refused("empty.txt", "empty.txt: holds no numbers");
  refused("../a.txt", "leads out of the folder of the suite");
  refused(folder_.path() / "a.txt", "leads out of the folder of the suite");
  for (const std::string name : {"a b.txt", "a#1.txt", "a|b.txt", "a'b.txt", "a\\nb"})
    refused(name, "cannot stand in keys");
  EXPECT_THAT(complaint(trace("a,b.txt")), HasSubstr("cases[0].trace: has a comma"));
  EXPECT_THAT(complaint(R"({"op": "stored", "trace": "a.txt", "rows": 3})"),
              AllOf(HasSubstr(place), HasSubstr("field 'rows' is given twice")));
  EXPECT_THAT(complaint(R"({"op": "stored", "trace": 3})"), HasSubstr("3: is not there"));
  EXPECT_THAT(complaint(R"({"op": "doubling", "trace": "a.txt"})"),
              AllOf(HasSubstr("cases[0] (doubling): trace: "), HasSubstr("takes no file")));
  write_file(folder_.path() / "large.txt", "2 3 1");
  fs::resize_file(folder_.path() / "large.txt", (std::uintmax_t{1} << 28) + 1);
  refused("large.txt", "large.txt: has more than 256 MiB");
}

TEST_F(Traces, ThatAreBadAreNamedWithTheWordOfACommandLine) {
  EXPECT_THAT([&] { suite_of_shapes("stored/trace=none.txt", registry_); },
              ::testing::ThrowsMessage<Error>(
                  AllOf(HasSubstr("'stored/trace=none.txt': trace: "), HasSubstr("is not there"))));
  EXPECT_THAT([&] { suite_of_shapes("stored/trace=a.txt,trace=b.txt", registry_); },
              ::testing::ThrowsMessage<Error>(HasSubstr("trace: is given twice")));
  EXPECT_TRUE(names_shapes("stored/trace=a.json")) << "no suite, whatever its end";
}

}  // namespace

}  // namespace assay
