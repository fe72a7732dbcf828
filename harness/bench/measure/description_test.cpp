// The description that a program gives of itself, through its files.
#include "bench/measure/sides.hpp"

#include "assay/files.hpp"
#include "core/check/doubling_test.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Problem = testing::Doubling::Problem;
using Input = testing::Doubling::Input;
using Output = testing::Doubling::Output;

Registry registry() {
  Registry out = testing::doubling_registry();
  out.add<testing::Doubling>({.name = "crash", .run = [](const Problem& p, const Input& in, Output& y) {
                                if (p.columns == 17) std::abort();
                                testing::doubled(p, in, y);
                              }});
  out.add<testing::Doubling>({.name = "wrong", .run = [](const Problem& p, const Input& in, Output& y) {
                                testing::doubled(p, in, y);
                                if (p.columns == 17) y.y[3] = 0;
                              }});
  return out;
}

Description answer(const Registry& registry, const DescriptionRequest& request) {
  const ScratchFolder folder;
  const auto question = folder.path() / "question", answered = folder.path() / "answer";
  write_file(question, to_json(request));
  serve_description(registry, question, answered, {}, {});
  return description_from_json(read_file(answered), "answer");
}

DescriptionRequest request(std::vector<std::string> corners) {
  return {.cases = {{"doubling", "rows=2,columns=2"}}, .corners = std::move(corners)};
}

TEST(Description, HasNoVerdictWhereNoneIsAskedFor) {
  const Description found = answer(registry(), request({}));
  ASSERT_EQ(found.trials.size(), 3U);
  for (const DescribedTrial& trial : found.trials) EXPECT_THAT(trial.wrong, IsEmpty());
}

TEST(Description, SaysWhichCornerCaseATrialFails) {
  const std::string end = "/rows=2,columns=2#1";
  const Description found = answer(registry(), request({"doubling/naive" + end, "doubling/crash" + end,
                                                        "doubling/wrong" + end, "doubling/unknown" + end}));
  ASSERT_EQ(found.trials.size(), 3U);
  EXPECT_THAT(found.trials[0].wrong, IsEmpty());
  EXPECT_THAT(found.trials[1].wrong, HasSubstr("at the corner case rows=1,columns=17"));
  ASSERT_TRUE(found.trials[1].failure);
  EXPECT_EQ(found.trials[1].failure->kind, Failure::Kind::crashed);
  EXPECT_THAT(found.trials[1].failure->reason, HasSubstr("was ended by signal 6"));
  EXPECT_THAT(found.trials[2].wrong, HasSubstr("at the corner case rows=1,columns=17"));
  EXPECT_FALSE(found.trials[2].failure);
}

TEST(Description, IsGivenOfNoTrialsBesideThoseThatAreAskedFor) {
  const Description found = answer(registry(), request({"doubling/naive/rows=2,columns=2#1"}));
  ASSERT_EQ(found.trials.size(), 1U);
  EXPECT_EQ(found.trials[0].trial.variant, "naive");
}

}  // namespace
}  // namespace assay
