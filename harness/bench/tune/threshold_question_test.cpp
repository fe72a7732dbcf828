#include "bench/tune/threshold.hpp"

#include "assay/error.hpp"
#include "assay/plan.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

std::optional<std::string> needs_eight(const Doubling::Problem& p, const Context&) {
  if (p.columns < 8) return "needs eight columns";
  return std::nullopt;
}

const Registry& registry() {
  static const Registry out = [] {
    Registry made = testing::doubling_registry();
    made.add<Doubling>({.name = "flat", .run = doubled});
    made.add<Doubling>({.name = "wide", .run = doubled, .unfit = needs_eight});
    made.add<Doubling>({.name = "threaded", .threaded = true, .run = doubled});
    made.add<Doubling>({.name = "tripled", .known_bad = "Nobody (2020) adds once more", .run = doubled});
    made.add<Doubling>({.name = "replayed", .known_cheat = "an issue: remembers", .run = doubled});
    return made;
  }();
  return out;
}

ThresholdRequest request() {
  return {.subject = "doubling/rows=3",
          .vary = "columns",
          .from = 1,
          .to = 64,
          .step = 2,
          .between = "naive,flat"};
}

ThresholdQuestion asked(const ThresholdRequest& wanted) { return question_of(wanted, registry(), Machine{}); }

auto refuses_with(const char* option, const char* remedy) {
  return ThrowsMessage<Error>(AllOf(HasSubstr(option), HasSubstr(remedy)));
}

TEST(ThresholdQuestions, NameTheProblemAtEachSize) {
  const ThresholdQuestion question = asked(request());
  EXPECT_EQ(question.problem_at(8), "rows=3,columns=8");
  EXPECT_EQ(question.sizes, (std::vector<Index>{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_THAT(question.refused, IsEmpty());
  ThresholdRequest bare = request();
  bare.subject = "doubling";
  EXPECT_THAT([&] { asked(bare); }, refuses_with("field 'rows' is missing", "fields: rows, columns"));
}

TEST(ThresholdQuestions, TakeThreadsFromTheNameFirst) {
  ThresholdRequest wanted = request();
  wanted.between = "threaded#1,threaded#4";
  EXPECT_EQ(asked(wanted).second.threads, 4);
  wanted.between = "threaded,threaded";
  wanted.threads = {1, 2};
  EXPECT_EQ(asked(wanted).first.name, "threaded#1");
  EXPECT_EQ(asked(wanted).second.name, "threaded#2");
  wanted.between = "naive,threaded#8";
  EXPECT_EQ(asked(wanted).second.threads, 8);
  EXPECT_EQ(asked(wanted).first.threads, 1);
}

TEST(ThresholdQuestions, KeepTheSizesThatAVariantRefusesAndWhy) {
  ThresholdRequest wanted = request();
  wanted.between = "naive,wide";
  const ThresholdQuestion question = asked(wanted);
  EXPECT_THAT(question.sizes, Each(Ge(8)));
  ASSERT_THAT(question.refused, SizeIs(1));
  EXPECT_EQ(question.refused[0].by, "wide");
  EXPECT_EQ(question.refused[0].why, "needs eight columns");
  EXPECT_THAT(question.refused[0].sizes, AllOf(SizeIs(3), Each(Lt(8))));
}

TEST(ThresholdQuestions, HaveNoSizesWhereAVariantNeverRuns) {
  ThresholdRequest wanted = request();
  wanted.between = "naive,wide";
  wanted.to = 7;
  EXPECT_THAT(asked(wanted).sizes, IsEmpty());
  wanted.to = 8;
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("leave columns=8 alone", "give another range"));
}

TEST(ThresholdQuestions, LeaveOutSizesThatDoNotFitInMemory) {
  // 24 bytes an element, three rows: 32 columns take 2,304 bytes.
  const ThresholdQuestion question = question_of(request(), registry(), {.memory_bytes = memory_for(2000)});
  EXPECT_THAT(question.sizes, Each(Lt(32)));
  ASSERT_THAT(question.refused, SizeIs(1));
  EXPECT_EQ(question.refused[0].by, "memory");
}

TEST(ThresholdQuestions, SayWhatIsNearAnUnknownName) {
  ThresholdRequest wanted = request();
  wanted.subject = "doublin/rows=3";
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("doublin: is no operation", "near it: doubling"));
  wanted = request();
  wanted.vary = "column";
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("--vary column: is no field", "near it: columns"));
  wanted = request();
  wanted.between = "naive,flatt";
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("--between flatt: is no variant", "near it: flat"));
}

TEST(ThresholdQuestions, RefuseAFieldThatIsNoSizeOrIsGivenTwice) {
  ThresholdRequest wanted = request();
  wanted.vary = "mode";
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("plain, fancy", "vary one of rows, columns"));
  wanted.vary = "rows";
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("--vary rows: is given", "leave it out there"));
}

TEST(ThresholdQuestions, RefuseRangesThatCannotBe) {
  ThresholdRequest wanted = request();
  wanted.to = wanted.from;
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("--from and --to: are 1 and 1", "smaller"));
  wanted.from = 0;
  EXPECT_THAT([&] { asked(wanted); }, refuses_with("--from and --to", "from 1 to 2147483648"));
}

TEST(ThresholdQuestions, RefuseVariantsThatCannotBeCompared) {
  const auto between = [](const char* text, std::vector<int> threads = {}) {
    ThresholdRequest wanted = request();
    wanted.between = text;
    wanted.threads = std::move(threads);
    return [wanted] { asked(wanted); };
  };
  EXPECT_THAT(between("naive"), refuses_with("is not two variants", "naive,simd@avx2"));
  EXPECT_THAT(between("naive,flat,wide"), refuses_with("is not two variants", "naive,simd@avx2"));
  EXPECT_THAT(between("naive,naive"), refuses_with("the same variant twice", "threaded#1"));
  EXPECT_THAT(between("naive,tripled"), refuses_with("never timed", "another variant"));
  EXPECT_THAT(between("naive,replayed"), refuses_with("never timed", "another variant"));
  EXPECT_THAT(between("naive,flat#2"), refuses_with("one thread only", "threaded variant"));
  EXPECT_THAT(between("naive,threaded#x"), refuses_with("no number of threads", "threaded#2"));
  EXPECT_THAT(between("naive,threaded#0"), refuses_with("no number of threads", "threaded#2"));
  EXPECT_THAT(between("naive,threaded", {1, 2, 4}), refuses_with("3 numbers", "each of the two"));
  EXPECT_THAT(between("naive,flat", {2}), refuses_with("changes neither", "leave it out"));
}

}  // namespace
}  // namespace assay
