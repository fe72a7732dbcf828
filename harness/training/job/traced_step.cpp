#include "training/job/traced_step.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "training/job/operator_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace assay {
namespace {

class StepReader {
 public:
  explicit StepReader(const std::filesystem::path& file) : file_(file), trace_steps_(file) {}

  TracedStep run(const std::function<void(const StepPart&)>& require) {
    read_trace(
        file_, [&](const TraceEvent& event) { take(event); }, /*with_arguments=*/true);
    refuse_if(works_elsewhere_,
              "has kernels of an accelerator, where operators of the processor are launches",
              "trace a job on the processor; `assay predict` reads this one");
    refuse_if(threads_.empty(), "has no operators",
              "record them: profile(activities=[ProfilerActivity.CPU], record_shapes=True)");
    refuse_if(!has_shapes_, "has operators without shapes",
              "record them again: profile(…, record_shapes=True)");
    steps_ = trace_steps_.spans(events_);
    const auto by_nesting = [](const OperatorCall& a, const OperatorCall& b) {
      return std::pair(a.span.begin, -a.span.end) < std::pair(b.span.begin, -b.span.end);
    };
    for (auto& [thread, calls] : threads_) {
      std::ranges::stable_sort(calls, by_nesting);
      const std::vector<OperatorCall> around = composed(calls);
      calls.insert(calls.begin(), around.begin(), around.end());
      std::ranges::stable_sort(calls, by_nesting);
    }
    divide();
    return result(require);
  }

 private:
  /// A part of the step, with what its calls add up to.
  struct Sum {
    StepPart part;
    std::vector<double> calls{};  ///< microseconds
    bool shares_calls = false;    ///< a call is several operators, or less than a whole one
  };
  /// An operator that is under way.
  struct Frame {
    double end = 0;
    std::size_t part = 0;
    bool closed = false;  ///< what it calls belongs to it
  };
  /// The times at which one thread worked, and the part that each was for.
  struct Work {
    std::vector<Span> spans;
    std::vector<std::size_t> parts;
    double busy = 0;
  };

  void take(const TraceEvent& event) {
    ++events_;
    has_memory_ = has_memory_ || event.name == "[memory]";
    const std::optional<Span> span = trace_steps_.place(event);
    if (!span) return;
    const std::string_view name = *names_.insert(event.name).first;
    if (event.category == "kernel" || event.category == "gpu_memcpy") works_elsewhere_ = true;
    const bool noted = event.category == "user_annotation";
    if (!noted && event.category != "cpu_op" && event.category != "Operator") return;
    has_shapes_ = has_shapes_ || event.has_shapes;
    if (const auto number = step_number(name)) return trace_steps_.add_marker(*number, *span);
    if (is_fetch(name)) trace_steps_.add_fetch(*span);
    std::vector<OperatorCase> cases = cases_of(name, event.arguments);
    if (cases.empty()) cases.emplace_back();
    const double length = (span->end - span->begin) / static_cast<double>(cases.size());
    double begin = span->begin;
    for (OperatorCase& one : cases) {
      threads_[event.thread].push_back(
          {.span = {begin, begin + length},
           .name = name,
           .part_of = std::move(one),
           .arguments = is_part(name) ? &kept_.emplace_back(event.arguments) : nullptr,
           .is_note = noted || is_fetch(name) || name.starts_with("Optimizer.step#")});
      begin += length;
    }
  }

  void refuse_if(bool fault, const std::string& what, const char* remedy) const {
    if (fault) throw Error(file_.string(), what, remedy);
  }

  /// The step that an event begins in; nothing outside of all.
  const Span* step_at(double time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Span::begin);
    return after == steps_.begin() || time >= std::prev(after)->end ? nullptr : &*std::prev(after);
  }

  std::size_t part(StepShare share, std::string_view name, const OperatorCase& one = {}) {
    const std::tuple key(share, one.operation.empty() ? std::string(name) : one.operation, one.problem);
    const auto [found, is_new] = part_numbers_.try_emplace(key, sums_.size());
    if (is_new) sums_.push_back({.part = {share, std::string(name), one.operation, one.problem}});
    return found->second;
  }

