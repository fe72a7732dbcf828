// Break-even sizes and core types as a user asks for them.
#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay::testing {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Tuning : public ::testing::Test {
 protected:
  Finished run(const std::string& arguments, const std::string& plant = "") {
    return run_program(arguments, folder_.path(), plant);
  }
  Folder folder_;
};

/// Few sizes and rounds, so that sanitized builds stay quick.
constexpr const char* relu =
    "tune threshold elementwise_relu/n=1,c=1,h=1 --vary w --from 16 --to 64 --step 2 --rounds 6 ";

TEST_F(Tuning, FindsOrRefusesAThresholdAndWritesAConstantOnlyWhenThereIsOne) {
  const Finished done =
      run(std::string(relu) +
          "--between naive,simd@portable -o t.json --md t.md --header w.hpp --constant from_w");
  // The machine decides between the two; 3 is for ties everywhere and for curves that come back.
  ASSERT_THAT(done.exit_code, AnyOf(0, 3)) << done.output << done.errors;
  const Json json = Json::parse(folder_.read("t.json"));
  EXPECT_EQ(json.at("schema"), "assay.threshold/1");
  EXPECT_GE(json.at("sizes").size(), 2U);
  EXPECT_THAT(done.output, HasSubstr(json.at("outcome").get<std::string>() + ": "));
  EXPECT_THAT(folder_.read("t.md"),
              AllOf(HasSubstr("\n\n**"), HasSubstr("--header w.hpp --constant from_w --rounds 6\n")));
  const Json& constant = json.at("constant");
  if (constant.is_null()) {
    EXPECT_THAT(folder_.listing(), Not(HasSubstr("w.hpp")));
    EXPECT_THAT(done.output, HasSubstr("w.hpp was not written"));
  } else {
    EXPECT_THAT(folder_.read("w.hpp"), HasSubstr("std::ptrdiff_t from_w = " + constant.dump() + ";"));
  }
}

TEST_F(Tuning, EndsTheSearchAtAVariantThatIsWrong) {
  const Finished done =
      run("tune threshold gemm/m=2,n=2 --vary k --from 4 --to 9 --between naive,planted --rounds 6 "
          "-o t.json --header k.hpp --constant from_k",
          "wrong");
  EXPECT_EQ(done.exit_code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("WRONG: gemm/planted/m=2,n=2,k=9#1: "));
  EXPECT_EQ(Json::parse(folder_.read("t.json")).at("outcome"), "WRONG");
  EXPECT_EQ(folder_.listing(), "t.json\n");
}

TEST_F(Tuning, SaysWhatIsWrongWithAQuestionAndMeasuresNothing) {
  const auto refused = [&](const std::string& arguments, const char* what) {
    const Finished done = run("tune threshold " + arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments;
    EXPECT_THAT(done.errors, HasSubstr(what)) << arguments;
  };
  const std::string range = " --vary rows --from 1 --to 64 ";
  refused("layernrm/cols=8" + range + "--between naive,welford", "near it: layernorm");
  refused("layernorm/cols=8 --vary row --from 1 --to 64 --between naive,welford", "near it: rows");
  refused("layernorm/cols=8" + range + "--between naive,welfort", "near it: welford");
  refused("layernorm" + range + "--between naive,welford", "field 'cols' is missing");
  refused("layernorm/cols=8 --vary rows --from 64 --to 64 --between naive,welford",
          "--from must be the smaller");
  refused("layernorm/cols=8" + range + "--between naive,welford --header f.hpp --constant 2rows",
          "is no identifier of C++");
  EXPECT_EQ(folder_.listing(), "");
}

TEST_F(Tuning, TriesCoreTypesOfOpenBlasAndNeverOneThatIsUnknown) {
  folder_.write("tiny.json", R"({"schema": 1, "name": "tiny", "about": "end to end",
                                 "cases": [{"op": "gemm", "m": 24, "n": 24, "k": 24}]})");
  const std::string library = "tune library --suite tiny.json --threads 1 --rounds 6 ";
  const Finished done = run(library + "--core-types Prescott,Nehalem -o chosen.json --md adr.md");
  if (done.exit_code == 2 && (done.errors.find("OpenBLAS: ") != std::string::npos ||
                              done.errors.find("this processor lacks") != std::string::npos)) {
    GTEST_SKIP() << done.errors;
  }
  ASSERT_EQ(done.exit_code, 0) << done.output << done.errors;
  const Json chosen = Json::parse(folder_.read("chosen.json"));
  EXPECT_EQ(chosen.at("schema"), "assay.library/1");
  EXPECT_TRUE(chosen.at("environment").is_object());
  EXPECT_EQ(chosen.at("attempts").size(), 3U);
  EXPECT_EQ(chosen.at("rounds"), 6);
  EXPECT_THAT(done.output, AllOf(HasSubstr("gemm/openblas/m=24,n=24,k=24#1"), HasSubstr("control")));
  EXPECT_THAT(folder_.read("adr.md"), HasSubstr("## Not to be tried again here"));

  const Finished unknown = run(library + "--core-types Hasswell");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("near it: Haswell"));
  const Finished none = run(library + "-k gemm/naive");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("has a variant openblas"));
}

}  // namespace
}  // namespace assay::testing
