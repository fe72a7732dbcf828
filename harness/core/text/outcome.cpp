#include "assay/outcome.hpp"

#include "assay/error.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace assay {
namespace {

struct Meaning {
  std::string_view word, ci_word;
  int exit_code;
};

/// The one place that says how a word ends the program.
Meaning meaning_of(Word word) {
  switch (word) {
    case Word::done: return {"DONE", "passed", exit_code::passed};
    case Word::nothing_to_do: return {"NOTHING TO DO", "passed", exit_code::passed};
    case Word::agree: return {"AGREE", "passed", exit_code::passed};
    case Word::measured: return {"MEASURED", "passed", exit_code::passed};
    case Word::merged: return {"MERGED", "passed", exit_code::passed};
    case Word::recorded: return {"RECORDED", "passed", exit_code::passed};
    case Word::accepted: return {"ACCEPTED", "passed", exit_code::passed};
    case Word::withdrawn: return {"WITHDRAWN", "passed", exit_code::passed};
    case Word::released: return {"RELEASED", "passed", exit_code::passed};
    case Word::audited: return {"AUDITED", "passed", exit_code::passed};
    case Word::predicted: return {"PREDICTED", "passed", exit_code::passed};
    case Word::rejected: return {"REJECTED", "passed", exit_code::passed};
    case Word::as_it_should_be: return {"AS IT SHOULD BE", "passed", exit_code::passed};
    case Word::passed: return {"PASSED", "passed", exit_code::passed};
    case Word::decided: return {"DECIDED", "passed", exit_code::passed};
    case Word::no_epoch: return {"NO EPOCH", "unusable", exit_code::unusable};
    case Word::no_prediction: return {"NO PREDICTION", "undecided", exit_code::undecided};
    case Word::undecided: return {"UNDECIDED", "undecided", exit_code::undecided};
    case Word::not_comparable: return {"NOT COMPARABLE", "undecided", exit_code::undecided};
    case Word::not_measured: return {"NOTHING MEASURED", "undecided", exit_code::undecided};
    case Word::skipped: return {"SKIPPED", "skipped", exit_code::all_skipped};
    case Word::not_recorded: return {"NOT RECORDED", "unusable", exit_code::unusable};
    case Word::unusable: return {"UNUSABLE", "unusable", exit_code::unusable};
    case Word::unfit: return {"MACHINE UNFIT", "undecided", exit_code::undecided};
    case Word::expired: return {"EXPIRED", "expired", exit_code::found};
    case Word::contradicted: return {"CONTRADICTED", "wrong", exit_code::found};
    case Word::missed: return {"MISSED", "wrong", exit_code::found};
    case Word::blamed: return {"REJECTED THOUGH HONEST", "wrong", exit_code::found};
    case Word::not_rejected: return {"NOT REJECTED", "wrong", exit_code::found};
    case Word::not_caught: return {"NOT CAUGHT", "wrong", exit_code::found};
    case Word::regression: return {"REGRESSION", "regression", exit_code::found};
    case Word::impossible: return {"IMPOSSIBLE", "impossible", exit_code::found};
    case Word::wrong: return {"WRONG", "wrong", exit_code::found};
    case Word::crashed: return {"CRASHED", "crashed", exit_code::crashed};
    case Word::interrupted: return {"INTERRUPTED", "interrupted", exit_code::interrupted};
  }
  return {"UNKNOWN", "unusable", exit_code::unusable};
}

}  // namespace

std::span<const ExitCode> exit_codes() {
  static constexpr std::array<ExitCode, 7> all{
      {{exit_code::passed, "passed"},
       {exit_code::found,
        "found: a disagreement, a regression, an impossible time, a new error, an epoch outside its "
        "prediction"},
       {exit_code::unusable, "unusable: the request or the environment cannot be used"},
       {exit_code::undecided, "undecided: nothing was measured, compared or decided that should have been"},
       {exit_code::crashed, "a kernel crashed or hung, or an internal error"},
       {exit_code::all_skipped, "nothing that was selected runs on this machine"},
       {exit_code::interrupted, "interrupted; the partial result is valid and marked"}}};
  return all;
}

std::string_view to_string(Word word) { return meaning_of(word).word; }

bool fails(Word word) {
  const int code = meaning_of(word).exit_code;
  return code == exit_code::found || code == exit_code::crashed;
}

void Outcome::add(Word found, std::string found_sentence) {
  Outcome lighter{found, std::move(found_sentence)};
  if (found > word) {
    std::swap(word, lighter.word);
    std::swap(sentence, lighter.sentence);
  }
  if (fails(lighter.word)) besides.push_back(lighter.line());
}

int Outcome::exit_code() const { return meaning_of(word).exit_code; }

std::string Outcome::line() const {
  // "DECIDED 107 of 253: none slower"
  return fmt::format("{}{} {}", to_string(word), word == Word::decided ? "" : ":", sentence);
}

std::string Outcome::text() const {
  std::string out;
  for (const std::string& one : besides) out += one + "\n";
  return out + line() + "\n";
}

std::string_view Outcome::ci_word() const { return meaning_of(word).ci_word; }

Error::Error(const std::string& where, const std::string& what, const std::string& remedy)
    : std::runtime_error(visible(where + ": " + what + (remedy.empty() ? "" : "\n  " + remedy))) {}

}  // namespace assay
