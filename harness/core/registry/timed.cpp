#include "core/registry/timed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

namespace assay::detail {
namespace {

/// The units of one judgement, of `count` in all: those that depend on what changed, from `touched`, and as
/// many again from anywhere. All, where they are few.
std::vector<Index> drawn_units(Index count, const std::function<Index()>& touched, Rng& rng) {
  constexpr int most_touched = 8, elsewhere = 8;
  std::vector<Index> out;
  if (count <= most_touched + elsewhere) {
    for (Index unit = 0; unit < count; ++unit) out.push_back(unit);
    return out;
  }
  if (touched) {
    for (int i = 0; i < most_touched; ++i) out.push_back(touched());
  }
  for (int i = 0; i < elsewhere; ++i) out.push_back(rng.integer(0, count - 1));
  return increasing(std::move(out));
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
      parts(contract.inputs(input.get())),
      watch(parts) {}

void Subject::make_input_again() {
  Setting again = before;
  again.placement = {};
  const Owned fresh = contract.make_input(problem.get(), again);
  const std::vector<BufferView> from = contract.inputs(fresh.get());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (from[i].size > 0) std::memcpy(parts[i].data, from[i].data, from[i].bytes());
  }
}

Owned Subject::fresh_output() const { return contract.make_output(problem.get(), input.get(), setting); }

Agreement Subject::judge(const void* expected, const void* output) const {
  return contract.judge(problem.get(), input.get(), expected, output);
}

Agreement Subject::judge_in(const void* output, std::vector<Index> units, std::uint64_t seed) const {
  Setting its = setting;
  its.rng = Rng(seed);
  its.units = std::move(units);
  return judge(contract.expect(problem.get(), input.get(), its).get(), output);
}

ErasedTimed::ErasedTimed(const ErasedVariant& variant, const Context& context, Subject& subject, void* output,
                         Rng& rng)
    : subject_(subject),
      output_(output),
      salting_{.problem = subject.problem.get(), .input = subject.input.get(), .setting = subject.setting} {
  const auto make = [&] {
    return variant.ready(subject.contract, subject.problem.get(), subject.input.get(), context);
  };
  if (!variant.prepares) {
    kernel_ = make();
    return;
  }
  const Decoy decoy(changing(subject.parts), rng);
  const auto start = std::chrono::steady_clock::now();
  kernel_ = make();
  prepare_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void ErasedTimed::arm(std::uint64_t seed, bool timed) {
  put_back();
  subject_.watch.used_by(this);
  salting_.setting.rng = Rng(seed);
  salting_.setting.timed = timed;
  choose_part();
  const bool in_units = subject_.contract.units(subject_.problem.get()).has_value();
  for (const BufferView& part : outputs()) overwrite(part, in_units);
  copy_start();
}

void ErasedTimed::repeat(Index calls) {
  subject_.watch.used_by(this);  // also by calls that belong to no slice
  kernel_->repeat(output_, calls, &salting_);
}

bool ErasedTimed::updates_in_place() const {
  return std::ranges::any_of(subject_.parts,
                             [](const BufferView& part) { return part.is_start() && part.size > 0; });
}

void ErasedTimed::note_state(std::uint64_t seed) {
  Rng rng(seed);
  if (salting_.on) salting_.next();
  salting_.on = false;  // that was for the last call, whose units are noted now
  units_ = draw_units(rng);
  noted_ = true;
  state_.clear();
  each_noted([&](std::byte*, const std::byte* now, std::size_t size) {
    state_.insert(state_.end(), now, now + size);
  });
}

std::shared_ptr<void> ErasedTimed::other_content(std::uint64_t seed) {
  const auto is_number = [](const BufferView& part) {
    return part.role == Role::constant || part.type == ElementType::f32;
  };
  if (subject_.contract.content_decides_time || !std::ranges::all_of(subject_.parts, is_number))
    return nullptr;
  put_back();
  subject_.watch.used_by(this);
  salting_.on = false;
  Rng rng(seed);
  return std::make_shared<Decoy>(changing(subject_.parts), rng);
}

Agreement ErasedTimed::settle(std::optional<std::uint64_t> seed) {
  Agreement outcome = guards_of(outputs());
  if (seed) {
    Rng rng(*seed);
    outcome = outcome & judged(rng);
  }
  put_back();
  salting_.on = false;
  const std::string_view written =
      subject_.watch.written_part(seed.has_value(), [this] { subject_.make_input_again(); });
  if (!written.empty()) blame_for_input(outcome, written);
  return outcome;
}

double ErasedTimed::changes_that_show(std::uint64_t seed, int tries) {
  Rng rng(seed);
  int shown = 0;
  for (int i = 0; i < tries; ++i) {
    arm(rng.next(), false);
    call_unwatched();
    if (!salting_.on) return 1;
    salting_.next();
    if (!settle(rng.next()).agrees) ++shown;
  }
  return static_cast<double>(shown) / tries;
}

ErasedTimed::Seen ErasedTimed::changes_seen(std::uint64_t seed, int tries) {
  Rng rng(seed);
  Seen out;
  for (int i = 0; i < tries; ++i) {
    put_back();
    salting_.setting.rng = Rng(rng.next());
    salting_.setting.timed = false;
    choose_part();
    if (!salting_.on) return out;
    copy_start();
    call_unwatched();
    salting_.next();
    if (subject_.judge_in(output_, {}, rng.next()).agrees) continue;
    ++out.whole;
    std::vector<Index> touched;
    for (int draw = 0; draw < 8; ++draw) touched.push_back(touched_by(salting_.setting.rng));
    if (!subject_.judge_in(output_, increasing(std::move(touched)), rng.next()).agrees) ++out.touched;
  }
  put_back();
  salting_.on = false;
  return out;
}

void ErasedTimed::each_start(const std::function<void(const BufferView&, const BufferView&)>& visit) const {
  const std::vector<BufferView> to = outputs();
  for (const BufferView& part : subject_.parts) {
    if (part.is_start() && part.size > 0) visit(part, to[static_cast<std::size_t>(part.updates)]);
  }
}

void ErasedTimed::copy_start() const {
  each_start(
      [](const BufferView& from, const BufferView& to) { std::memcpy(to.data, from.data, from.bytes()); });
}

/// Chooses the part that changes in this slice.
void ErasedTimed::choose_part() {
  std::vector<const BufferView*> candidates;
  for (const BufferView& part : subject_.parts) {
    if ((part.role == Role::changing || part.role == Role::permuted) && part.size > 0) {
      candidates.push_back(&part);
    }
  }
  salting_.on = !candidates.empty();
  if (!salting_.on) return;
  salting_.part = *candidates[static_cast<std::size_t>(
      salting_.setting.rng.integer(0, static_cast<Index>(candidates.size()) - 1))];
}

/// Leaves nothing in the output that a kernel could use: numbers that could be right, or, where the whole
/// output is judged, the poison of elements that were never written.
void ErasedTimed::overwrite(const BufferView& part, bool in_units) {
  part.block->mend();
  if (!in_units || part.type != ElementType::f32) return poison(part, 0, part.size);
  constexpr Index most = 1 << 14, run = 16;
  const auto draw = [&](Index begin, Index end) {
    auto* const data = reinterpret_cast<float*>(part.data);
    for (Index i = begin; i < end; ++i) data[i] = salting_.setting.draw();
  };
  if (part.size <= most) return draw(0, part.size);
  for (int line = 0; line < 64; ++line) {
    const Index at = salting_.setting.rng.integer(0, part.size - run);
    draw(at, at + run);
  }
}

/// A unit that depends on the element that changed.
Index ErasedTimed::touched_by(Rng& rng) const {
  return subject_.contract.touched(subject_.problem.get(), salting_.part.name, salting_.at, rng);
}

std::vector<Index> ErasedTimed::draw_units(Rng& rng) const {
  const auto count = subject_.contract.units(subject_.problem.get());
  if (!count) return {};
  std::function<Index()> touched;
  if (salting_.at >= 0) touched = [&] { return touched_by(rng); };
  return drawn_units(*count, touched, rng);
}

Agreement ErasedTimed::judged(Rng& rng) {
  const Glimpse glimpse(outputs(), rng);
  const std::uint64_t seed = rng.next();
  if (noted_) exchange_state();
  Agreement outcome = subject_.judge_in(output_, noted_ ? units_ : draw_units(rng), seed);
  if (noted_) exchange_state();
  const std::string_view late = glimpse.changed();
  if (!late.empty()) blame(outcome, "wrote to " + std::string(late) + " after it had returned");
  return outcome;
}

/// Makes the input what it was before the slice.
void ErasedTimed::put_back() {
  salting_.put_back();
  noted_ = false;
}

void ErasedTimed::each_noted(
    const std::function<void(std::byte*, const std::byte*, std::size_t)>& visit) const {
  each_start([&](const BufferView& before, const BufferView& now) {
    if (units_.empty()) return visit(before.data, now.data, before.bytes());
    for (const Index at : units_) visit(before.element(at), now.element(at), before.width);
  });
}

/// Exchanges the noted state and the part of the input that updates start from. Only while nobody but the
/// judge looks: a kernel could tell a noted call from others by it.
void ErasedTimed::exchange_state() {
  std::byte* next = state_.data();
  each_noted([&](std::byte* before, const std::byte*, std::size_t size) {
    std::swap_ranges(next, next + size, before);
    next += size;
  });
}

}  // namespace assay::detail
