#include "bench/report/content.hpp"

#include <algorithm>

namespace assay {
namespace {

/// A problem's text, taken apart: fields with numbers are extents; other fields tell kinds of problems apart.
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

/// Returns the trial to beat: naive or, for several threads, the same variant with one thread.
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

/// Finds the size from which on the variant is faster.
void judge(BreakEven& row) {
  std::ranges::stable_sort(row.points, {}, &BreakEvenSize::bytes);
  bool faster_so_far = true;  // from the largest down
  for (auto size = row.points.rbegin(); size != row.points.rend(); ++size) {
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
}

}  // namespace

std::vector<BreakEven> break_even(const Results& results) {
  const NaiveTrials naive(results);
  std::vector<BreakEven> out;
  for (const TrialResult& trial : results.trials) {
    const TrialResult* rival = is_measured(trial) ? rival_of(results, naive, trial) : nullptr;
    if (rival == nullptr || rival == &trial) continue;
    const Interval ratio = speedup(*rival, trial);
    if (ratio.middle <= 0) continue;  // they share no launch
    const Parts parts = parts_of(trial.problem);
    const std::string name = with_threads(trial.variant, trial.threads);
    auto row = std::ranges::find_if(out, [&](const BreakEven& known) {
      return known.operation == trial.operation && known.kind == parts.kind && known.trial == name;
    });
    if (row == out.end()) {
      row = out.insert(row, {.operation = trial.operation,
                             .kind = parts.kind,
                             .trial = name,
                             .rival = with_threads(rival->variant, rival->threads)});
    }
    row->points.push_back({parts.extents, trial.cost.bytes_read + trial.cost.bytes_written, ratio});
  }
  std::ranges::for_each(out, judge);
  std::erase_if(out, [](const BreakEven& row) { return row.points.size() == 1 && row.slower.empty(); });
  return out;
}

}  // namespace assay
