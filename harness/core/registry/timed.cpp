#include "core/registry/timed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

namespace assay::detail {
namespace {

/// The units of one judgement, of `count` in all: all, where they are few.
std::vector<Index> drawn_units(Index count, Rng& rng) {
  constexpr int most = 16;
  std::vector<Index> out;
  for (Index unit = 0; unit < std::min<Index>(count, most); ++unit) {
    out.push_back(count <= most ? unit : rng.integer(0, count - 1));
  }
  return increasing(std::move(out));
}

/// The largest gap among figures that are compared; nothing where there is none.
std::optional<double> largest_gap(std::span<const Figure> figures) {
  std::optional<double> out;
  for (const Figure& one : figures) {
    if (one.better == Figure::Better::neither) continue;
    if (const auto gap = gap_of(one)) out = std::max(out.value_or(0), *gap);
  }
  return out;
}

}  // namespace

std::vector<Index> increasing(std::vector<Index> units) {
  std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

Subject::Subject(const ErasedContract& its_contract, Owned its_problem, Setting its_setting)
    : contract(its_contract),
      problem(std::move(its_problem)),
      setting(std::move(its_setting)),
      before(setting),
      input(contract.make_input(problem.get(), setting)),
      content(contract.inputs(input.get()), {problem.get(), input.get(), setting}) {}

std::string_view Subject::written_part(Content::Look look) {
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

Owned Subject::fresh_output() const { return contract.make_output(problem.get(), input.get(), setting); }

Agreement Subject::judge(const void* expected, const void* output) const {
  return contract.judge(problem.get(), input.get(), expected, output);
}

Agreement Subject::judge_in(const void* output, std::vector<Index> units, std::uint64_t seed) const {
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

ErasedTimed::ErasedTimed(const ErasedVariant& variant, const Context& context, Subject& subject, void* output)
    : subject_(subject), output_(output) {
  const void* problem = subject.problem.get();
  if (subject.contract.has_helpers(problem)) helpers_ = variant.helpers(problem);
  const auto make = [&] {
    return variant.ready(subject.contract, subject.problem.get(), subject.input.get(), context);
  };
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

void ErasedTimed::arm(std::uint64_t seed) {
  Rng rng(seed);
  subject_.content.used_by(this);
  const bool in_units = subject_.contract.units(subject_.problem.get()).has_value();
  for (const BufferView& part : outputs()) overwrite(part, in_units, rng);
  copy_start();
  units_.clear();
  if (updates_in_place()) units_ = draw_units(secret());
}

void ErasedTimed::renew(std::uint64_t seed, Renewal what) {
  subject_.content.renew(seed, what);
  if (!updates_in_place()) return;
  state_.clear();
  each_noted([&](std::byte*, const std::byte* now, std::size_t size) {
    state_.insert(state_.end(), now, now + size);
  });
}

void ErasedTimed::repeat(Index calls) {
  subject_.content.used_by(this);  // also by calls that belong to no slice
  kernel_->repeat(output_, calls);
}

double ErasedTimed::bytes() const {
  double out = 0;
  for (const BufferView& part : subject_.content.parts()) out += static_cast<double>(part.bytes());
  for (const BufferView& part : outputs()) out += static_cast<double>(part.bytes());
  return out;
}

bool ErasedTimed::updates_in_place() const {
  return std::ranges::any_of(subject_.content.parts(),
                             [](const BufferView& part) { return part.is_start() && part.size > 0; });
}

Agreement ErasedTimed::judge(std::uint64_t seed) {
  Rng rng(seed);
  const Glimpse glimpse(outputs(), rng);
  const bool in_place = updates_in_place();
  const std::uint64_t seed_of_expectation = rng.next();
  if (in_place) exchange_state();
  Agreement outcome =
      subject_.judge_in(output_, in_place ? units_ : draw_units(rng.next()), seed_of_expectation);
  if (in_place) exchange_state();
  compare_figures(outcome);
  const std::string_view late = glimpse.changed();
  if (!late.empty()) blame(outcome, "wrote to " + std::string(late) + " after it had returned");
  return outcome;
}

std::vector<Figure> ErasedTimed::figures_of_first_content() {
  if (!subject_.contract.has_figures()) return {};
  subject_.content.restore();
  repeat(1);
  return subject_.judge_in(output_, {}, secret()).figures;
}

void ErasedTimed::note_figures(std::span<const Figure> figures) {
  const auto gap = largest_gap(figures);
  if (gap) least_gap_ = std::min(least_gap_.value_or(*gap), *gap);
}

void ErasedTimed::compare_figures(Agreement& outcome) {
  // Heuristics are lucky with some inputs, and seldom as bad as twice the best with others.
  constexpr double far = 1;
  constexpr int enough = 3;
  const std::vector<Figure> figures = std::exchange(outcome.figures, {});
  note_figures(figures);
  const auto gap = largest_gap(figures);
  if (!gap || *gap <= far + 2 * *least_gap_ || ++far_worse_ < enough) return;
  blame(outcome, fmt::format("is far worse in some calls than in others: {}, where it had a gap of {:.2f} %",
                             in_words(figures), 100 * *least_gap_));
}

Agreement ErasedTimed::settle(bool due) {
  Agreement outcome = guards_of(outputs());
  const std::string_view written =
      subject_.written_part(due ? Content::Look::drawn_blocks : Content::Look::none);
  if (!written.empty()) blame_for_input(outcome, written);
  return outcome;
}

double ErasedTimed::renewals_that_show(std::uint64_t seed, int tries) {
  if (std::ranges::all_of(subject_.content.parts(), [](const BufferView& part) {
        return part.size == 0 || part.role == Role::steady || part.role == Role::constant;
      }))
    return 1;
  Rng rng(seed);
  int shown = 0;
  for (int i = 0; i < tries; ++i) {
    arm(rng.next());
    renew(rng.next(), Renewal::untimed);
    call_unwatched();
    renew(rng.next(), Renewal::untimed);
    if (!judge(rng.next()).agrees) ++shown;
  }
  subject_.content.restore();
  return static_cast<double>(shown) / tries;
}

void ErasedTimed::each_start(const std::function<void(const BufferView&, const BufferView&)>& visit) const {
  const std::vector<BufferView> to = outputs();
  for (const BufferView& part : subject_.content.parts()) {
    if (part.is_start() && part.size > 0) visit(part, to[static_cast<std::size_t>(part.updates)]);
  }
}

void ErasedTimed::copy_start() const {
  each_start(
      [](const BufferView& from, const BufferView& to) { std::memcpy(to.data, from.data, from.bytes()); });
}

/// Leaves nothing in the output that a kernel could use: numbers that could be right, or, where the whole
/// output is judged, the poison of elements that were never written.
void ErasedTimed::overwrite(const BufferView& part, bool in_units, Rng& rng) const {
  part.block->mend();
  if (!in_units || part.type != ElementType::f32) return poison(part, 0, part.size);
  constexpr Index most = 1 << 14, run = 16;
  Setting setting{.fill = subject_.setting.fill, .rng = Rng(rng.next())};
  const auto draw = [&](Index begin, Index end) {
    auto* const data = reinterpret_cast<float*>(part.data);
    for (Index i = begin; i < end; ++i) data[i] = setting.draw();
  };
  if (part.size <= most) return draw(0, part.size);
  for (int line = 0; line < 64; ++line) {
    const Index at = setting.rng.integer(0, part.size - run);
    draw(at, at + run);
  }
}

std::vector<Index> ErasedTimed::draw_units(std::uint64_t seed) const {
  const auto count = subject_.contract.units(subject_.problem.get());
  if (!count) return {};
  Rng rng(seed);
  return drawn_units(*count, rng);
}

void ErasedTimed::each_noted(
    const std::function<void(std::byte*, const std::byte*, std::size_t)>& visit) const {
  each_start([&](const BufferView& before, const BufferView& now) {
    if (units_.empty()) return visit(before.data, now.data, before.bytes());
    for (const Index at : units_) visit(before.element(at), now.element(at), before.width);
  });
}

/// Exchanges the noted state and the part of the input that updates start from. Only while nobody but the
/// judge looks.
void ErasedTimed::exchange_state() {
  std::byte* next = state_.data();
  each_noted([&](std::byte* before, const std::byte*, std::size_t size) {
    std::swap_ranges(next, next + size, before);
    next += size;
  });
}

}  // namespace assay::detail
