// Changes of the ledger that are decided and not measured: accept, withdraw, begin a release.
#include "app/gate_outcome.hpp"
#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/ledger/ledger.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/near_names.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace assay {
namespace {

/// Thread count that the key names; 1 when it names none. Keys of other machines have other counts, and are
/// as good: a ledger is for all machines.
int threads_of(const std::string& key) {
  const auto named = trial_key(key);
  return named ? std::min(named->threads, 4096) : 1;
}

void require_planned(const std::string& key, const Suite& suite, const Registry& registry) {
  std::vector<int> threads{1};
  if (const int count = threads_of(key); count > 1) threads.push_back(count);
  // No machine in particular: what does not fit in this one's memory may be accepted for another.
  std::vector<std::string> keys;
  for (const Trial& trial : make_plan(registry, suite, {.threads = threads}, Machine{})) {
    keys.push_back(trial.key);
  }
  if (std::ranges::find(keys, key) != keys.end()) return;
  throw Error("--accept " + key, fmt::format("is no trial of suite {}", suite.name),
              fmt::format("did you mean\n    {}\n  `assay run` prints all keys",
                          fmt::join(near_names(key, keys, 3), "\n    ")));
}

Date last_day(const std::string& text) {
  if (const auto date = date_from(text)) return *date;
  throw Error("--until " + text, "is no day", "write it as 2026-10-01");
}

/// `height=1300`, as the part of an acceptance that it is.
Acceptance figure_from(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0) {
    if (const auto value = number_from<double>(std::string_view(text).substr(equals + 1)))
      return {.figure = text.substr(0, equals), .value = *value};
  }
  throw Error("--figure " + text, "is no figure with a value",
              "write its name and the worst value that is accepted, without unit, as height=1300");
}

/// Changes the ledger of a suite and prints the sentence that `change` returns.
Outcome changed(const LedgerOptions& options, const Registry& registry,
                const std::function<std::string(Ledger&, const Suite&)>& change) {
  const Suite suite = load_suite(options.suite, registry);
  const auto file = ledger_path(options.baselines.front(), suite.name);
  Ledger ledger = load_ledger(file).value_or(Ledger{.suite = suite.name});
  const std::string done = change(ledger, suite);
  save_ledger(file, ledger);
  put(options.json, fmt::format("next: commit {} by itself\n{}\n", file.string(), done), to_json(ledger));
  return {};
}

}  // namespace

Outcome accept_verb(const AcceptOptions& options, const Registry& registry) {
  return changed(options.ledger, registry, [&](Ledger& ledger, const Suite& suite) {
    require_planned(options.key, suite, registry);
    Acceptance one = options.figure.empty() ? Acceptance{} : figure_from(options.figure);
    one.key = options.key;
    one.ratio = options.ratio;
    one.reason = options.reason;
    one.until = last_day(options.until);
    one.accepted_on = today();
    one.commit = build_info().commit;
    accept(ledger, one);
    return fmt::format("ACCEPTED: {} until {}", in_words(one), date_text(one.until));
  });
}

Outcome withdraw_verb(const WithdrawOptions& options, const Registry& registry) {
  return changed(options.ledger, registry, [&](Ledger& ledger, const Suite&) {
    withdraw(ledger, options.key, options.figure);
    return fmt::format("WITHDRAWN: {} has no accepted {} any more", options.key,
                       options.figure.empty() ? "slow-down" : options.figure);
  });
}

Outcome release_verb(const ReleaseOptions& options, const Registry& registry) {
  return changed(options.ledger, registry, [&](Ledger& ledger, const Suite&) {
    begin_release(ledger, options.release, build_info().commit, today());
    return fmt::format(
        "RELEASED: steps are summed from {} ({}) on; {} acceptances still run out on their day, and "
        "cover nothing that is compared with this release or a later commit",
        ledger.release, ledger.release_commit, ledger.acceptances.size());
  });
}

}  // namespace assay
