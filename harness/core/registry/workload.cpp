#include "core/registry/workload.hpp"

#include "core/registry/content.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace assay::detail {
namespace {

constexpr std::size_t naive = 0;

/// Notes the parts whose guard bytes changed.
Agreement guards_of(const std::vector<BufferView>& parts) {
  Agreement outcome;
  for (const BufferView& part : parts) {
    if (part.block->intact()) continue;
    outcome.reject("wrote outside " + std::string(part.name) +
                   ": the guard bytes before or after it changed");
  }
  return outcome;
}

/// Notes that a part of the input was written to. Whatever else was found may come from that.
void blame_for_input(Agreement& outcome, std::string_view part) {
  outcome.agrees = true;
  outcome.reject("wrote into its input " + std::string(part));
}

/// Copies of drawn lines of an output, by which it is seen that somebody still writes to it.
class Glimpse {
 public:
  Glimpse(const std::vector<BufferView>& parts, Rng& rng) {
    constexpr Index most_lines = 32;
    for (const BufferView& part : parts) {
      constexpr std::size_t line = std::tuple_size_v<decltype(Line::bytes)>;
      const auto count = static_cast<Index>((part.bytes() + line - 1) / line);
      for (Index i = 0; i < std::min(count, most_lines); ++i) {
        const auto begin =
            static_cast<std::size_t>(count <= most_lines ? i : rng.integer(0, count - 1)) * line;
        Line next{.part = part.name,
                  .at = part.data + begin,
                  .bytes = {},
                  .size = std::min(line, part.bytes() - begin)};
        std::memcpy(next.bytes.data(), next.at, next.size);
        lines_.push_back(next);
      }
    }
  }
  /// The part that changed since; empty when none did.
  std::string_view changed() const {
    for (const Line& line : lines_) {
      if (std::memcmp(line.bytes.data(), line.at, line.size) != 0) return line.part;
    }
    return {};
  }

 private:
  struct Line {
    std::string_view part;
    const std::byte* at;
    std::array<std::byte, 64> bytes;
    std::size_t size;
  };
  std::vector<Line> lines_;
};

/// Returns the units in the order of Setting::units, each once.
std::vector<Index> increasing(std::vector<Index> units) {
  std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

/// How bad figures of an output are; nothing where none is compared, or tells.
struct Badness {
  std::optional<double> gap;   ///< the largest
  std::optional<double> part;  ///< the largest part of the way from the bound to an answer without work
};

Badness badness_of(std::span<const Figure> figures) {
  Badness out;
  for (const Figure& one : figures) {
    const auto gap = one.better == Figure::Better::neither ? std::nullopt : gap_of(one);
    if (!gap) continue;
    out.gap = std::max(out.gap.value_or(0), *gap);
    if (one.worst && *one.worst != *one.bound)
      out.part = std::max(out.part.value_or(0), (one.value - *one.bound) / (*one.worst - *one.bound));
  }
  return out;
}

/// A problem with its input, and what is known of it.
struct Subject {
  const ErasedContract& contract;
  Owned problem;
  Owned shown;      ///< the same as variants are handed it
  Setting setting;  ///< its random numbers go on from where those of the input ended
  Setting before;   ///< the same before the input was made
  Owned input;
  Content content;  ///< of the input

  Subject(const ErasedContract& its_contract, Owned its_problem, Setting its_setting)
      : contract(its_contract),
        problem(std::move(its_problem)),
        shown(contract.problem(without_content(contract.values(problem.get()), contract.rules))),
        setting(std::move(its_setting)),
        before(setting),
        input(contract.make_input(problem.get(), setting)),
        content(contract.inputs(input.get()), {problem.get(), input.get(), setting}) {}

  /// As Content::written_part(). The input is made again, in the same memory, where one was written to.
  std::string_view written_part(Content::Look look) {
    return content.written_part(look, [this] {
      Setting again = before;
      again.placement = {};
      const Owned fresh = contract.make_input(problem.get(), again);
      const std::vector<BufferView> from = contract.inputs(fresh.get());
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i].size > 0) std::memcpy(content.parts()[i].data, from[i].data, from[i].bytes());
      }
    });
  }
  Owned fresh_output() const { return contract.make_output(problem.get(), input.get(), setting); }
  Agreement judge(const void* expected, const void* output) const {
    return contract.judge(problem.get(), input.get(), expected, output);
  }
  /// Judges those units of an output, or all of it when there are none, by an expectation of its own. Of all
  /// of it, it has the figures as well.
  Agreement judge_in(const void* output, std::vector<Index> units, std::uint64_t seed) const {
    Setting its = setting;
    its.rng = Rng(seed);
    its.units = std::move(units);
    const Owned expected = contract.expect(problem.get(), input.get(), its);
    Agreement outcome = judge(expected.get(), output);
    if (outcome.agrees && its.units.empty()) {
      outcome.figures = contract.figures(problem.get(), input.get(), expected.get(), output);
    }
    return outcome;
  }
};

