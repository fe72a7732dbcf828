#include "training/job/traced_step.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "training/job/operator_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace assay {
namespace {

constexpr double seconds_of_microsecond = 1e-6;
constexpr std::string_view step_call = "Optimizer.step#";
/// Draws the mask of a dropout, which is no part of the contract.
constexpr std::string_view draws = "aten::bernoulli_";
constexpr std::size_t none = static_cast<std::size_t>(-1);

/// An operator, or a note of the loop; times in microseconds.
struct Traced {
  Span span;
  std::size_t name = 0;  ///< position in the names
  std::vector<OperatorCase> cases{};
  std::size_t arguments = none;  ///< of a product, which may be a part of a case
  bool is_note = false;          ///< of the loop, or of the user: no operator
};

/// A time in which one thread worked for these parts, an equal share for each.
struct Work {
  Span span;
  std::array<std::size_t, 2> parts{none, none};
};

class StepReader {
 public:
  explicit StepReader(const std::filesystem::path& file) : file_(file), trace_steps_(file) {}

  TracedStep run(const std::function<void(const StepPart&)>& require) {
    read_trace(
        file_, [&](const TraceEvent& event) { take(event); }, /*with_arguments=*/true);
    require_shapes();
    steps_ = trace_steps_.spans(events_);
    const auto by_nesting = [](const Traced& a, const Traced& b) {
      return std::pair(a.span.begin, -a.span.end) < std::pair(b.span.begin, -b.span.end);
    };
    for (auto& [thread, events] : threads_) {
      std::ranges::stable_sort(events, by_nesting);
      std::vector<Traced> all;
      compose_attention(events, all);
      compose_lstm(events, all);
      std::ranges::move(events, std::back_inserter(all));
      std::ranges::stable_sort(all, by_nesting);
      events = std::move(all);
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
    double end = 0, cursor = 0;
    std::array<std::size_t, 2> parts{none, none};
    bool closed = false;  ///< what it calls belongs to it
  };

  void take(const TraceEvent& event) {
    ++events_;
    has_memory_ = has_memory_ || event.name == "[memory]";
    const std::optional<Span> span = event.phase == "X" ? trace_steps_.place(event) : std::nullopt;
    if (!span) return;
    const std::string_view name = event.name;
    if (event.category == "kernel" || event.category == "gpu_memcpy") works_elsewhere_ = true;
    const bool noted = event.category == "user_annotation";
    if (!noted && event.category != "cpu_op" && event.category != "Operator") return;
    Traced one{.span = *span,
               .name = name_of(event.name),
               .is_note = noted || is_fetch(name) || name.starts_with(step_call)};
    has_shapes_ = has_shapes_ || event.has_shapes;
    if (const auto number = step_number(name)) return trace_steps_.add_marker(*number, *span);
    if (is_fetch(name)) trace_steps_.add_fetch(event, *span);
    one.cases = cases_of(name, event.arguments);
    if (name == "aten::bmm" || name == "aten::linear") {
      one.arguments = kept_.size();
      kept_.push_back(event.arguments);
    }
    note_parameters(event, one.span);
    threads_[event.thread].push_back(std::move(one));
  }

  std::size_t name_of(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

  /// Adam updates each tensor by one addcdiv_, lists of them by another, or all by one fused operator.
  void note_parameters(const TraceEvent& event, Span span) {
    static const std::set<std::string_view> updates{"aten::addcdiv_", "aten::_foreach_addcdiv_",
                                                    "aten::_fused_adamw_", "aten::_fused_adam_"};
    if (!updates.contains(event.name) || event.arguments.empty()) return;
    for (const std::vector<Index>& extents : event.arguments.front().extents)
      parameters_[span.begin].push_back(elements_of(extents));
  }

  void require_shapes() const {
    if (works_elsewhere_) {
      throw Error(file_.string(),
                  "has kernels of an accelerator, where operators of the processor are launches",
                  "trace a job on the processor; `assay predict` reads this one");
    }
    if (threads_.empty()) {
      throw Error(file_.string(), "has no operators",
                  "record them: profile(activities=[ProfilerActivity.CPU], record_shapes=True)");
    }
    if (!has_shapes_) {
      throw Error(file_.string(), "has operators without shapes",
                  "record them again: profile(…, record_shapes=True)");
    }
  }

  /// The step that an event begins in; nothing outside of all.
  const Span* step_at(double time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Span::begin);
    return after == steps_.begin() || time >= std::prev(after)->end ? nullptr : &*std::prev(after);
  }

  /// Puts an event around two products with a softmax between that are attention together.
  void compose_attention(const std::vector<Traced>& events, std::vector<Traced>& found) {
    const Traced *product = nullptr, *around = nullptr, *product_around = nullptr;
    int softmaxes = 0;
    bool masked = false;
    for (const Traced& one : events) {
      const std::string_view name = names_[one.name];
      if (name == "aten::matmul") around = &one;
      if (name == "aten::_softmax") ++softmaxes;
      if (name == "aten::masked_fill" || name == "aten::masked_fill_") masked = true;
      if (name == "aten::_softmax_backward_data" || name == draws) product = nullptr;
      if (name != "aten::bmm") continue;
      const Traced& outer = around != nullptr && around->span.end >= one.span.end ? *around : one;
      if (product != nullptr && softmaxes == 1) {
        std::vector<OperatorCase> cases =
            attention_cases(kept_[product->arguments], kept_[one.arguments], masked);
        if (!cases.empty()) {
          found.push_back({.span = {product_around->span.begin, outer.span.end},
                           .name = name_of("attention of two products"),
                           .cases = std::move(cases)});
        }
      }
      product = &one;
      product_around = &outer;
      softmaxes = 0;
      masked = false;
    }
  }

  /// Puts an event around each layer of an LSTM that is composed, from the product with all inputs to the
  /// stack of all outputs.
  void compose_lstm(const std::vector<Traced>& events, std::vector<Traced>& found) {
    const Traced *lstm = nullptr, *product = nullptr;
    std::vector<OperatorCase> cases;
    for (const Traced& one : events) {
      const std::string_view name = names_[one.name];
      if (name == "aten::lstm") {
        lstm = &one;
        product = nullptr;
        cases.clear();
      }
      if (lstm == nullptr || one.span.begin >= lstm->span.end) continue;
      if (name == "aten::linear" && cases.empty()) {
        if (product != nullptr) cases = lstm_cases(kept_[product->arguments], kept_[one.arguments]);
        if (cases.empty()) product = &one;
      } else if (name == "aten::stack" && !cases.empty()) {
        found.push_back({.span = {product->span.begin, one.span.end},
                         .name = lstm->name,
                         .cases = std::exchange(cases, {})});
        product = nullptr;
      }
    }
  }

  std::size_t part(StepShare share, const std::string& name, const OperatorCase* one = nullptr) {
    const std::string key = one != nullptr ? one->operation + '/' + one->problem
                                           : fmt::format("{} {}", static_cast<int>(share), name);
    const auto [found, is_new] = part_numbers_.try_emplace(key, sums_.size());
    if (is_new) {
      sums_.push_back({.part = {.share = share, .name = name}});
      if (one != nullptr) {
        sums_.back().part.operation = one->operation;
        sums_.back().part.problem = one->problem;
      }
    }
    return found->second;
  }

  /// The sizes of the tensors that an optimizer's step updated.
  std::optional<OperatorCase> optimizer_case(const Traced& event) const {
    const std::string_view name = names_[event.name];
    if (name.find("Adam") == std::string_view::npos) return std::nullopt;
    std::vector<Index> sizes;
    for (auto one = parameters_.lower_bound(event.span.begin);
         one != parameters_.end() && one->first < event.span.end; ++one) {
      sizes.insert(sizes.end(), one->second.begin(), one->second.end());
    }
    double all = 0;
    for (const Index size : sizes) all += static_cast<double>(size);
    if (all <= 0) return std::nullopt;
    std::ranges::sort(sizes);
    // A network has a large tensor among two small ones; the largest then follows from the sum.
    const bool network = sizes.size() >= 3 && sizes.back() >= 16 * sizes[sizes.size() / 2];
    const auto count = static_cast<double>(sizes.size());
    const double equals = network ? std::ceil(count / 3) + (count - std::ceil(count / 3)) / 256 : count;
    return OperatorCase{"adamw_multi_tensor", fmt::format("tensors={},n={},sizes={},t=1000", sizes.size(),
                                                          std::max<Index>(1, std::llround(all / equals)),
                                                          network ? "network" : "equal")};
  }

  Frame opened(const Traced& event, const Frame* caller) {
    const std::string& name = names_[event.name];
    Frame out{.end = event.span.end, .cursor = event.span.begin};
    const double length = event.span.end - event.span.begin;
    std::vector<OperatorCase> cases = event.cases;
    if (event.is_note) {
      out.closed = true;
      if (is_fetch(name)) {
        out.parts[0] = part(StepShare::loading, "loading");
      } else if (const auto adam = name.starts_with(step_call) ? optimizer_case(event) : std::nullopt) {
        cases = {*adam};
      } else {
        out.parts[0] = part(StepShare::not_covered, name);
      }
    }
    for (std::size_t i = 0; i < std::min(cases.size(), out.parts.size()); ++i) {
      out.closed = true;
      out.parts[i] = part(StepShare::covered, name, &cases[i]);
      Sum& sum = sums_[out.parts[i]];
      sum.part.per_step += cases[i].calls;
      sum.calls.push_back(length / static_cast<double>(cases.size()));
      sum.shares_calls = sum.shares_calls || cases[i].calls != 1;
    }
    if (out.parts[0] != none) {
      if (cases.empty()) sums_[out.parts[0]].part.per_step += 1;
      return out;
    }
    const bool in_engine = caller != nullptr && sums_[caller->parts[0]].part.share == StepShare::autograd;
    const bool is_operator = name.find("::") != std::string::npos;
    if (name.starts_with("autograd::") || name.starts_with("torch::autograd::") ||
        (in_engine && !is_operator) || (caller == nullptr && name.ends_with("Backward0"))) {
      out.parts[0] = part(StepShare::autograd, "autograd");
    } else if (caller != nullptr && !in_engine && !caller->closed) {
      out.parts[0] = caller->parts[0];  // by the name that the program called
      return out;
    } else {
      out.parts[0] = part(StepShare::not_covered, name);
    }
    Sum& sum = sums_[out.parts[0]];
    sum.part.per_step += 1;
    sum.calls.push_back(length);
    return out;
  }

  std::vector<Work> segments_of(const std::vector<Traced>& events) {
    std::vector<Work> out;
    std::vector<Frame> open;
    const auto work = [&](Frame& frame, double until) {
      if (until > frame.cursor) out.push_back({{frame.cursor, until}, frame.parts});
      frame.cursor = std::max(frame.cursor, until);
    };
    const auto close_until = [&](double time) {
      while (!open.empty() && open.back().end <= time) {
        Frame done = open.back();
        open.pop_back();
        work(done, done.end);
        if (!open.empty()) open.back().cursor = std::max(open.back().cursor, done.end);
      }
    };
    for (const Traced& event : events) {
      const Span* step = step_at(event.span.begin);
      const std::string_view name = names_[event.name];
      const bool by_user = event.is_note && !is_fetch(name) && !name.starts_with("Optimizer.");
      if (step == nullptr || by_user) continue;  // says nothing of what runs
      close_until(event.span.begin);
      if (!open.empty() && open.back().closed) {
        Sum& around = sums_[open.back().parts[0]];
        if (name != draws || around.part.share != StepShare::covered) continue;
        around.shares_calls = true;
      }
      if (!open.empty()) work(open.back(), event.span.begin);
      Frame frame = opened(event, open.empty() ? nullptr : &open.back());
      frame.end = std::min({frame.end, step->end, open.empty() ? step->end : open.back().end});
      open.push_back(frame);
    }
    close_until(steps_.back().end + 1);
    return out;
  }

  void divide() {
    std::vector<std::vector<Work>> all;
    for (const auto& [thread, events] : threads_) all.push_back(segments_of(events));
    const auto busy = [](const std::vector<Work>& segments) {
      double sum = 0;
      for (const Work& one : segments) sum += one.span.end - one.span.begin;
      return sum;
    };
    std::ranges::stable_sort(all, std::greater{}, busy);
    BusyTime taken;
    for (const std::vector<Work>& segments : all) {
      std::vector<Span> spans;
      for (const Work& one : segments) spans.push_back(one.span);
      const std::vector<double> others = taken.within(spans);
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const double length = spans[i].end - spans[i].begin - others[i];
        const bool two = segments[i].parts[1] != none;
        for (const std::size_t part : segments[i].parts) {
          if (part != none) sums_[part].part.seconds += length / (two ? 2 : 1) * seconds_of_microsecond;
        }
      }
      for (const Span& span : spans) taken.add(span.begin, span.end);
    }
  }

