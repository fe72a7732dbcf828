#include "training/job/read_job.hpp"

#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "training/job/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
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

class Importer {
 public:
  explicit Importer(const std::filesystem::path& file) : file_(file), steps_(file) {}

  Job run() {
    const auto devices = read_trace(file_, [&](const TraceEvent& event) { take(event); });
    Job job{.name = file_.filename().string(), .source = file_.string()};
    for (const auto& [device, count] : devices) {
      job.hardware += fmt::format("{}{}{}", job.hardware.empty() ? "" : ", ",
                                  count > 1 ? fmt::format("{} x ", count) : "", device);
    }
    const std::vector<Span> steps = steps_.spans(events_);
    std::vector<double> seconds;
    for (const Span& step : steps) seconds.push_back((step.end - step.begin) * microsecond);
    job.windows = {timed_window(steps_.first(), std::move(seconds))};
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
    const std::optional<Span> span = steps_.place(event);
    if (!span) {
      ++dropped_["without a time, or with a duration that is negative or of more than 30 years"];
      return;
    }
    const std::optional<Row> row = row_of(event.category);
    const auto number = step_number(event.name);
    if (!row) {
      ++dropped_["of the unknown category " + event.category];
    } else if (number && row == accelerator_note) {
      ++repeated_;
    } else if (number && row == processor) {
      steps_.add_marker(*number, *span);
    } else if (row == accelerator_note || row == nothing) {
      ++dropped_["of kinds that take no part in a step: launches, synchronization, notes, Python frames"];
    } else {
      busy_[*row].add(span->begin, span->end);
      if (row == processor) within_processor(event, *span);
    }
  }

  /// Loading and the optimizer are operators with names of their own.
  void within_processor(const TraceEvent& event, Span span) {
    const std::string_view name = event.name;
    if (is_fetch(name)) {
      steps_.add_fetch(event, span);
      busy_[loader].add(span.begin, span.end);
      const auto has = [&](const char* word) { return name.find(word) != std::string_view::npos; };
      single_process_ = single_process_ || has("_SingleProcessDataLoaderIter");
      several_processes_ = several_processes_ || has("_MultiProcessingDataLoaderIter");
    } else if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#")) {
      busy_[optimizer].add(span.begin, span.end);
    }
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
    if (const std::size_t repeated = repeated_ + steps_.repeated(); repeated > 0)
      out.push_back(fmt::format("{} step markers repeat others and were counted once", repeated));
    if (steps_.missing() > 0) {
      out.push_back(
          fmt::format("{} steps between the others have no marker; the step before such a gap ends "
                      "with its own marker",
                      steps_.missing()));
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
    if (!steps_.has_markers()) {
      out.push_back(
          "there is no ProfilerStep#N: a step lasts from one fetch of the loader to the next, and the "
          "last fetch was dropped");
    }
    if (!steps_.has_fetches())
      out.push_back("there is no fetch from a data loader: what loading takes is unknown");
    if (several_processes_) {
      out.push_back(
          "the loader has worker processes, and the trace does not say how many: its fetches are what "
          "the loop waited");
    }
    return out;
  }

  const std::filesystem::path& file_;
  TraceSteps steps_;
  std::array<BusyTime, processor + 1> busy_;  ///< by row
  bool shapes_ = false, memory_ = false;      ///< were recorded
  bool single_process_ = false, several_processes_ = false;
  std::size_t events_ = 0, repeated_ = 0;  ///< markers that an accelerator repeats
  std::map<std::string, std::size_t> dropped_;
};

}  // namespace

Job read_kineto(const std::filesystem::path& file) { return Importer(file).run(); }

}  // namespace assay
