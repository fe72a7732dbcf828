#include "bench/report/content.hpp"

#include "bench/report/hand_made_test.hpp"
#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Le;

// The epochs are worked out in bench/report/prediction_test.cpp.
TEST(PredictionText, NamesEpochsAndWhatTheyConsistOf) {
  const std::string text = prediction_text("tiny", predict(hand_made::network()));
  EXPECT_THAT(text, AllOf(HasSubstr("naive: 3.26 ms [3.20, 3.32] per epoch"), HasSubstr("gemm/packed/"),
                          HasSubstr("left out: "), HasSubstr("PREDICTED: 1.73 ms")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_THAT(display_width(line), Le(80U)) << line;
}

TEST(PredictionText, CountsThePartsThatItDoesNotName) {
  Prediction prediction{.label = "naive"};
  for (int i = 0; i < 11; ++i) prediction.contributions.push_back({.key = "gemm/naive/m=1#1", .share = 9.0});
  EXPECT_THAT(prediction_text("tiny", {prediction}), HasSubstr("\n  27.0 % 3 more\n"));
  prediction.contributions.resize(8);
  EXPECT_THAT(prediction_text("tiny", {prediction}), ::testing::Not(HasSubstr(" more")));
}

TEST(PredictionText, SaysWhyThereIsNone) {
  Results results = hand_made::network();
  results.partial = true;
  EXPECT_THAT(prediction_text("tiny", predict(results)),
              AllOf(HasSubstr("no prediction: the run was interrupted"), HasSubstr("\nNO PREDICTION\n")));
}

}  // namespace
}  // namespace assay
