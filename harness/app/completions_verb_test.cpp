// Every verb and every option that the help shows can be completed, where it is one of the verb's.
#include "app/verbs.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

namespace assay::completions_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(const std::function<Outcome()>& verb) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(verb().exit_code(), 0);
  return ::testing::internal::GetCapturedStdout();
}

/// Returns the candidates for the last of these words, a line each.
std::string completed(std::vector<std::string> words) {
  words.insert(words.begin(), "assay");
  return "\n" + printed([&] { return complete_verb({.words = words}); });
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
        action(std::string(verb.name()), std::string(name));
        ++count;
      }
    }
  }
  EXPECT_GT(count, 200U);
}

TEST(Completions, HaveEveryOptionOfEveryVerb) {
  for_each_name([&](const std::string& verb, const std::string& name) {
    std::vector<std::string> words{verb.substr(0, verb.find(' '))};
    if (verb.size() > words[0].size()) words.push_back(verb.substr(words[0].size() + 1));
    EXPECT_THAT(completed({words.begin(), words.end()}), HasSubstr("\n" + words.back() + "\t")) << verb;
    words.emplace_back(name);
    EXPECT_THAT(completed(words), HasSubstr("\n" + name + "\t")) << verb;
    words.back() = "-";
    EXPECT_THAT(completed(words), HasSubstr("\n" + name + "\t")) << verb;
  });
}

TEST(Completions, TellVerbsWithTheirMeaningAndNoHiddenOne) {
  const std::string all = completed({""});
  EXPECT_THAT(all, HasSubstr("\ngate\tcheck, measure, compare with this machine's baseline\n"));
  EXPECT_THAT(all,
              HasSubstr("\ntune\tone of loader, batch, threads, command, threshold, library, kernels\n"));
  EXPECT_THAT(all, HasSubstr("\nreport\tthe report of a results file\n"));
  for (const char* hidden : {"describe", "launch", "__complete"}) EXPECT_THAT(all, Not(HasSubstr(hidden)));
  EXPECT_EQ(completed({"re", ""}), "\n") << "no verb";
  EXPECT_THAT(completed({"report", "cl"}), HasSubstr("\nclaims\t"));
}

TEST(Completions, OfValuesAreTheWordsThereAre) {
  EXPECT_EQ(completed({"gate", "--on-undecided", ""}), "\nwarn\t\nfail\t\n");
  EXPECT_EQ(completed({"gate", "--on-undecided", "=", "f"}), "\nfail\t\n") << "as bash has it";
  EXPECT_EQ(completed({"gate", "--on-undecided", "="}), "\nwarn\t\nfail\t\n");
  EXPECT_EQ(completed({"gate", "--on-undecided=f"}), "\n--on-undecided=fail\t\n") << "as others have it";
  EXPECT_EQ(completed({"gate", "--base", ""}), "\n") << "may be anything";
  EXPECT_EQ(completed({"wrap", "--", "-"}), "\n") << "another program's";
}

TEST(Completions, OfEveryShellAskTheProgram) {
  for (const Shell shell : {Shell::bash, Shell::zsh, Shell::fish}) {
    EXPECT_THAT(printed([&] { return completions_verb({.shell = shell}); }), HasSubstr(" __complete -- "));
  }
}

}  // namespace
}  // namespace assay::completions_test
