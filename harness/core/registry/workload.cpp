#include "core/registry/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace assay::detail {
namespace {

constexpr std::size_t naive = 0;

template <class T>
T loaded(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

/// Whether two numbers differ, other than as zeros of both signs do, and as any two NaNs that were written.
template <class T>
bool numbers_differ(T a, T b) {
  if (std::isnan(a) && std::isnan(b)) return is_poison(a) != is_poison(b);
  return !(a == b);
}

bool differ(const BufferView& part, const std::byte* a, const std::byte* b) {
  if (part.type == ElementType::f32) return numbers_differ(loaded<float>(a), loaded<float>(b));
  if (part.type == ElementType::f64) return numbers_differ(loaded<double>(a), loaded<double>(b));
  return std::memcmp(a, b, part.width) != 0;
}

void negate(const BufferView& part, std::byte* element) {
  if (part.type == ElementType::f32 || part.type == ElementType::f64) {
    element[part.width - 1] ^= std::byte{0x80};
  } else if (part.is_number) {
    std::uint64_t bits = 0;  // little-endian: narrower ones come first
    std::memcpy(&bits, element, part.width);
    bits = -bits;
    std::memcpy(element, &bits, part.width);
  } else {
    std::memset(element, 0x5a, part.width);
  }
}

/// Spoils `tries` random elements of an output in each of four ways, and lists those that were judged to
/// agree all the same. The output is as before when this returns.
void spoil(const BufferView& part, Rng& rng, int tries, const std::function<bool()>& agrees,
           std::vector<std::string>& survivors) {
  if (part.size == 0) return;
  using Element = std::vector<std::byte>;
  const auto kept = [&](Index at) { return Element(part.element(at), part.element(at) + part.width); };
  const auto store = [&](Index at, const Element& value) { std::ranges::copy(value, part.element(at)); };
  for (int attempt = 0; attempt < tries; ++attempt) {
    for (const std::string_view how : {"zeroed", "negated", "unwritten", "swapped"}) {
      const Index at = rng.integer(0, part.size - 1);
      const Index next = at + 1 < part.size ? at + 1 : 0;
      const Element before = kept(at), before_next = kept(next);
      if (how == "swapped") {
        store(at, before_next);
        store(next, before);
      } else if (how == "unwritten") {
        poison(part, at, at + 1);
      } else if (how == "zeroed") {
        std::memset(part.element(at), 0, part.width);
      } else {
        negate(part, part.element(at));
      }
      if (differ(part, before.data(), part.element(at)) && agrees())
        survivors.push_back(fmt::format("{}[{}] {}", part.name, at, how));
      store(next, before_next);
      store(at, before);
    }
  }
}

/// Looks for differences between judgements of the whole output and in units, for the output that is right
/// and for `tries` that differ from it in one element of `part`, which is as before when this returns.
void compare_units(const BufferView& part, Index units, Rng& rng, int tries,
                   const std::function<Agreement()>& whole,
                   const std::function<Agreement(std::vector<Index>)>& in_units,
                   std::vector<std::string>& faults) {
  const auto between = [](Index begin, Index end) {
    std::vector<Index> out;
    for (Index unit = begin; unit < end; ++unit) out.push_back(unit);
    return out;
  };
  // How many elements were compared is said behind the semicolon.
  const auto text = [](const Agreement& found) { return found.detail.substr(0, found.detail.find(';')); };
  const auto compare = [&](const std::string& what, const Agreement& expected, const Agreement& found) {
    const bool same = expected.agrees == found.agrees && expected.worst_error == found.worst_error;
    if (same && text(expected) == text(found)) return;
    faults.push_back(what + ": whole '" + text(expected) + "', in units '" + text(found) + "'");
  };
  compare("a right output", whole(), in_units(between(0, units)));
  if (part.type != ElementType::f32) return;
  auto* const elements = reinterpret_cast<float*>(part.data);
  for (int attempt = 0; attempt < tries && part.size > 0; ++attempt) {
    const Index at = rng.integer(0, part.size - 1);
    const float before = elements[at];
    // An element that a right call does not write belongs to no unit.
    if (!std::isfinite(before)) continue;
    elements[at] += 1 + std::abs(before);
    if (const Agreement wrong = whole(); !wrong.agrees) {
      const std::string what = fmt::format("{}[{}] increased", part.name, at);
      Index low = 0, high = units;
      while (high - low > 1) {
        const Index middle = low + (high - low) / 2;
        (in_units(between(low, middle)).agrees ? low : high) = middle;
      }
      compare(what, wrong, in_units({low}));
      std::vector<Index> some{low};
      for (int i = 0; i < 8; ++i) some.push_back(rng.integer(0, units - 1));
      compare(what, wrong, in_units(increasing(some)));
    }
    elements[at] = before;
  }
}

}  // namespace

ErasedWorkload::ErasedWorkload(const ErasedContract& contract, const Variants& variants, Placing place,
                               Owned problem, Setting setting)
    : variants_(variants),
      place_(std::move(place)),
      subject_(contract, std::move(problem), std::move(setting)) {}

Agreement ErasedWorkload::check(std::size_t asked, const Context& given, double rehearsal_seconds) {
  const auto [variant, context, reason] = place_(asked, given);
  subject_.content.restore();
  static_cast<void>(expected());  // before a kernel has had the input
  const Owned output = subject_.fresh_output();
  const Rehearsal rehearsal;
  ErasedTimed timed(*variants_.at(variant), context, subject_, output.get());
  timed.repeat(1);
  Agreement outcome = guards_of(subject_.contract.outputs(output.get())) & judge(output);
  if (outcome.agrees) outcome.figures = figures(output);
  timed.note_figures(outcome.figures);
  if (variant == naive) naive_error_ = outcome.rms_error();
  const bool once = rehearsal_seconds <= 0;
  const Fill fill = subject_.setting.fill;
  if (!once && fill == Fill::uniform && variants_.at(variant)->info.precision.empty()) {
    std::string found = fewer_digits(outcome.rounded, outcome.rms_error(), naive_error(), "naive");
    if (!found.empty()) blame(outcome, std::move(found));
  }
  const std::string_view written = subject_.written_part(Content::Look::all);
  if (!written.empty()) blame_for_input(outcome, written);
  rehearsal.look_around(outcome);
  if (!once && outcome.agrees) rehearsal.take(timed, context, fill, rehearsal_seconds, outcome);
  subject_.content.restore();
  if (!once && outcome.agrees && !timed.updates_in_place() && !outcome.figures.empty()) {
    timed.repeat(1);
    std::string found = other_figures(outcome.figures, figures(output));
    if (!found.empty()) blame(outcome, std::move(found));
  }
  return outcome;
}

std::unique_ptr<Timed> ErasedWorkload::timed(std::size_t asked, const Context& given) {
  const auto [variant, context, reason] = place_(asked, given);
  if (!shared_output_) shared_output_ = subject_.fresh_output();
  return std::make_unique<ErasedTimed>(*variants_.at(variant), context, subject_, shared_output_.get());
}

double ErasedWorkload::renewals_that_show(std::uint64_t seed, int tries) {
  const Owned output = subject_.fresh_output();
  return ErasedTimed(*variants_.at(naive), Context{}, subject_, output.get()).renewals_that_show(seed, tries);
}

std::vector<std::string> ErasedWorkload::faults_of_units(std::uint64_t seed, int tries) {
  const auto units = subject_.contract.units(subject_.problem.get());
  if (!units) return {};
  std::vector<std::string> faults;
  const Owned output = written_by_naive();
  Rng rng(seed);
  const auto whole = [&] { return judge(output); };
  const auto in_units = [&](std::vector<Index> some) {
    return subject_.judge_in(output.get(), std::move(some), seed);
  };
  for (const BufferView& part : subject_.contract.outputs(output.get())) {
    compare_units(part, *units, rng, tries, whole, in_units, faults);
  }
  return faults;
}

std::vector<std::string> ErasedWorkload::surviving_corruptions(std::uint64_t seed, int tries) {
  const Owned output = written_by_naive();
  std::vector<std::string> survivors;
  Rng rng(seed);
  for (const BufferView& part : subject_.contract.outputs(output.get())) {
    spoil(
        part, rng, tries, [&] { return judge(output).agrees; }, survivors);
  }
  return survivors;
}

const void* ErasedWorkload::expected() {
  if (!expected_) {
    Setting setting = subject_.setting;
    setting.rng = Rng(secret());  // where only a sample is expected, no kernel knows which
    expected_ = subject_.contract.expect(subject_.problem.get(), subject_.input.get(), setting);
  }
  return expected_.get();
}

std::vector<Figure> ErasedWorkload::figures(const Owned& output) {
  return subject_.contract.figures(subject_.problem.get(), subject_.input.get(), expected(), output.get());
}

Owned ErasedWorkload::written_by_naive() {
  Owned output = subject_.fresh_output();
  ErasedTimed(*variants_.at(naive), Context{}, subject_, output.get()).call_unwatched();
  return output;
}

double ErasedWorkload::naive_error() {
  if (!naive_error_) naive_error_ = judge(written_by_naive()).rms_error();
  return *naive_error_;
}

}  // namespace assay::detail