/// A kernel that is ready to be timed: each call with another input, and judged afterwards.
class ErasedTimed final : public Timed {
 public:
  /// Prepares the variant on other content than it will be called with, but for constant and steady parts.
  ErasedTimed(const ErasedVariant& variant, const Context& context, Subject& subject, void* output)
      : subject_(subject), output_(output) {
    const void* problem = subject.shown.get();
    if (subject.contract.has_helpers(subject.problem.get())) helpers_ = variant.helpers(problem);
    const auto make = [&] { return variant.ready(subject.contract, problem, subject.input.get(), context); };
    if (!variant.prepares) {
      kernel_ = make();
      return;
    }
    subject.content.renew(secret(), Renewal::untimed);
    const auto start = std::chrono::steady_clock::now();
    kernel_ = make();
    prepare_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    subject.content.restore();
  }

  void arm(std::uint64_t seed) override {
    Rng rng(seed);
    subject_.content.used_by(this);
    const bool in_units = subject_.contract.units(subject_.problem.get()).has_value();
    for (const BufferView& part : outputs()) overwrite(part, in_units, rng);
    each_start(
        [](const BufferView& from, const BufferView& to) { std::memcpy(to.data, from.data, from.bytes()); });
    units_.clear();
    if (updates_in_place()) units_ = draw_units(secret());
  }
  void renew(std::uint64_t seed, Renewal what) override {
    subject_.content.renew(seed, what);
    if (!updates_in_place()) return;
    state_.clear();
    each_noted([&](std::byte*, const std::byte* now, std::size_t size) {
      state_.insert(state_.end(), now, now + size);
    });
  }
  bool nudge(bool change) override { return subject_.content.nudge(change); }
  void repeat(Index calls) override {
    subject_.content.used_by(this);  // also by calls that belong to no slice
    kernel_->repeat(output_, calls);
  }
  bool waits_for_device() const override { return kernel_->waits_for_device(); }
  double bytes() const override {
    double out = 0;
    for (const BufferView& part : subject_.content.parts()) out += static_cast<double>(part.bytes());
    for (const BufferView& part : outputs()) out += static_cast<double>(part.bytes());
    return out;
  }
  std::optional<double> own_seconds() override { return kernel_->own_seconds(); }
  double prepare_seconds() const override { return prepare_seconds_; }
  Index helpers() const override { return helpers_; }
  bool updates_in_place() const override {
    return std::ranges::any_of(subject_.content.parts(),
                               [](const BufferView& part) { return part.is_start() && part.size > 0; });
  }
  Agreement judge(std::uint64_t seed) override {
    Rng rng(seed);
    const Glimpse glimpse(outputs(), rng);
    const bool is_lazy = leaves_pages_to_the_judge();
    const bool in_place = updates_in_place();
    const std::uint64_t seed_of_expectation = rng.next();
    if (in_place) exchange_state();
    Agreement outcome =
        subject_.judge_in(output_, in_place ? units_ : draw_units(rng.next()), seed_of_expectation);
    if (in_place) exchange_state();
    compare_figures(outcome);
    const std::string_view late = glimpse.changed();
    if (!late.empty()) outcome.reject("wrote to " + std::string(late) + " after it had returned");
    if (is_lazy) outcome.reject("did not write its output: its pages were made when the judge read them");
    return outcome;
  }
  std::vector<Figure> figures_of_first_content() override {
    if (!subject_.contract.has_figures()) return {};
    subject_.content.restore();
    repeat(1);
    return subject_.judge_in(output_, {}, secret()).figures;
  }
  Agreement settle(bool due) override {
    Agreement outcome = guards_of(outputs());
    const std::string_view written =
        subject_.written_part(due ? Content::Look::drawn_blocks : Content::Look::none);
    if (!written.empty()) blame_for_input(outcome, written);
    return outcome;
  }

  /// Notes how bad figures of an output that is right are.
  void note(const Badness& now) {
    if (now.gap) least_.gap = std::min(least_.gap.value_or(*now.gap), *now.gap);
    if (now.part) least_.part = std::min(least_.part.value_or(*now.part), *now.part);
  }
  /// One call, of which nobody is told.
  void call_unwatched() { kernel_->repeat(output_, 1); }

 private:
  std::vector<BufferView> outputs() const { return subject_.contract.outputs(output_); }

