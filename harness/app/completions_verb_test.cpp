// Every verb and every option that the help shows can be completed in every shell, where it is one of the
// verb's.
#include "app/verb_functions.hpp"
#include "app/verbs.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace assay::completions_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string completions(Shell shell) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(completions_verb({.shell = shell}).exit_code(), 0);
  return ::testing::internal::GetCapturedStdout();
}

/// Calls with each verb and each name of an option that its help shows.
void for_each_name(const std::function<void(const std::string& verb, const std::string& name)>& action) {
  std::size_t count = 0;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const Call call = verb.make();
    for (const Option& option : call.options.all()) {
      for (const std::string_view name : option.all_names()) {
        if (option.rule.hidden || option.is_positional() || !name.starts_with('-')) continue;
        action(std::string(verb.name), std::string(name));
        ++count;
      }
    }
  }
  EXPECT_GT(count, 200U);
}

/// From the line of that text up to the next line with the other one.
std::string part(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find("\n" + from);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find(to, begin) - begin);
}

TEST(Completions, OfBashHaveEveryOptionOfEveryVerb) {
  const std::string text = completions(Shell::bash);
  for_each_name([&](const std::string& verb, const std::string& name) {
    const std::string quoted = verb.find(' ') == std::string::npos ? verb : "'" + verb + "'";
    const std::string words = part(part(text, "    " + quoted + ")\n", "esac"), "        *) words='", "' ;;");
    EXPECT_THAT(words + " ", ::testing::AnyOf(HasSubstr(" " + name + " "), HasSubstr("'" + name + " ")))
        << verb;
  });
  EXPECT_THAT(text, HasSubstr("--on-undecided) words='warn fail' ;;"));
  EXPECT_THAT(text, Not(HasSubstr("describe")));
}

TEST(Completions, OfZshHaveEveryOptionOfEveryVerb) {
  const std::string text = completions(Shell::zsh);
  for_each_name([&](const std::string& verb, const std::string& name) {
    const std::string word = verb.substr(verb.find(' ') + 1);
    const std::string of_verb = part(text, "    " + word + ")\n      _arguments", "'*:file:_files' ;;");
    EXPECT_THAT(of_verb, ::testing::ContainsRegex("[)*']" + name + "[+=]?\\[")) << verb;
  });
  EXPECT_THAT(text, HasSubstr("'gate:"));
  EXPECT_THAT(text, Not(HasSubstr("describe:")));
}

TEST(Completions, OfFishHaveEveryOptionOfEveryVerb) {
  std::istringstream in(completions(Shell::fish));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for_each_name([&](const std::string& verb, const std::string& name) {
    const std::string word = verb.substr(verb.find(' ') + 1);
    const std::string option = name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    EXPECT_THAT(lines, ::testing::Contains(::testing::AllOf(
                           HasSubstr("__fish_seen_subcommand_from " + word + "'"), HasSubstr(option + " "))))
        << verb << ' ' << name;
  });
}

}  // namespace
}  // namespace assay::completions_test
