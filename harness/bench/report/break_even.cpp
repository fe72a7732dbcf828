#include "bench/report/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay {
namespace {

/// A problem's text, taken apart: extents are numbers, and what is no number tells kinds of problems apart.
struct Parts {
  std::string extents, kind;
};

Parts parts_of(const std::string& problem) {
  Parts out;
  for (std::size_t begin = 0; begin < problem.size();) {
    const std::size_t end = std::min(problem.find(',', begin), problem.size());
    const std::string field = problem.substr(begin, end - begin);
    const std::size_t value = std::min(field.find('='), field.size() - 1) + 1;
    const bool number = field.find_first_not_of("-0123456789", value) == std::string::npos;
    std::string& side = number ? out.extents : out.kind;
    side += (side.empty() ? "" : ",") + field;
    begin = end + 1;
  }
  return out;
}

/// Returns the trial to beat: with several threads the same with one, otherwise naive.
const TrialResult* rival_of(const Results& results, const NaiveTrials& naive, const TrialResult& trial) {
  if (trial.threads == 1) return naive.beside(trial);
  for (const TrialResult& other : results.trials) {
    if (other.threads == 1 && other.variant == trial.variant && other.problem == trial.problem &&
        other.operation == trial.operation && is_measured(other)) {
      return &other;
    }
  }
  return nullptr;
}

double bytes_of(const TrialResult& trial) { return trial.cost.bytes_read + trial.cost.bytes_written; }

BreakEven row_of(BreakEven row, std::vector<BreakEvenSize> sizes) {
  std::ranges::stable_sort(sizes, {}, &BreakEvenSize::bytes);
  row.sizes = sizes.size();
  bool faster_so_far = true;  // from the largest down
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    const bool faster = size->ratio.low > 1;
    faster_so_far = faster_so_far && faster;
    if (faster_so_far) {
      row.from = size->extents;
      row.from_bytes = size->bytes;
    }
    if (faster) continue;
    auto& list = size->ratio.high < 1 ? row.slower : row.undecided;
    list.insert(list.begin(), size->extents);
  }
  row.points = std::move(sizes);
  return row;
}

}  // namespace

std::vector<BreakEven> break_even(const Results& results) {
  const NaiveTrials naive(results);
  std::vector<BreakEven> rows;
  std::vector<std::vector<BreakEvenSize>> sizes;
  for (const TrialResult& trial : results.trials) {
    const TrialResult* rival = is_measured(trial) ? rival_of(results, naive, trial) : nullptr;
    if (rival == nullptr || rival == &trial) continue;
    const Interval ratio = speedup(*rival, trial);
    if (ratio.middle <= 0) continue;  // they share no launch
    const Parts parts = parts_of(trial.problem);
    const BreakEven row{.operation = trial.operation,
                        .kind = parts.kind,
                        .trial = with_threads(trial.variant, trial.threads),
                        .rival = with_threads(rival->variant, rival->threads)};
    auto at = std::ranges::find_if(rows, [&](const BreakEven& r) {
      return r.operation == row.operation && r.kind == row.kind && r.trial == row.trial;
    });
    if (at == rows.end()) {
      at = rows.insert(rows.end(), row);
      sizes.emplace_back();
    }
    sizes[static_cast<std::size_t>(at - rows.begin())].push_back({parts.extents, bytes_of(trial), ratio});
  }
  std::vector<BreakEven> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    BreakEven row = row_of(std::move(rows[i]), std::move(sizes[i]));
    if (row.sizes > 1 || !row.slower.empty()) out.push_back(std::move(row));
  }
  return out;
}

}  // namespace assay