  /// Reads a byte of each page of the output, and returns whether most calls that were judged left them to be
  /// made then: memory that was given back reads as zeros, at the expense of who reads it.
  bool leaves_pages_to_the_judge() {
    constexpr Index page = 4096, pages_of_a_large_one = 512, enough = 3;
    const auto faults = [] {
      rusage used{};
      getrusage(RUSAGE_THREAD, &used);
      return static_cast<Index>(used.ru_minflt);
    };
    const Index before = faults();
    Index pages = 0;
    for (const BufferView& part : outputs()) {
      const volatile std::byte* const data = part.data;
      for (std::size_t at = 0; at < part.bytes(); at += page, ++pages) static_cast<void>(data[at]);
    }
    ++judged_;
    // The system may take some away by itself.
    if (faults() - before > 2 + pages / (2 * pages_of_a_large_one)) ++left_pages_;
    return left_pages_ >= enough && 2 * left_pages_ > judged_;
  }

  /// Calls visit(start, the part of the output that it starts).
  void each_start(const std::function<void(const BufferView&, const BufferView&)>& visit) const {
    const std::vector<BufferView> to = outputs();
    for (const BufferView& part : subject_.content.parts()) {
      if (part.is_start() && part.size > 0) visit(part, to[static_cast<std::size_t>(part.updates)]);
    }
  }

  /// Leaves nothing in the output that a kernel could use: numbers that could be right, or, where the whole
  /// output is judged, the poison of elements that were never written.
  void overwrite(const BufferView& part, bool in_units, Rng& rng) const {
    part.block->mend();
    if (!in_units || part.type != ElementType::f32) return poison(part);
    constexpr Index most = 1 << 12, run = 16;
    Setting setting{.fill = subject_.setting.fill, .rng = Rng(rng.next())};
    const auto draw = [&](Index begin, Index end) {
      auto* const data = reinterpret_cast<float*>(part.data);
      for (Index i = begin; i < end; ++i) data[i] = setting.draw();
    };
    if (part.size <= most) return draw(0, part.size);
    if (subject_.setting.placement.shared) {  // the right answer of another side would be there
      draw(0, most);
      const std::size_t drawn = most * sizeof(float);
      for (std::size_t at = drawn; at < part.bytes(); at += drawn)
        std::memcpy(part.data + at, part.data, std::min(drawn, part.bytes() - at));
      return;
    }
    for (int line = 0; line < 64; ++line) {
      const Index at = setting.rng.integer(0, part.size - run);
      draw(at, at + run);
    }
  }

  /// The units of one judgement: all, where they are few.
  std::vector<Index> draw_units(std::uint64_t seed) const {
    constexpr int most = 16;
    const Index count = subject_.contract.units(subject_.problem.get()).value_or(0);
    Rng rng(seed);
    std::vector<Index> out;
    for (Index unit = 0; unit < std::min<Index>(count, most); ++unit) {
      out.push_back(count <= most ? unit : rng.integer(0, count - 1));
    }
    return increasing(std::move(out));
  }

  /// Calls visit(bytes of the input, of the output, how many) for everything updated in place that was noted.
  void each_noted(const std::function<void(std::byte*, const std::byte*, std::size_t)>& visit) const {
    each_start([&](const BufferView& before, const BufferView& now) {
      if (units_.empty()) return visit(before.data, now.data, before.bytes());
      for (const Index at : units_) visit(before.element(at), now.element(at), before.width);
    });
  }

  /// Exchanges the noted state and the part of the input that updates start from, while only the judge looks.
  void exchange_state() {
    std::byte* next = state_.data();
    each_noted([&](std::byte* before, const std::byte*, std::size_t size) {
      std::swap_ranges(next, next + size, before);
      next += size;
    });
  }

  /// Notes that the output is far worse than others that it was compared with.
  void compare_figures(Agreement& outcome) {
    // Heuristics are lucky with some inputs, and seldom as bad as twice the best with others. Who never does
    // much is as bad with all of them as an answer without work is there.
    constexpr double far = 1;
    constexpr int enough = 3;
    const std::vector<Figure> figures = std::exchange(outcome.figures, {});
    const Badness now = badness_of(figures);
    note(now);
    if (!now.gap || *now.gap <= far + 2 * *least_.gap) return;
    if (now.part && *now.part <= 2 * *least_.part) return;
    if (++far_worse_ < enough) return;
    outcome.reject(
        fmt::format("is far worse in some calls than in others: {}, where it had a gap of {:.2f} %",
                    in_words(figures), 100 * *least_.gap));
  }

  Subject& subject_;
  void* output_;
  std::unique_ptr<ReadyKernel> kernel_;
  double prepare_seconds_ = 0;
  Index helpers_ = 0;
  std::vector<Index> units_;      ///< of a state that calls update: those that are noted; empty: all
  std::vector<std::byte> state_;  ///< the next call starts from it
  Badness least_;                 ///< of the best output
  int far_worse_ = 0;             ///< outputs
  Index judged_ = 0;              ///< outputs
  Index left_pages_ = 0;          ///< those with pages that nobody had written
};

