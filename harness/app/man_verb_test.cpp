// The manual page has every verb and option of the help.
#include "app/verbs.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <string>
#include <string_view>

namespace assay::man_test {
namespace {

using ::testing::HasSubstr;

std::string manual() {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(man_verb({}).exit_code(), 0);
  return ::testing::internal::GetCapturedStdout();
}

std::string with_dashes(std::string_view text) {
  return std::regex_replace(std::string(text), std::regex("-"), "\\-");
}

TEST(Manual, HasEveryOptionBehindItsVerb) {
  const std::string text = manual();
  for (const Verb& verb : verbs()) {
    const std::size_t begin = text.find(".SS \"" + with_dashes(verb.title()) + "\"\n");
    ASSERT_EQ(begin == std::string::npos, verb.hidden) << verb.title();
    if (verb.hidden) continue;
    const std::string section = text.substr(begin, text.find("\n.S", begin) - begin);
    const Call call = verb.make();
    for (const Option& option : call.options.all()) {
      if (option.rule.hidden) continue;
      EXPECT_THAT(section, HasSubstr(with_dashes(option.name()) + "\\fR")) << verb.title();
    }
  }
}

TEST(Manual, HasWhatIsNoOption) {
  const std::string text = manual();
  EXPECT_THAT(text, HasSubstr(".TP\n\\fB77\\fR\nnothing that was selected"));
  EXPECT_THAT(
      text,
      HasSubstr(
          ".TP\n\\fBTESTBRIDGE_TEST_ONLY\\fR\n\\-\\-filter, where it is not given to check, gate, run"));
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

}  // namespace
}  // namespace assay::man_test
