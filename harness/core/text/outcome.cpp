#include "assay/outcome.hpp"

#include <fmt/format.h>

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
    case Word::nothing_to_do: return {"NOTHING TO DO", "passed", exit_code::passed};
    case Word::agree: return {"AGREE", "passed", exit_code::passed};
    case Word::measured: return {"MEASURED", "passed", exit_code::passed};
    case Word::recorded: return {"RECORDED", "passed", exit_code::passed};
    case Word::passed: return {"PASSED", "passed", exit_code::passed};
    case Word::undecided: return {"UNDECIDED", "undecided", exit_code::undecided};
    case Word::not_comparable: return {"NOT COMPARABLE", "undecided", exit_code::undecided};
    case Word::not_measured: return {"NOTHING MEASURED", "undecided", exit_code::undecided};
    case Word::skipped: return {"SKIPPED", "skipped", exit_code::all_skipped};
    case Word::not_recorded: return {"NOT RECORDED", "unusable", exit_code::unusable};
    case Word::unfit: return {"MACHINE UNFIT", "undecided", exit_code::undecided};
    case Word::expired: return {"EXPIRED", "expired", exit_code::found};
    case Word::regression: return {"REGRESSION", "regression", exit_code::found};
    case Word::impossible: return {"IMPOSSIBLE", "impossible", exit_code::found};
    case Word::wrong: return {"WRONG", "wrong", exit_code::found};
    case Word::crashed: return {"CRASHED", "crashed", exit_code::crashed};
    case Word::interrupted: return {"INTERRUPTED", "interrupted", exit_code::interrupted};
  }
  return {"UNKNOWN", "unusable", exit_code::unusable};
}

}  // namespace

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

std::string Outcome::line() const { return fmt::format("{}: {}", to_string(word), sentence); }

std::string Outcome::text() const {
  std::string out;
  for (const std::string& one : besides) out += one + "\n";
  return out + line() + "\n";
}

std::string_view Outcome::ci_word() const { return meaning_of(word).ci_word; }

}  // namespace assay
