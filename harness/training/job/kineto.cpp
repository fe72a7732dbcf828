#include "training/job/read_job.hpp"

#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "training/job/busy_time.hpp"
#include "training/job/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace assay {
namespace {

constexpr double microsecond = 1e-6;

/// The parts that a step is told apart into, in this order, and the other things that an event may be.
enum Row : std::size_t { loader, optimizer, kernels, copies, processor, accelerator_note, nothing };

/// The row of a category, in any case and as several versions spell it; none of an unknown one.
std::optional<Row> row_of(std::string category) {
  for (char& c : category) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string key = '|' + category + '|';
  const auto is_among = [&](std::string_view words) { return words.find(key) != std::string_view::npos; };
  if (is_among("|operator|cpu_op|user_annotation|")) return processor;
  if (is_among("|kernel|")) return kernels;
  if (is_among("|memcpy|gpu_memcpy|memset|gpu_memset|")) return copies;
  if (is_among("|gpu_user_annotation|")) return accelerator_note;
  if (is_among("||runtime|cuda_runtime|cuda_driver|cuda_sync|cuda_event|async|ac2g|fwdbwd|async_cpu_to_gpu|"
               "trace|python_function|overhead|cpu_instant_event|"))
    return nothing;
  return std::nullopt;
}

/// N of `ProfilerStep#N`.
std::optional<Index> step_number(std::string_view name) {
  constexpr std::string_view marker = "ProfilerStep#";
  return name.starts_with(marker) ? number_from<Index>(name.substr(marker.size())) : std::nullopt;
}

class Importer {
 public:
  explicit Importer(const std::filesystem::path& file) : file_(file) {}

  Job run() {
    const auto devices = read_trace(file_, [&](const TraceEvent& event) { take(event); });
    Job job{.name = file_.filename().string(), .source = file_.string()};
    for (const auto& [device, count] : devices) {
      job.hardware += fmt::format("{}{}{}", job.hardware.empty() ? "" : ", ",
                                  count > 1 ? fmt::format("{} x ", count) : "", device);
    }
    const std::vector<Span> steps = markers_.empty() ? steps_by_fetch() : steps_by_marker();
    std::vector<double> seconds;
    for (const Span& step : steps) seconds.push_back((step.end - step.begin) * microsecond);
    job.windows = {timed_window(first_step_, std::move(seconds))};
    add_phases(job, steps);
    if (single_process_ && !several_processes_) job.loader.workers = 0;
    job.notes = notes();
    return job;
  }

 private:
  void take(const TraceEvent& event) {
    ++events_;
    shapes_ = shapes_ || event.has_shapes;
    memory_ = memory_ || event.name == "[memory]";
    if (event.phase != "X") {
      ++dropped_[event.phase == "M" ? "that name processes and threads"
                                    : "without a duration, such as arrows"];
      return;
    }
    constexpr double most = most_seconds / microsecond, most_begin = 1e18;  // 1970 is 1.8e15 µs ago
    const double length = event.duration.value_or(-1);
    if (!event.begin || std::abs(*event.begin) > most_begin || !(length >= 0 && length <= most)) {
      ++dropped_["without a time, or with a duration that is negative or of more than 30 years"];
      return;
    }
    // Times since 1970 in microseconds leave a double few digits for their sums.
    if (!origin_) origin_ = event.begin;
    const double begin = *event.begin - *origin_, end = begin + *event.duration;
    const std::optional<Row> row = row_of(event.category);
    const auto number = step_number(event.name);
    if (!row) {
      ++dropped_["of the unknown category " + event.category];
    } else if (number && row == accelerator_note) {
      ++repeated_;
    } else if (number && row == processor) {
      // The processor's marker begins first: the accelerator repeats it when it reaches the step.
      const auto [at, is_new] = markers_.try_emplace(*number, Span{begin, end});
      if (!is_new) ++repeated_;
      if (begin < at->second.begin) at->second = {begin, end};
    } else if (row == accelerator_note || row == nothing) {
      ++dropped_["of kinds that take no part in a step: launches, synchronization, notes, Python frames"];
    } else {
      busy_[*row].add(begin, end);
      if (row == processor) within_processor(event, {begin, end});
    }
  }

  /// Loading and the optimizer are operators with names of their own.
  void within_processor(const TraceEvent& event, Span span) {
    const std::string_view name = event.name;
    if (name.starts_with("enumerate(DataLoader)#") && name.ends_with("__next__")) {
      if (!process_) process_ = event.process;
      if (process_ != event.process)
        throw Error(file_.string(),
                    fmt::format("two processes load batches, {} and {}", *process_, *event.process),
                    "pass one file per rank");
      fetch_starts_.push_back(span.begin);
      busy_[loader].add(span.begin, span.end);
      const auto has = [&](const char* word) { return name.find(word) != std::string_view::npos; };
      single_process_ = single_process_ || has("_SingleProcessDataLoaderIter");
      several_processes_ = several_processes_ || has("_MultiProcessingDataLoaderIter");
    } else if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#")) {
      busy_[optimizer].add(span.begin, span.end);
    }
  }

