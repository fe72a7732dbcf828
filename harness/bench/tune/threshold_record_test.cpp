// Tests the record of a break-even, and the header that holds it.
#include "assay/error.hpp"
#include "bench/tune/threshold.hpp"
#include "core/check/doubling_test.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const Registry& doubling_with_a_tier() {
  static const Registry out = [] {
    Registry made = testing::doubling_registry();
    made.add<Doubling>({.name = "simd@avx2", .run = doubled});
    return made;
  }();
  return out;
}

/// Sizes 16, 32, 64 and 128 with these ratios, each 5 % up and down.
ThresholdRecord record(const std::vector<double>& ratios) {
  ThresholdRecord out{.question = question_of({.subject = "doubling/rows=1",
                                               .vary = "columns",
                                               .from = 16,
                                               .to = 128,
                                               .step = 2,
                                               .between = "naive,simd@avx2"},
                                              doubling_with_a_tier(), Machine{}),
                      .made = {.date = "2026-11-22T10:00:00Z",
                               .commit = "c0ffee",
                               .command = "assay tune threshold doubling/rows=1 --vary columns",
                               .machine = {.key = "some_machine"}}};
  const auto measure = [&](Index size) {
    const auto at = std::ranges::find(out.question.sizes, size) - out.question.sizes.begin();
    const double ratio = ratios.at(static_cast<std::size_t>(at));
    return MeasuredSize{.ratio = {0.95 * ratio, ratio, 1.05 * ratio, 0.95},
                        .first = {1e-6, 1e-6, 1e-6},
                        .second = {1e-6, 1e-6 / ratio, 1e-6}};
  };
  out.threshold = find_threshold(out.question.sizes, measure, [] { return false; });
  return out;
}

std::string text_of(const ThresholdRecord& record) { return record_text(record_document(record)); }
std::string markdown_of(const ThresholdRecord& record) { return doc::to_markdown(record_document(record)); }
std::string json_of(const ThresholdRecord& record) { return doc::to_json(record_document(record)); }

void expect_no_line_beyond_80(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // "µ" is one column and two bytes.
    const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(columns, 80) << line;
  }
}

TEST(ThresholdRecords, SayTheBreakEvenItsIntervalAndTheConstant) {
  const ThresholdRecord found = record({0.5, 0.9, 1.0, 2});
  EXPECT_EQ(threshold_sentence(found),
            "FOUND: simd@avx2 is faster than naive from columns = 128 on. The break-even lies in [32, 128]. "
            "The constant is 128.");
  const std::string text = text_of(found);
  EXPECT_THAT(text,
              AllOf(HasSubstr("2.00x"), HasSubstr("[1.90, 2.10]"), HasSubstr("tie\n"), HasSubstr("FOUND: ")));
  expect_no_line_beyond_80(text);
}

TEST(ThresholdRecords, SayPlainlyWhereNoConstantFollows) {
  EXPECT_THAT(threshold_sentence(record({2, 2, 2, 2})),
              AllOf(HasSubstr("EVERYWHERE: simd@avx2 is faster than naive at columns = 16 already"),
                    HasSubstr("no constant follows")));
  EXPECT_THAT(threshold_sentence(record({0.5, 0.5, 0.5, 1})),
              AllOf(HasSubstr("NOWHERE: simd@avx2 is surely faster than naive at none"),
                    HasSubstr("up to columns = 128; no constant follows")));
  EXPECT_THAT(threshold_sentence(record({2, 2, 0.5, 0.5})),
              AllOf(HasSubstr("REVERSED: "), HasSubstr("--between simd@avx2,naive")));
  EXPECT_THAT(threshold_sentence(record({1, 1, 1, 1})), HasSubstr("UNDECIDED: neither naive nor simd@avx2"));
  EXPECT_THAT(
      threshold_sentence(record({0.5, 2, 0.5, 2})),
      HasSubstr("NOT MONOTONE: simd@avx2 is faster at columns = 32, but naive at 64; no size divides"));
}

