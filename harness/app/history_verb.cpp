#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/files.hpp"
#include "assay/outcome.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/ledger/stored_ledger.hpp"
#include "bench/report/history.hpp"

namespace assay {

Outcome history_verb(const HistoryOptions& options) {
  std::vector<NamedResults> runs;
  for (const std::filesystem::path& file : options.results)
    runs.push_back({file.filename().string(), read_any_results(file)});
  const std::optional<StoredLedger> stored = find_ledger(options.baselines, runs.front().results.suite);
  const History history = history_of(std::move(runs), {.limit = options.limit},
                                     stored ? stored->ledger.acceptances : std::vector<Acceptance>());
  const auto write = [](const std::filesystem::path& file, const std::string& text) {
    if (!file.empty()) write_file(file, text);
  };
  write(options.markdown, to_markdown(history));
  write(options.csv, history_csv(history));
  write(options.bencher, history_bencher(history));
  write(options.github_action_benchmark, history_github_action_benchmark(history));
  write(options.openmetrics, history_openmetrics(history));
  put(options.json, to_text(history), to_json(history));
  return {history.rows.empty() ? Word::not_measured : Word::done};
}

}  // namespace assay
