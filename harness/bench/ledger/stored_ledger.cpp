#include "bench/ledger/stored_ledger.hpp"

#include "assay/error.hpp"
#include "bench/programs/repository.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {

namespace {

bool is_usual(const std::filesystem::path& folder) { return folder == usual_baselines; }

}  // namespace

void require_baselines(const Folders& baselines, const std::filesystem::path& made) {
  for (const auto& folder : baselines) {
    // The usual one need not be there, and nobody may have named it.
    if (is_usual(folder) || folder == made) continue;
    if (std::filesystem::is_directory(folder)) continue;
    throw Error("--baselines " + folder.string(), "is no folder",
                "name one that is there; `assay record` and --record-missing make theirs");
  }
}

std::optional<StoredLedger> find_ledger(const Folders& baselines, const std::string& suite,
                                        const std::filesystem::path& made) {
  require_baselines(baselines, made);
  for (const auto& folder : baselines) {
    const auto file = ledger_path(folder, suite);
    if (auto ledger = load_ledger(file)) return StoredLedger{file, *std::move(ledger)};
  }
  return std::nullopt;
}

std::string suite_in_commands(const std::string& suite, const Folders& baselines,
                              const std::optional<StoredLedger>& stored) {
  const auto folder = stored ? stored->file.parent_path() : baselines.front();
  return shell_word(suite) + (is_usual(folder) ? "" : " --baselines " + shell_word(folder.string()));
}

void require_recordable(const std::optional<StoredLedger>& stored, const std::string& suite_in_commands,
                        const std::string& base, const std::string& head) {
  if (stored) return require_next(stored->ledger, base, head);
  throw Error("--record-step", "there is no ledger of this suite",
              fmt::format("begin one: assay record --suite {} --release TEXT", suite_in_commands));
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

Outcome recorded(StoredLedger stored, Step step, Outcome passed) {
  if (step.rows.empty()) return {Word::undecided, "no trial has an estimate, so there is no step to record"};
  // The measurement took minutes, in which another job may have recorded this step or accepted something.
  if (auto now = load_ledger(stored.file)) stored.ledger = *std::move(now);
  try {
    require_next(stored.ledger, step.base, step.head);
  } catch (const Error& failure) {
    return {Word::not_recorded,
            fmt::format("{}, but no step was recorded: {}", passed.sentence, failure.what())};
  }
  passed.besides.push_back(fmt::format("recorded the step {} to {}, {} trials: commit {} by itself",
                                       step.base, step.head, step.rows.size(), stored.file.string()));
  stored.ledger.steps.push_back(std::move(step));
  save_ledger(stored.file, stored.ledger);
  return passed;
}

}  // namespace assay
