#include "core/json/json.hpp"
#include "training/epoch/epoch_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// Events one per line: a long epoch has hundreds of thousands, and need not be held twice.
class Trace {
 public:
  void name(int thread, const std::string& what) {
    add(fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": 1, "tid": {}, "args": {{"name": {}}}}})",
                    thread, Json(what).dump()));
  }
  void slice(int thread, std::string_view what, double begin, double seconds) {
    if (seconds <= 0) return;
    add(fmt::format(R"({{"ph": "X", "name": "{}", "pid": 1, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})", what,
                    thread, 1e6 * begin, 1e6 * seconds));
  }
  void count(std::string_view what, double at, Index value) {
    add(fmt::format(R"({{"ph": "C", "name": "{}", "pid": 1, "ts": {:.3f}, "args": {{"{}": {}}}}})", what,
                    1e6 * at, what, value));
  }
  std::string text() const {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + events_ + "\n]}\n";
  }

 private:
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }
  std::string events_;
};

/// Events one after the other.
using Phases = std::initializer_list<std::pair<const char*, double>>;

void add_phases(Trace& trace, double at, Phases phases) {
  for (const auto& [phase, seconds] : phases) {
    trace.slice(0, phase, at, seconds);
    at += seconds;
  }
}

void add_beside(Trace& trace, const EpochTimes& epoch) {
  for (const CheckpointTimes& one : epoch.checkpoints) {
    trace.slice(0, "checkpoint", one.begin, one.end - one.begin);
  }
  if (epoch.validation.empty()) return;
  const double begin = epoch.validation.front().begin;
  trace.slice(0, "validation", begin, epoch.validation.back().end - begin);
  for (const ValidationTimes& one : epoch.validation) {
    add_phases(trace, one.begin, {{"load", one.load}, {"forward", one.forward}, {"loss", one.loss}});
  }
}

}  // namespace

std::string timeline_json(const std::string& name, const EpochTimes& epoch) {
  const std::vector<StepTimes>& steps = epoch.steps;
  Trace trace;
  trace.name(0, name);
  int workers = 0;
  for (const StepTimes& step : steps) workers = std::max(workers, step.worker);
  for (int worker = 1; worker <= workers; ++worker) trace.name(worker, fmt::format("worker {}", worker));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepTimes& step = steps[i];
    trace.slice(0, fmt::format("step {}", i), step.begin, step.end - step.begin);
    add_phases(trace, step.begin,
               {{"wait", step.wait},
                {"forward", step.forward},
                {"loss", step.loss},
                {"backward", step.backward},
                {"clip", step.clip},
                {"optimizer", step.optimize}});
    if (step.worker > 0)
      trace.slice(step.worker, fmt::format("batch {}", step.batch), step.load_begin, step.load);
    trace.count("ready", step.begin + step.wait, step.ready);
  }
  add_beside(trace, epoch);
  return trace.text();
}

}  // namespace assay
