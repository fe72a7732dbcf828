#include "training/job/traced_step.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

namespace assay {
namespace {

class StepReader {
 public:
  explicit StepReader(const std::filesystem::path& file) : file_(file), trace_steps_(file) {}

  TracedStep run(const std::function<void(const OperatorCase&)>& require) {
    read_trace(
        file_, [&](const TraceEvent& event) { take(event); }, /*with_arguments=*/true);
    refuse_if(works_elsewhere_,
              "has kernels of an accelerator, where operators of the processor are launches",
              "trace a job on the processor; `assay predict` reads this one");
    refuse_if(!has_operators_, "has no operators",
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
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr double rounding = 1;  ///< microseconds, to which PyTorch once rounded times

  /// A part of the step, with what its calls add up to.
  struct Sum {
    StepPart part;
    std::vector<double> calls{};  ///< microseconds
    std::set<std::string_view> names{};
    bool shares_calls = false;  ///< a call is several operators, or less than a whole one
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
    const bool is_memory = event.name == "[memory]";
    has_memory_ = has_memory_ || is_memory;
    const std::optional<Span> span = is_memory ? std::nullopt : trace_steps_.place(event);
    if (!span) return;
    const std::string_view name = *names_.insert(event.name).first;
    if (event.category == "kernel" || event.category == "Kernel" || event.category == "gpu_memcpy")
      works_elsewhere_ = true;
    const bool noted = event.category == "user_annotation";
    if (!noted && event.category != "cpu_op" && event.category != "Operator")
      return trace_steps_.drop("of other kinds than operators and annotations");
    has_shapes_ = has_shapes_ || event.has_shapes;
    if (const auto number = step_number(name)) return trace_steps_.add_marker(*number, *span);
    if (is_fetch(name)) trace_steps_.add_fetch(*span);
    const bool is_note = noted || is_fetch(name) || name.starts_with("Optimizer.step#");
    has_operators_ = has_operators_ || !is_note;
    threads_[event.thread].push_back(
        {.span = *span,
         .name = name,
         .cases = cases_of(name, event.arguments),
         .arguments = is_part(name) ? &kept_.emplace_back(event.arguments) : nullptr,
         .is_note = is_note});
  }

  void refuse_if(bool fault, const std::string& what, const char* remedy) const {
    if (fault) throw Error(file_.string(), what, remedy);
  }

  bool is_in_step(double time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Span::begin);
    return after != steps_.begin() && time < std::prev(after)->end;
  }

  std::size_t part(StepShare share, std::string_view name, const std::vector<OperatorCase>& cases = {}) {
    std::string text(cases.empty() ? name : "");
    for (const OperatorCase& one : cases)
      text += fmt::format("{}{}/{}", text.empty() ? "" : " + ", one.operation, one.problem);
    const auto [found, is_new] = part_numbers_.try_emplace({share, text}, sums_.size());
    if (is_new) sums_.push_back({.part = {share, std::string(name), cases, text}});
    return found->second;
  }

  Frame opened(const OperatorCall& call, const Frame* caller) {
    const std::string_view name = call.name;
    const bool loads = is_fetch(name), is_case = call.is_case();
    for (const OperatorCase& one : call.cases)
      if (!one.note.empty())
        notes_.insert(is_case ? one.note : fmt::format("{} is no case: {}", name, one.note));
    const bool in_engine = caller != nullptr && sums_[caller->part].part.share == StepShare::autograd;
    const bool is_engine = name.starts_with("autograd::") || name.starts_with("torch::autograd::") ||
                           (in_engine && name.find("::") == std::string_view::npos) ||
                           (caller == nullptr && name.ends_with("Backward0"));
    if (!is_case && !call.is_note && !is_engine && caller != nullptr && !in_engine && !caller->closed)
      return {call.span.end, caller->part, false};  // by the name that the program called
    const std::size_t its = is_case                      ? part(StepShare::covered, name, call.cases)
                            : loads                      ? part(StepShare::loading, "loading")
                            : is_engine && !call.is_note ? part(StepShare::autograd, "autograd")
                                                         : part(StepShare::not_covered, name);
    Sum& sum = sums_[its];
    const int operators = is_case ? call.cases.front().operators : 1;
    sum.part.per_step += 1.0 / operators;
    sum.calls.push_back(call.span.end - call.span.begin);
    sum.names.insert(name);
    sum.shares_calls = sum.shares_calls || operators > 1;
    return {call.span.end, its, loads || is_case};
  }

  Work work_of(const std::vector<OperatorCall>& calls) {
    Work out;
    std::vector<Frame> open;
    double now = -infinite;
    const auto work_until = [&](double time) {
      if (time <= now) return;
      out.spans.push_back({now, time});
      out.parts.push_back(open.back().part);
      out.busy += time - now;
      now = time;
    };
    const auto close_before = [&](Span next) {
      for (; !open.empty(); open.pop_back()) {
        if (open.back().end > next.begin + (open.back().end < next.end ? rounding : 0)) return;
        work_until(open.back().end);
      }
    };
    for (const OperatorCall& call : calls) {
      const bool by_user =
          call.is_note && !is_fetch(call.name) && !call.name.starts_with("Optimizer.zero_grad#");
      if (by_user || !is_in_step(call.span.begin)) continue;  // says nothing of what runs
      operators_.add(call.span.begin, call.span.end);
      close_before(call.span);
      if (!open.empty() && open.back().closed) {
        // The mask of a dropout is data of its contract.
        Sum& around = sums_[open.back().part];
        if (call.name != "aten::bernoulli_" || around.part.share != StepShare::covered) continue;
        around.shares_calls = true;
      }
      if (open.empty()) now = std::max(now, call.span.begin);
      work_until(call.span.begin);
      Frame frame = opened(call, open.empty() ? nullptr : &open.back());
      if (!open.empty()) frame.end = std::min(frame.end, open.back().end);
      open.push_back(frame);
    }
    close_before({infinite, infinite});
    return out;
  }

  void divide() {
    std::vector<Work> all;
    for (const auto& [thread, calls] : threads_) all.push_back(work_of(calls));
    std::ranges::stable_sort(all, std::greater{}, &Work::busy);
    BusyTime taken;  // what is not in a step belongs to none of its parts
    for (std::size_t i = 0; i <= steps_.size(); ++i)
      taken.add(i == 0 ? -infinite : steps_[i - 1].end, i == steps_.size() ? infinite : steps_[i].begin);
    const auto divide_among = [&](const std::vector<Span>& spans, const std::vector<std::size_t>& parts) {
      const std::vector<double> others = taken.within(spans);
      for (std::size_t i = 0; i < others.size(); ++i)
        sums_[parts[i]].part.seconds += (spans[i].end - spans[i].begin - others[i]) * microsecond;
      taken.add(spans);
    };
    for (const Work& one : all) divide_among(one.spans, one.parts);
    taken.add(operators_.spans());  // where those of one thread overlap, too
    std::vector<Span> own;
    for (const auto& [number, marker] : trace_steps_.markers()) own.push_back(marker);
    if (own.empty()) own = steps_;
    divide_among(own, std::vector(own.size(), part(StepShare::python, "Python")));
    divide_among(steps_, std::vector(steps_.size(), part(StepShare::rest, "rest")));
  }

  TracedStep result(const std::function<void(const OperatorCase&)>& require) {
    TracedStep out{
        .source = file_.filename().string(), .steps = std::ssize(steps_), .has_memory = has_memory_};
    const auto steps = static_cast<double>(steps_.size());
    for (const Span& step : steps_) out.seconds += (step.end - step.begin) / steps * microsecond;
    for (Sum& one : sums_) {
      StepPart& part = one.part;
      part.seconds /= steps;
      part.per_step /= steps;
      if (part.per_step > 0)
        part.call_seconds = one.shares_calls ? part.seconds / part.per_step : median(one.calls) * microsecond;
      if (part.seconds <= 0) continue;
      try {
        for (const OperatorCase& its : part.cases) {
          if (require) require(its);
          if (std::ssize(one.names) < its.operators)
            throw Error(its.problem, "lacks others of its operators in the steps", "trace whole steps");
        }
      } catch (const Error& refused) {
        notes_.insert(fmt::format("{} is no case: {}", part.name, refused.what()));
        part.share = StepShare::not_covered;
        part.cases.clear();
      }
      out.parts.push_back(std::move(part));
    }
    double sum = 0;
    for (const StepPart& part : out.parts) sum += part.seconds;
    refuse_if(std::abs(out.seconds - sum) > 0.01 * out.seconds,
              fmt::format("the parts of a step take {}, and the step {}", seconds_text(sum),
                          seconds_text(out.seconds)),
              "operators of one thread overlap in it: record the trace again, of one process");
    std::ranges::stable_sort(out.parts, {}, [](const StepPart& p) { return std::pair(p.share, -p.seconds); });
    refuse_if(out.parts.front().share != StepShare::covered, "has no operator that is a case of a contract",
              "`assay list` names the contracts; f32 on the processor is what most of them take");
    out.notes.assign(notes_.begin(), notes_.end());
    std::ranges::move(trace_steps_.notes(), std::back_inserter(out.notes));
    return out;
  }

  const std::filesystem::path& file_;
  TraceSteps trace_steps_;
  std::size_t events_ = 0;
  bool has_operators_ = false, has_shapes_ = false, works_elsewhere_ = false, has_memory_ = false;
  std::vector<Span> steps_;
  std::map<std::string, std::vector<OperatorCall>> threads_;
  std::unordered_set<std::string> names_;
  std::deque<std::vector<TraceArgument>> kept_;
  std::vector<Sum> sums_;
  std::map<std::pair<StepShare, std::string>, std::size_t> part_numbers_;
  BusyTime operators_;
  std::set<std::string> notes_;
};

}  // namespace

double TracedStep::seconds_of(StepShare share) const {
  double out = 0;
  for (const StepPart& part : parts) out += part.share == share ? part.seconds : 0;
  return out;
}

TracedStep read_traced_step(const std::filesystem::path& file,
                            const std::function<void(const OperatorCase&)>& require) {
  return StepReader(file).run(require);
}

std::string suite_json(const TracedStep& step, const std::string& name, Index steps_per_epoch,
                       const std::string& requests) {
  std::map<std::string, double> per_step;  // by problems: calls of several operators may be one case
  for (const StepPart& part : step.parts)
    for (const OperatorCase& one : part.cases) per_step[one.operation + one.problem] += part.per_step;
  Json cases = Json::array();
  for (const StepPart& part : step.parts) {
    for (const OperatorCase& its : part.cases) {
      const auto calls = per_step.extract(its.operation + its.problem);
      if (calls.empty()) continue;
      Json one{{"op", its.operation}};
      for (const std::string_view field : parts_of(its.problem, ',')) {
        const auto equals = field.find('=');
        const std::string_view value = field.substr(equals + 1);
        const auto number = number_from<Index>(value);
        one[field.substr(0, equals)] = number ? Json(*number) : Json(std::string(value));
      }
      one["per_step"] = shortened(calls.mapped());
      one["note"] = fmt::format("{}, {} of the step, {} a call in the trace{}", part.name,
                                percent_text(part.seconds / step.seconds), seconds_text(part.call_seconds),
                                part.cases.size() > 1 ? ", all its outputs" : "");
      cases.push_back(std::move(one));
    }
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