  Frame opened(const OperatorCall& call, const Frame* caller) {
    const std::string_view name = call.name;
    const bool loads = is_fetch(name), is_case = call.is_case();
    const bool in_engine = caller != nullptr && sums_[caller->part].part.share == StepShare::autograd;
    const bool is_engine = name.starts_with("autograd::") || name.starts_with("torch::autograd::") ||
                           (in_engine && name.find("::") == std::string_view::npos) ||
                           (caller == nullptr && name.ends_with("Backward0"));
    if (!is_case && !call.is_note && !is_engine && caller != nullptr && !in_engine && !caller->closed)
      return {call.span.end, caller->part, false};  // by the name that the program called
    const std::size_t its = is_case                      ? part(StepShare::covered, name, call.part_of)
                            : loads                      ? part(StepShare::loading, "loading")
                            : is_engine && !call.is_note ? part(StepShare::autograd, "autograd")
                                                         : part(StepShare::not_covered, name);
    Sum& sum = sums_[its];
    sum.part.per_step += call.part_of.calls;
    sum.calls.push_back(call.span.end - call.span.begin);
    sum.shares_calls = sum.shares_calls || call.part_of.calls != 1;
    return {call.span.end, its, loads || is_case};
  }

  Work work_of(const std::vector<OperatorCall>& calls) {
    Work out;
    std::vector<Frame> open;
    double now = 0;
    const auto work_until = [&](double time) {
      if (time <= now) return;
      out.spans.push_back({now, time});
      out.parts.push_back(open.back().part);
      out.busy += time - now;
      now = time;
    };
    const auto close_until = [&](double time) {
      for (; !open.empty() && open.back().end <= time; open.pop_back()) work_until(open.back().end);
    };
    for (const OperatorCall& call : calls) {
      const Span* step = step_at(call.span.begin);
      const bool by_user =
          call.is_note && !is_fetch(call.name) && !call.name.starts_with("Optimizer.zero_grad#");
      if (step == nullptr || by_user) continue;  // says nothing of what runs
      close_until(call.span.begin);
      if (!open.empty() && open.back().closed) {
        // The mask of a dropout is data of its contract.
        Sum& around = sums_[open.back().part];
        if (call.name != "aten::bernoulli_" || around.part.share != StepShare::covered) continue;
        around.shares_calls = true;
      }
      if (open.empty()) now = call.span.begin;
      work_until(call.span.begin);
      Frame frame = opened(call, open.empty() ? nullptr : &open.back());
      frame.end = std::min({frame.end, step->end, open.empty() ? step->end : open.back().end});
      open.push_back(frame);
    }
    close_until(steps_.back().end + 1);
    return out;
  }

  void divide() {
    std::vector<Work> all;
    for (const auto& [thread, calls] : threads_) all.push_back(work_of(calls));
    std::ranges::stable_sort(all, std::greater{}, &Work::busy);
    BusyTime taken;
    for (const Work& one : all) {
      const std::vector<double> others = taken.within(one.spans);
      for (std::size_t i = 0; i < others.size(); ++i) {
        const double length = one.spans[i].end - one.spans[i].begin - others[i];
        sums_[one.parts[i]].part.seconds += length * microsecond;
      }
      taken.add(one.spans);
    }
  }

