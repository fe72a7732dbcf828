#include "app/ledger_use.hpp"

#include "assay/error.hpp"
#include "compare/repository.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace assay {

std::optional<StoredLedger> find_ledger(const Options& options, const std::string& suite) {
  for (const auto& folder : options.baselines) {
    const auto file = ledger_path(folder, suite);
    if (auto ledger = load_ledger(file)) return StoredLedger{file, *std::move(ledger)};
  }
  return std::nullopt;
}

Date today() {
  using std::chrono::system_clock;
  const char* const given = std::getenv("SOURCE_DATE_EPOCH");
  if (given == nullptr) return std::chrono::floor<std::chrono::days>(system_clock::now());
  // From 1970 to the year 9999, which dates of four digits can tell.
  constexpr long long last = 253402300799;
  const std::string_view text = given;
  long long seconds = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > last) {
    throw Error("SOURCE_DATE_EPOCH", fmt::format("is \"{}\", which is no number of seconds since 1970", text),
                "unset it, or set it to what `date +%s` prints");
  }
  return std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
}

void require_recordable(const Options& options, const std::optional<StoredLedger>& stored,
                        const std::string& base, const std::string& head) {
  if (!options.record_step) return;
  if (stored) return require_next(stored->ledger, base, head);
  throw Error("--record-step", "there is no ledger of this suite",
              fmt::format("begin one: assay record --suite {} --release TEXT", options.suite.string()));
}

std::string step_end(const StoredLedger& stored, const std::string& commit) {
  const Ledger& ledger = stored.ledger;
  const std::string last = ledger.steps.empty() ? ledger.release_commit : ledger.steps.back().head;
  if (last.empty() || !is_commit(commit) || same_commit(last, commit)) return commit;
  try {
    const auto root = repository_root(".", {});
    const auto file = std::filesystem::proximate(stored.file, root);
    return differ_only_in(root, last, commit, file, {}) ? last : commit;
  } catch (const Error&) {  // no git, or no repository: then nothing is known of commits
    return commit;
  }
}

Ending recorded(StoredLedger stored, Step step, const Ending& passed) {
  if (step.rows.empty()) {
    return {exit_code::undecided, "UNDECIDED: no trial has an estimate, so there is no step to record"};
  }
  const std::string line = fmt::format("recorded the step {} to {}, {} trials: commit {} by itself\n",
                                       step.base, step.head, step.rows.size(), stored.file.string());
  stored.ledger.steps.push_back(std::move(step));
  save_ledger(stored.file, stored.ledger);
  return {passed.code, line + passed.text};
}

}  // namespace assay
