#include "training/job/trace_steps.hpp"

#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {

std::optional<Index> step_number(std::string_view name) {
  constexpr std::string_view marker = "ProfilerStep#";
  return name.starts_with(marker) ? number_from<Index>(name.substr(marker.size())) : std::nullopt;
}

bool is_fetch(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)#") && name.ends_with("__next__");
}

std::optional<Span> TraceSteps::place(const TraceEvent& event) {
  constexpr double most = most_seconds * 1e6, most_begin = 1e18;  // 1970 is 1.8e15 µs ago
  const double length = event.duration.value_or(-1);
  if (!event.begin || std::abs(*event.begin) > most_begin || !(length >= 0 && length <= most))
    return std::nullopt;
  // Times since 1970 in microseconds leave a double few digits for their sums.
  if (!origin_) origin_ = event.begin;
  const double begin = *event.begin - *origin_;
  return Span{begin, begin + length};
}

void TraceSteps::add_marker(Index number, Span span) {
  // The processor's marker begins first: the accelerator repeats it when it reaches the step.
  const auto [at, is_new] = markers_.try_emplace(number, span);
  if (!is_new) ++repeated_;
  if (span.begin < at->second.begin) at->second = span;
}

void TraceSteps::add_fetch(const TraceEvent& event, Span span) {
  if (!process_) process_ = event.process;
  if (process_ != event.process)
    throw Error(file_.string(),
                fmt::format("two processes load batches, {} and {}", process_.value_or(-1),
                            event.process.value_or(-1)),
                "pass one file per rank");
  fetches_.push_back(span.begin);
}

std::vector<Span> TraceSteps::spans(std::size_t events) {
  std::vector<Span> out;
  Index previous = 0;
  for (const auto& [number, span] : markers_) {
    if (!out.empty()) {
      // Markers are rounded to microseconds.
      if (span.begin + 1 < out.back().end) {
        throw Error(file_.string(),
                    fmt::format("ProfilerStep#{} begins before ProfilerStep#{} ends", number, previous),
                    "the trace holds several processes: export one of each");
      }
      if (number == previous + 1) {
        out.back().end = span.begin;
      } else {
        missing_ += number - previous - 1;
      }
    }
    out.push_back(span);
    previous = number;
  }
  if (has_markers()) return out;
  if (fetches_.size() < 2) {
    throw Error(file_.string(),
                fmt::format("there is no step in its {}: neither ProfilerStep#N nor two fetches "
                            "enumerate(DataLoader)#...__next__",
                            quantity_text(static_cast<std::int64_t>(events), "event")),
                "call profiler.step() after each step, and record more than one");
  }
  std::ranges::sort(fetches_);
  for (std::size_t i = 1; i < fetches_.size(); ++i) out.push_back({fetches_[i - 1], fetches_[i]});
  return out;
}

}  // namespace assay