TEST(ThresholdRecords, SayWhichVariantIsWrongInsteadOfAThreshold) {
  ThresholdRecord wrong = record({0.5, 0.5, 2, 2});
  wrong.wrong = "doubling/simd@avx2/rows=1,columns=64#1: y[0, 39] is 0";
  EXPECT_THAT(text_of(wrong), HasSubstr("WRONG: doubling/simd@avx2/rows=1,columns=64#1"));
  const Json json = parse_json(json_of(wrong), "the record");
  EXPECT_EQ(json.at("answer"), "WRONG");
}

TEST(ThresholdRecords, KeepEverySizeWithTimesAndRatioInJson) {
  const Json json = parse_json(json_of(record({0.5, 0.5, 2, 2})), "the record");
  EXPECT_EQ(json.at("schema"), "assay.tuning/1");
  EXPECT_EQ(json.at("answer"), "FOUND");
  EXPECT_EQ(json.at("low"), 32);
  EXPECT_EQ(json.at("high"), 64);
  EXPECT_EQ(json.at("constant"), 64);
  const Json& sizes = json.at("sizes").at("rows");
  ASSERT_EQ(sizes.size(), 4U);
  EXPECT_EQ(sizes.at(0).at("faster"), "naive");
  EXPECT_EQ(sizes.at(3).at("ratio").at("middle"), 2);
  EXPECT_TRUE(parse_json(json_of(record({1, 1, 1, 1})), "the record").at("constant").is_null());
}

TEST(ThresholdRecords, NameSizesThatWereRefused) {
  ThresholdRecord found = record({0.5, 0.5, 2, 2});
  found.question.refused = {{.by = "wide", .why = "needs eight columns", .sizes = {1, 2, 4}}};
  EXPECT_THAT(text_of(found), HasSubstr("columns = 1 to 4, 3 sizes: wide: needs eight columns"));
  EXPECT_THAT(markdown_of(found), HasSubstr("1 to 4, 3 sizes"));
}

TEST(ThresholdRecords, AreDecisionRecordsThatMentionNobody) {
  const std::string text = markdown_of(record({0.5, 0.5, 2, 2}));
  EXPECT_THAT(
      text, AllOf(HasSubstr("\n\n**FOUND: "), HasSubstr("## How to reproduce"), HasSubstr("`some_machine`")));
  EXPECT_THAT(text, HasSubstr("`simd@avx2`")) << "to be copied";
  EXPECT_THAT(text, Not(HasSubstr(" simd@avx2"))) << "which would notify a user called avx2";
}

TEST(ThresholdHeaders, HoldTheConstantAndWhatItWasMeasuredOn) {
  const std::string header = header_text(record({0.5, 0.5, 2, 2}), "simd_from_columns");
  EXPECT_THAT(header, HasSubstr("inline constexpr std::ptrdiff_t simd_from_columns = 64;\n"));
  for (const char* part : {"#pragma once\n", "#include <cstddef>\n", "doubling/rows=1", "naive", "simd@avx2",
                           "[32, 64]", "some_machine", "2026-11-22", "c0ffee", "assay tune threshold"}) {
    EXPECT_THAT(header, HasSubstr(part));
  }
}

TEST(ThresholdHeaders, LetNoTextLeaveItsComment) {
  ThresholdRecord found = record({0.5, 0.5, 2, 2});
  found.made.command = "assay tune threshold \nint planted; -o file\\";
  const std::string header = header_text(found, "limit");
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("planted") != std::string::npos) {
      EXPECT_EQ(line.substr(0, 2), "//") << line;
    }
    EXPECT_FALSE(line.ends_with('\\')) << line;
  }
}

TEST(ThresholdHeaders, RefuseWhatIsNoNameForAConstant) {
  for (const char* good : {"n", "simd_from_rows", "kFrom2", "constant", "ints"}) {
    EXPECT_NO_THROW(require_identifier(good)) << good;
  }
  for (const char* bad : {"", "2n", "a-b", "a b", "größe", "int", "co_await", "xor", "_N", "a__b", "a;b"}) {
    EXPECT_THROW(require_identifier(bad), Error) << bad;
  }
  EXPECT_THAT([] { require_identifier("class"); },
              ThrowsMessage<Error>(HasSubstr("--constant class: is a keyword of C++")));
}

}  // namespace
}  // namespace assay
