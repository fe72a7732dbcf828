// Ledgers as files: one per suite, for all machines, read with every value doubted.
#include "bench/ledger/ledger.hpp"

#include "assay/error.hpp"
#include "bench/programs/revision.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace assay {
namespace {

constexpr std::string_view ledger_schema = "assay.ledger/1";
constexpr std::string_view ending = ".ledger.json";
constexpr Index most_launches = 1'000'000;

/// For texts on terminals, where control characters would move the cursor.
void require_plain(const Fields& f, std::string_view name, const std::string& text) {
  if (text.empty()) f.refuse(name, "is empty");
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    f.refuse(name, "holds a control character");
  }
}

/// For texts in commands that users copy into a shell.
void require_copyable(const Fields& f, std::string_view name, const std::string& text) {
  require_plain(f, name, text);
  if (text.find('\'') != std::string::npos)
    f.refuse(name, fmt::format("holds a quotation mark, which no {} does", name));
}

void require_key(const Fields& f, std::string& key) {
  require_copyable(f, "key", key);
  key = with_present_names(key);
}

void require_commit(const Fields& f, std::string_view name, const std::string& commit) {
  if (is_commit(commit)) return;
  f.refuse(name, fmt::format("is \"{}\", must be seven hexadecimal digits or more", commit));
}

/// Sums are only as good as the steps are complete.
void require_chain(const JsonField& file, const Ledger& ledger) {
  const auto steps = file.at("steps").items();
  std::string last = ledger.release_commit;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!same_commit(last, ledger.steps[i].base)) {
      steps[i].at("base").refuse(fmt::format("is {}, but what comes before ends at {}: a step is missing",
                                             ledger.steps[i].base, last.empty() ? "no release" : last));
    }
    last = ledger.steps[i].head;
  }
}

/// The acceptance without its price.
std::string what_of(const Acceptance& one) {
  return one.figure.empty() ? one.key : fmt::format("{} of {}", one.figure, one.key);
}

struct Row {
  std::string key;
  Estimate estimate;
};

void describe(Fields& f, Row& row) {
  f("key", row.key);
  constexpr double most_log_ratio = 100;  // e^100 times slower
  f("log_ratio", row.estimate.log_ratio, {.least = -most_log_ratio, .most = most_log_ratio});
  f("deviation", row.estimate.deviation, {.least = 0, .most = most_log_ratio});
  f("launches", row.estimate.launches, {.low = 0, .high = most_launches});
  if (!f.reads()) return;
  require_key(f, row.key);
  if (row.estimate.deviation > 0 && row.estimate.launches < 2) {
    f.refuse("launches", fmt::format("is {}: fewer than 2 show no deviation", row.estimate.launches));
  }
}

bool is_usual(const std::filesystem::path& folder) { return folder == usual_baselines; }

}  // namespace

template <>
struct Form<Date> {
  static Json schema(const Fields::Rule&) { return {{"type", "string"}, {"format", "date"}}; }
  static Json json(Date date, const Fields::Rule&) { return date_text(date); }
  static void read(const JsonField& field, Date& date, const Fields::Rule&) {
    const std::string text = field.text();
    const auto found = date_from(text);
    if (!found) field.refuse(fmt::format("is \"{}\", which is no day; write it as 2026-10-01", text));
    date = *found;
  }
};

void describe(Fields& f, Acceptance& acceptance) {
  f("key", acceptance.key);
  f("figure", acceptance.figure, {.terse = true, .about = "of its output; without one it is the time"});
  const bool of_figure = !acceptance.figure.empty();
  if (f.tells() || of_figure) {
    f("value", acceptance.value,
      {.optional = f.tells(),
       .least = finite_number.least,
       .most = finite_number.most,
       .about = "worst one that is accepted"});
  }
  if (!of_figure) {
    f("ratio", acceptance.ratio,
      {.optional = f.tells(),
       .above = 1,
       .most = 1e6,
       .about = "time after / time before that is accepted at most"});
  }
  f("reason", acceptance.reason);
  f("until", acceptance.until, {.about = "the last day"});
  ASSAY_FIELDS(f, acceptance, accepted_on, commit, release);
  if (!f.reads()) return;
  require_key(f, acceptance.key);
  if (of_figure) require_copyable(f, "figure", acceptance.figure);
  require_plain(f, "reason", acceptance.reason);
  require_plain(f, "commit", acceptance.commit);
  if (acceptance.until < acceptance.accepted_on) {
    f.refuse("until", fmt::format("of {} is before it was accepted, on {}", acceptance.key,
                                  date_text(acceptance.accepted_on)));
  }
}

void describe(Fields& f, Step& step) {
  std::vector<Row> rows;
  for (const auto& [key, estimate] : step.rows) rows.push_back({key, estimate});
  ASSAY_FIELDS(f, step, base, head, date);
  f("rows", rows);
  if (!f.reads()) return;
  require_commit(f, "base", step.base);
  require_commit(f, "head", step.head);
  if (rows.empty()) f.refuse("rows", "is empty: a step without estimates says nothing");
  f.unique("rows", rows, &Row::key, "is a second row of");
  for (const Row& row : rows) step.rows.emplace(row.key, row.estimate);
}

void describe(Fields& f, Ledger& ledger) {
  f.schema(ledger_schema);
  f("suite", ledger.suite);
  f("release", ledger.release, {.about = "empty before the first"});
  if (f.tells() || !ledger.release.empty()) {
    f("release_commit", ledger.release_commit, {.optional = f.tells(), .about = "where the sum begins"});
    f("released_on", ledger.released_on, {.optional = f.tells()});
  }
  f("acceptances", ledger.acceptances);
  f("steps", ledger.steps, {.about = "each begins where the one before ended"});
  if (!f.reads()) return;
  if (!ledger.release.empty()) {
    require_plain(f, "release", ledger.release);
    require_commit(f, "release_commit", ledger.release_commit);
  }
  f.unique("acceptances", ledger.acceptances, what_of, "is a second acceptance of");
  require_chain(f.place(), ledger);
}

std::filesystem::path ledger_path(const std::filesystem::path& folder, std::string_view suite) {
  // The same names that baselines take.
  return folder / baseline_path("", "any", suite).replace_extension(ending).filename();
}

void save_ledger(const std::filesystem::path& file, const Ledger& ledger) {
  write_into_baselines(file, to_json(ledger));
}

std::optional<Ledger> load_ledger(const std::filesystem::path& file) {
  std::error_code failure;
  if (!std::filesystem::exists(std::filesystem::status(file, failure))) return std::nullopt;
  const Json value = parse_json(read_file(file), file.string());
  const JsonField field(value, file.string(), "restore it from version control");
  auto out = value_from<Ledger>(field);
  const std::string name = file.filename().string();
  if (out.suite + std::string(ending) != name) {
    field.refuse(fmt::format("is of suite {}, but lies where that of {} belongs", out.suite,
                             name.substr(0, name.size() - std::min(name.size(), ending.size()))));
  }
  return out;
}

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