class ErasedWorkload final : public Workload {
 public:
  ErasedWorkload(const ErasedContract& contract, const Variants& variants, Placing place, Owned problem,
                 Setting setting)
      : variants_(variants),
        place_(std::move(place)),
        subject_(contract, std::move(problem), std::move(setting)) {}

  Cost cost() const override { return subject_.contract.cost(subject_.problem.get()); }

  Agreement check(std::size_t asked, const Context& given, double rehearsal_seconds) override {
    const auto [variant, context, reason] = place_(asked, given);
    subject_.content.restore();
    static_cast<void>(expected());  // before a kernel has had the input
    const Owned output = subject_.fresh_output();
    const Rehearsal rehearsal;
    ErasedTimed timed(*variants_.at(variant), context, subject_, output.get());
    timed.repeat(1);
    Agreement outcome = guards_of(subject_.contract.outputs(output.get())) & judge(output);
    if (outcome.agrees) outcome.figures = figures(output);
    timed.note(badness_of(outcome.figures));
    if (variant == naive) naive_error_ = outcome.rms_error();
    const bool once = rehearsal_seconds <= 0;
    const Fill fill = subject_.setting.fill;
    if (!once && fill == Fill::uniform && variants_.at(variant)->info.precision.empty()) {
      std::string found = fewer_digits(outcome.rounded, outcome.rms_error(), naive_error(), "naive");
      if (!found.empty()) outcome.reject(std::move(found));
    }
    const std::string_view written = subject_.written_part(Content::Look::all);
    if (!written.empty()) blame_for_input(outcome, written);
    const bool rehearses = !once && outcome.agrees;
    rehearsal.look_around(outcome, !rehearses);
    if (rehearses) rehearsal.take(timed, context, fill, rehearsal_seconds, outcome);
    subject_.content.restore();
    if (!once && outcome.agrees && !timed.updates_in_place() && !outcome.figures.empty()) {
      timed.repeat(1);
      std::string found = other_figures(outcome.figures, figures(output));
      if (!found.empty()) outcome.reject(std::move(found));
    }
    return outcome;
  }

  std::unique_ptr<Timed> timed(std::size_t asked, const Context& given) override {
    const auto [variant, context, reason] = place_(asked, given);
    if (!shared_output_) shared_output_ = subject_.fresh_output();
    return std::make_unique<ErasedTimed>(*variants_.at(variant), context, subject_, shared_output_.get());
  }

  NaiveOutput naive_output(std::uint64_t seed) override {
    Owned output = written_by_naive();
    void* const its = output.get();
    return {.inputs = subject_.content.parts(),
            .outputs = subject_.contract.outputs(its),
            .units = subject_.contract.units(subject_.problem.get()),
            .judge = [this, its] { return subject_.judge(expected(), its); },
            .judge_in =
                [this, its, seed](std::vector<Index> units) {
                  return subject_.judge_in(its, increasing(std::move(units)), seed);
                },
            .owned = std::move(output)};
  }

 private:
  const void* expected() {
    if (!expected_) {
      Setting setting = subject_.setting;
      setting.rng = Rng(secret());  // where only a sample is expected, no kernel knows which
      expected_ = subject_.contract.expect(subject_.problem.get(), subject_.input.get(), setting);
    }
    return expected_.get();
  }
  Agreement judge(const Owned& output) { return subject_.judge(expected(), output.get()); }
  std::vector<Figure> figures(const Owned& output) {
    return subject_.contract.figures(subject_.problem.get(), subject_.input.get(), expected(), output.get());
  }
  Owned written_by_naive() {
    Owned output = subject_.fresh_output();
    ErasedTimed(*variants_.at(naive), Context{}, subject_, output.get()).call_unwatched();
    return output;
  }
  double naive_error() {
    if (!naive_error_) naive_error_ = judge(written_by_naive()).rms_error();
    return *naive_error_;
  }

  const Variants& variants_;
  Placing place_;
  Subject subject_;
  Owned expected_{nullptr, nullptr};
  Owned shared_output_{nullptr, nullptr};
  std::optional<double> naive_error_;  ///< root mean square, in units of the bound
};

}  // namespace

void poison(const BufferView& part) {
  const auto fill = [&](const auto& value) {
    for (Index i = 0; i < part.size; ++i) std::memcpy(part.element(i), &value, sizeof value);
  };
  if (part.type == ElementType::f32) return fill(poison_value<float>());
  if (part.type == ElementType::f64) return fill(poison_value<double>());
  std::memset(part.data, poison_value<std::uint8_t>(), part.bytes());  // whatever the type
}

std::unique_ptr<Workload> workload_of(const ErasedContract& contract, const Variants& variants, Placing place,
                                      Owned problem, Setting setting) {
  return std::make_unique<ErasedWorkload>(contract, variants, std::move(place), std::move(problem),
                                          std::move(setting));
}

}  // namespace assay::detail