  TracedStep result(const std::function<void(const StepPart&)>& require) {
    TracedStep out{
        .source = file_.filename().string(), .steps = std::ssize(steps_), .has_memory = has_memory_};
    const auto steps = static_cast<double>(steps_.size());
    for (const Span& step : steps_) out.seconds += (step.end - step.begin) / steps * seconds_of_microsecond;
    double sum = 0;
    for (Sum& one : sums_) {
      one.part.seconds /= steps;
      one.part.per_step /= steps;
      sum += one.part.seconds;
      if (one.shares_calls && one.part.per_step > 0) {
        one.part.call_seconds = one.part.seconds / one.part.per_step;
      } else if (!one.calls.empty()) {
        one.part.call_seconds = median(one.calls) * seconds_of_microsecond;
      }
      if (one.part.seconds <= 0) continue;
      if (require && one.part.share == StepShare::covered) {
        try {
          require(one.part);
        } catch (const Error& refused) {
          out.notes.push_back(fmt::format("{} is no case: {}", one.part.name, refused.what()));
          one.part.share = StepShare::not_covered;
          one.part.operation = one.part.problem = "";
        }
      }
      out.parts.push_back(std::move(one.part));
    }
    if (out.seconds - sum < -0.01 * out.seconds) {
      throw Error(file_.string(),
                  fmt::format("the parts of a step take {}, and the step {}", seconds_text(sum),
                              seconds_text(out.seconds)),
                  "the trace holds several processes: export one of each");
    }
    out.parts.push_back(
        {.share = StepShare::python, .name = "Python", .seconds = std::max(0.0, out.seconds - sum)});
    std::ranges::stable_sort(out.parts, [](const StepPart& a, const StepPart& b) {
      return std::pair(a.share, -a.seconds) < std::pair(b.share, -b.seconds);
    });
    if (out.parts.front().share != StepShare::covered) {
      throw Error(file_.string(), "has no operator that is a case of a contract",
                  "`assay list` names the contracts; f32 on the processor is what most of them take");
    }
    if (!trace_steps_.has_markers())
      out.notes.emplace_back(
          "there is no ProfilerStep#N: a step lasts from one fetch of the loader to the next");
    return out;
  }

  const std::filesystem::path& file_;
  TraceSteps trace_steps_;
  std::size_t events_ = 0;
  bool has_shapes_ = false, works_elsewhere_ = false, has_memory_ = false;
  std::vector<Span> steps_;
  std::map<std::string, std::vector<Traced>> threads_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::vector<TraceArgument>> kept_;
  std::map<double, std::vector<Index>> parameters_;  ///< sizes, by the time of the update
  std::vector<Sum> sums_;
  std::map<std::string, std::size_t> part_numbers_;
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
    if (part.share != StepShare::covered || part.per_step <= 0) continue;
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