  TracedStep result(const std::function<void(const StepPart&)>& require) {
    TracedStep out{
        .source = file_.filename().string(), .steps = std::ssize(steps_), .has_memory = has_memory_};
    const auto steps = static_cast<double>(steps_.size());
    for (const Span& step : steps_) out.seconds += (step.end - step.begin) / steps * microsecond;
    double sum = 0;
    for (Sum& one : sums_) {
      one.part.seconds /= steps;
      one.part.per_step /= steps;
      sum += one.part.seconds;
      const bool shares = one.shares_calls && one.part.per_step > 0;
      one.part.call_seconds = shares ? one.part.seconds / one.part.per_step : median(one.calls) * microsecond;
      if (one.part.seconds <= 0) continue;
      if (one.part.share == StepShare::covered) {
        try {
          if (require) require(one.part);
          if (one.part.per_step <= 0)
            throw Error(one.part.problem, "has no call in a step", "trace whole steps");
        } catch (const Error& refused) {
          out.notes.push_back(fmt::format("{} is no case: {}", one.part.name, refused.what()));
          one.part.share = StepShare::not_covered;
          one.part.operation = one.part.problem = "";
        }
      }
      out.parts.push_back(std::move(one.part));
    }
    refuse_if(out.seconds - sum < -0.01 * out.seconds,
              fmt::format("the parts of a step take {}, and the step {}", seconds_text(sum),
                          seconds_text(out.seconds)),
              "the trace holds several processes: export one of each");
    out.parts.push_back(
        {.share = StepShare::python, .name = "Python", .seconds = std::max(0.0, out.seconds - sum)});
    std::ranges::stable_sort(out.parts, [](const StepPart& a, const StepPart& b) {
      return std::pair(a.share, -a.seconds) < std::pair(b.share, -b.seconds);
    });
    refuse_if(out.parts.front().share != StepShare::covered, "has no operator that is a case of a contract",
              "`assay list` names the contracts; f32 on the processor is what most of them take");
    std::ranges::move(trace_steps_.notes(), std::back_inserter(out.notes));
    return out;
  }

  const std::filesystem::path& file_;
  TraceSteps trace_steps_;
  std::size_t events_ = 0;
  bool has_shapes_ = false, works_elsewhere_ = false, has_memory_ = false;
  std::vector<Span> steps_;
  std::map<std::string, std::vector<OperatorCall>> threads_;
  std::unordered_set<std::string> names_;
  std::deque<std::vector<TraceArgument>> kept_;
  std::vector<Sum> sums_;
  std::map<std::tuple<StepShare, std::string, std::string>, std::size_t> part_numbers_;
};

}  // namespace

double TracedStep::seconds_of(StepShare share) const {
  double out = 0;
  for (const StepPart& part : parts) out += part.share == share ? part.seconds : 0;
  return out;
}

TracedStep read_traced_step(const std::filesystem::path& file,
                            const std::function<void(const StepPart&)>& require) {
  return StepReader(file).run(require);
}

std::string suite_json(const TracedStep& step, const std::string& name, Index steps_per_epoch,
                       const std::string& requests) {
  Json cases = Json::array();
  for (const StepPart& part : step.parts) {
    if (part.share != StepShare::covered) continue;
    Json one{{"op", part.operation}};
    for (const std::string_view field : parts_of(part.problem, ',')) {
      const auto equals = field.find('=');
      const std::string_view value = field.substr(equals + 1);
      const auto number = number_from<Index>(value);
      one[field.substr(0, equals)] = number ? Json(*number) : Json(std::string(value));
    }
    one["per_step"] = shortened(part.per_step);
    one["note"] = fmt::format("{}, {} of the step, {} a call in the trace", part.name,
                              percent_text(part.seconds / step.seconds), seconds_text(part.call_seconds));
    cases.push_back(std::move(one));
  }
  if (!requests.empty()) {
    cases.push_back(Json{{"op", "memory_pool_plan"},
                         {"trace", requests},
                         {"note", "the blocks of the whole trace, in one pool"}});
  }
  const std::string about = fmt::format("{} steps of {}, {} each; cases are {} of a step", step.steps,
                                        step.source, seconds_text(step.seconds),
                                        percent_text(step.seconds_of(StepShare::covered) / step.seconds));
  return json_text(Json{{"schema", 1},
                        {"name", name},
                        {"about", about},
                        {"steps_per_epoch", steps_per_epoch},
                        {"cases", std::move(cases)}}) +
         "\n";
}

}  // namespace assay
