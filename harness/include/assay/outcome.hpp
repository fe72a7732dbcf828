/// The end of every verb: one word, the sentence behind it, one exit code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Exit codes of every verb.
namespace exit_code {
inline constexpr int passed = 0;
inline constexpr int found = 1;      ///< a disagreement, a time that cannot be, or a regression
inline constexpr int unusable = 2;   ///< a request or an environment that cannot be used
inline constexpr int undecided = 3;  ///< nothing was measured or compared that should have been
inline constexpr int crashed = 4;    ///< a kernel crashed or hung, or an internal error
inline constexpr int all_skipped = 77;
inline constexpr int interrupted = 130;
}  // namespace exit_code

struct ExitCode {
  int code;
  std::string_view meaning;  ///< as documents list it
};
/// Every exit code, ascending.
std::span<const ExitCode> exit_codes();

/// By weight: where several hold, the last of them is the outcome.
enum class Word {
  done,           ///< the answer was printed, and nothing was judged
  nothing_to_do,  ///< this shard holds no case
  agree,          ///< with the oracle; nothing was timed
  measured,       ///< nothing was compared
  merged,
  recorded,  ///< as a baseline: there was nothing to compare with yet
  accepted,  ///< a slow-down, for a time
  withdrawn,
  released,
  audited,
  predicted,
  rejected,         ///< all known-bad variants
  as_it_should_be,  ///< cheats were rejected, and honest variants passed
  passed,
  decided,        ///< in part: none slower, and more than a tenth, or what is probably slower, was left open
  no_epoch,       ///< the job does not say how many steps an epoch has
  no_prediction,  ///< no model has what it needs
  undecided,
  not_comparable,
  not_measured,
  skipped,       ///< nothing selected runs on this machine
  not_recorded,  ///< it passed, but its step does not continue the ledger
  unusable,      ///< the request or the environment
  unfit,         ///< the machine cannot be judged on
  expired,       ///< the acceptance of a slow-down ran out
  contradicted,  ///< figures of a job contradict each other
  missed,        ///< an epoch lies outside its prediction
  blamed,        ///< an honest variant was rejected
  not_rejected,  ///< a cheat passed
  not_caught,    ///< a known-bad variant passed
  regression,
  impossible,  ///< a trial is faster than any kernel can be
  wrong,       ///< disagrees with the oracle
  crashed,     ///< a kernel crashed, or did not end in time; or an internal error
  interrupted
};
/// "MACHINE UNFIT", as it stands before the sentence.
std::string_view to_string(Word word);

/// Failed: a disagreement, an impossible time, a regression, an acceptance that ran out, a crash.
bool fails(Word word);

struct Outcome {
  Word word = Word::done;
  std::string sentence{};              ///< a stranger can read it; without a full stop
  std::vector<std::string> besides{};  ///< lines of lighter findings that fail as well

  /// The outcome becomes what was found when that weighs more; otherwise it is kept as a line, if it fails.
  void add(Word found, std::string found_sentence);

  int exit_code() const;
  /// "REGRESSION: 1 of 6 trials is slower than its limit"
  std::string line() const;
  /// `besides` and the line, each ending in a newline.
  std::string text() const;
  /// The verdict in one lower-case word, as CI engines get it: passed, wrong, impossible, regression,
  /// expired, unusable, undecided, crashed, skipped or interrupted.
  std::string_view ci_word() const;
};

}  // namespace assay