  std::vector<Span> steps_by_marker() {
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
          missing_steps_ += number - previous - 1;
        }
      }
      out.push_back(span);
      previous = number;
    }
    first_step_ = markers_.begin()->first;
    return out;
  }

  std::vector<Span> steps_by_fetch() {
    if (fetch_starts_.size() < 2) {
      throw Error(file_.string(),
                  fmt::format("there is no step in its {}: neither ProfilerStep#N nor two fetches "
                              "enumerate(DataLoader)#...__next__",
                              events_text(events_)),
                  "call profiler.step() after each step, and record more than one");
    }
    std::ranges::sort(fetch_starts_);
    std::vector<Span> out;
    for (std::size_t i = 1; i < fetch_starts_.size(); ++i)
      out.push_back({fetch_starts_[i - 1], fetch_starts_[i]});
    // The place of these steps in an epoch is not known, so start-up is not looked for in them.
    first_step_ = 1;
    return out;
  }

  void add_phases(Job& job, const std::vector<Span>& steps) {
    const auto add = [&](const char* name, PhaseKind kind, std::vector<double> times, bool overlaps = false) {
      for (double& time : times) time *= microsecond;
      StepPhase phase = timed_phase(name, kind, std::move(times), overlaps);
      if (phase.mean_seconds > 0) job.phases.push_back(std::move(phase));
    };
    constexpr std::array<std::pair<const char*, PhaseKind>, processor + 1> parts{
        {{"data loader", PhaseKind::load},
         {"optimizer", PhaseKind::compute},
         {"accelerator kernels", PhaseKind::compute},
         {"accelerator copies", PhaseKind::copy},
         {"processor", PhaseKind::compute}}};
    std::vector<double> before(steps.size(), 0.0), other;
    BusyTime all;
    for (std::size_t row = 0; row < parts.size(); ++row) {
      all = either(all, busy_[row]);
      std::vector<double> now = all.within(steps), own;
      for (std::size_t i = 0; i < steps.size(); ++i) own.push_back(std::max(0.0, now[i] - before[i]));
      before = std::move(now);
      add(parts[row].first, parts[row].second, std::move(own));
    }
    for (std::size_t i = 0; i < steps.size(); ++i)
      other.push_back(std::max(0.0, steps[i].end - steps[i].begin - before[i]));
    add("other", PhaseKind::other, std::move(other));
    add("accelerator busy", PhaseKind::compute, either(busy_[kernels], busy_[copies]).within(steps), true);
  }

  static std::string events_text(std::size_t count) {
    return quantity_text(static_cast<std::int64_t>(count), "event");
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> out;
    for (const auto& [what, count] : dropped_)
      out.push_back(fmt::format("dropped {} {}", events_text(count), what));
    if (repeated_ > 0)
      out.push_back(fmt::format("{} step markers repeat others and were counted once", repeated_));
    if (missing_steps_ > 0) {
      out.push_back(
          fmt::format("{} steps between the others have no marker; the step before such a gap ends "
                      "with its own marker",
                      missing_steps_));
    }
    // Measured on four jobs in PyTorch 2.6 on a processor (reports/torch_jobs).
    out.push_back(
        fmt::format("profiling made the steps longer: by about {} with {}, so that a forecast is too long",
                    memory_   ? "22 %"
                    : shapes_ ? "7 %"
                              : "1 %",
                    memory_   ? "shapes and memory"
                    : shapes_ ? "record_shapes=True"
                              : "neither shapes nor memory"));
    if (markers_.empty()) {
      out.push_back(
          "there is no ProfilerStep#N: a step lasts from one fetch of the loader to the next, and the "
          "last fetch was dropped");
    }
    if (fetch_starts_.empty())
      out.push_back("there is no fetch from a data loader: what loading takes is unknown");
    if (several_processes_) {
      out.push_back(
          "the loader has worker processes, and the trace does not say how many: its fetches are what "
          "the loop waited");
    }
    return out;
  }

  const std::filesystem::path& file_;
  std::optional<double> origin_;
  std::map<Index, Span> markers_;
  std::optional<double> process_;  ///< of the fetches
  std::vector<double> fetch_starts_;
  std::array<BusyTime, processor + 1> busy_;  ///< by row
  bool shapes_ = false, memory_ = false;      ///< were recorded
  bool single_process_ = false, several_processes_ = false;
  Index first_step_ = 0, missing_steps_ = 0;
  std::size_t events_ = 0, repeated_ = 0;
  std::map<std::string, std::size_t> dropped_;
};

}  // namespace

Job read_kineto(const std::filesystem::path& file) { return Importer(file).run(); }

}  // namespace assay
