/// Kernels of a Contract that are ready to be timed: each call with another input, and judged afterwards.
#pragma once

#include "assay/detail/parts.hpp"
#include "assay/detail/untyped.hpp"
#include "assay/operation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::detail {

/// Whether a problem's output can be judged in pieces.
template <class Op>
concept JudgedInUnits = requires(const typename Op::Problem problem, Rng& rng) {
  { Op::units(problem) } -> std::same_as<Index>;
  { Op::touched(problem, std::string_view(), Index(), rng) } -> std::same_as<Index>;
};

/// The units of one judgement, of `count` in all: those that depend on what changed, from `touched`, and as
/// many again from anywhere. All, where they are few.
std::vector<Index> drawn_units(Index count, const std::function<Index()>& touched, Rng& rng);
/// Those units in the order of Setting::units, each once.
std::vector<Index> increasing(std::vector<Index> units);

/// Stores another valid value of an element of an input.
template <class Op, class T>
void salt_element(const typename Op::Problem& problem, const typename Op::Input& input, std::string_view part,
                  Index at, T& element, Setting& setting) {
  if constexpr (requires { Op::salt(problem, input, part, at, element, setting); }) {
    Op::salt(problem, input, part, at, element, setting);
  } else if constexpr (std::is_same_v<T, float>) {
    element = setting.draw();
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    element = setting.rng.next();
  } else {
    static_assert(
        std::is_same_v<T, float>,
        "define salt(problem, input, part, at, element, setting) in the contract, for elements that "
        "are no float, or declare the part steady or constant");
  }
}

/// A ready kernel: a plain function or a prepared object, called without further indirection than its own.
template <Contract Op>
class Runner {
 public:
  /// The variant is prepared on other content than it will be called with, but for constant parts.
  Runner(const Variant<Op>& variant, const typename Op::Problem& problem, typename Op::Input& input,
         const Context& context, Rng& rng)
      : run_(variant.run), problem_(problem), input_(input) {
    if (variant.prepare) {
      const Decoy decoy(changing_parts<Op>(input), rng);
      const auto start = std::chrono::steady_clock::now();
      kernel_ = variant.prepare(problem, input, context);
      prepare_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (const auto* untyped = kernel_.template target<UntypedCall<Op>>()) ready_ = untyped->ready();
    }
  }
  double prepare_seconds() const { return prepare_seconds_; }
  void operator()(typename Op::Output& output, Index calls) const {
    repeat(output, calls, [] {});
  }
  /// Calls `before` ahead of each call.
  template <class Before>
  void repeat(typename Op::Output& output, Index calls, const Before& before) const {
    if (run_ != nullptr) {
      for (Index i = 0; i < calls; ++i) {
        before();
        run_(problem_, input_, output);
      }
    } else {
      for (Index i = 0; i < calls; ++i) {
        before();
        kernel_(input_, output);
      }
      if (ready_.finish) ready_.finish();
    }
  }
  std::optional<double> own_seconds() const {
    return ready_.seconds ? std::optional(ready_.seconds()) : std::nullopt;
  }

 private:
  void (*run_)(const typename Op::Problem&, const typename Op::Input&, typename Op::Output&);
  typename Variant<Op>::Kernel kernel_;
  UntypedVariant::Ready ready_;  ///< what such a kernel has besides its call
  double prepare_seconds_ = 0;
  const typename Op::Problem& problem_;
  const typename Op::Input& input_;
};

template <Contract Op>
Agreement guards_of(const typename Op::Output& output) {
  Agreement outcome;
  const auto look = [&](const auto& part) {
    if (!part.of(output).guards_intact()) {
      blame(outcome, "wrote outside " + std::string(name_of(part, output)) +
                         ": the guard bytes before or after it changed");
    }
  };
  std::apply([&](const auto&... parts) { (look(parts), ...); }, Op::Output::parts());
  return outcome;
}

/// A problem with its input, and what is known of it.
template <Contract Op>
struct Case {
  typename Op::Problem problem;
  Setting setting;  ///< whose numbers go on from where those of the input ended
  Setting before;   ///< the same before the input was made
  typename Op::Input input;
  InputWatch watch;

  Case(const typename Op::Problem& its_problem, Setting its_setting)
      : problem(its_problem),
        setting(std::move(its_setting)),
        before(setting),
        input(Op::make_input(problem, setting)),
        watch(all_parts(input)) {}

  /// Fills the input again, in the same memory.
  void make_input_again() {
    Setting again = before;
    again.placement = {};
    typename Op::Input fresh = Op::make_input(problem, again);
    const auto copy = [&](const auto& part) {
      std::ranges::copy(std::as_const(part.of(fresh)), part.of(input).begin());
    };
    std::apply([&](const auto&... parts) { (copy(parts), ...); }, Op::Input::parts());
  }
};

/// Judges those units of an output, or all of it when there are none, by an expectation of its own.
template <Contract Op>
Agreement judged_in(const Case<Op>& shared, const typename Op::Output& output, std::vector<Index> units,
                    std::uint64_t seed) {
  Setting setting = shared.setting;
  setting.rng = Rng(seed);
  setting.units = std::move(units);
  return Op::judge(shared.problem, shared.input, Op::expect(shared.problem, shared.input, setting), output);
}

template <Contract Op>
class TypedTimed final : public Timed {
 public:
  using Input = typename Op::Input;
  using Output = typename Op::Output;

  TypedTimed(const Variant<Op>& variant, const Context& context, Case<Op>& shared, Output& output, Rng& rng)
      : runner_(variant, shared.problem, shared.input, context, rng),
        shared_(shared),
        output_(output),
        setting_(shared.setting) {}
  ~TypedTimed() override { put_back(); }

  void arm(std::uint64_t seed, bool timed) override {
    put_back();
    shared_.watch.used_by(this);
    setting_.rng = Rng(seed);
    setting_.timed = timed;
    choose_part();
    std::apply([&](const auto&... parts) { (overwrite(parts), ...); }, Output::parts());
    copy_start();
  }

  void repeat(Index calls) override {
    shared_.watch.used_by(this);  // also by calls that belong to no slice
    runner_.repeat(output_, calls, [this] {
      if (salt_ != nullptr) (this->*salt_)();
    });
  }

  std::optional<double> own_seconds() override { return runner_.own_seconds(); }

  double prepare_seconds() const override { return runner_.prepare_seconds(); }

  bool may_have_helpers() const override {
    if constexpr (requires { Op::has_helpers(shared_.problem); }) {
      return Op::has_helpers(shared_.problem);
    } else {
      return false;
    }
  }

  bool updates_in_place() const override {
    bool found = false;
    each_start([&](const auto& part) { found = found || part.of(shared_.input).size() > 0; });
    return found;
  }

  void note_state(std::uint64_t seed) override {
    Rng rng(seed);
    if (salt_ != nullptr) (this->*salt_)();
    salt_ = nullptr;  // that was for the last call, whose units are noted now
    units_ = draw_units(rng);
    noted_ = true;
    state_.clear();
    each_noted([&](const auto&, const auto& now) { keep(now); });
  }

  bool with_other_content(std::uint64_t seed, const std::function<void()>& work) override {
    bool numbers = true;
    const auto look = [&](const auto& part) {
      using T = std::remove_cvref_t<decltype(part.of(std::declval<Input&>())[0])>;
      numbers = numbers && (part.role == Role::constant || std::is_same_v<T, float>);
    };
    std::apply([&](const auto&... parts) { (look(parts), ...); }, Input::parts());
    if (!numbers) return false;
    put_back();
    shared_.watch.used_by(this);
    salt_ = nullptr;
    Rng rng(seed);
    const Decoy decoy(changing_parts<Op>(shared_.input), rng);
    work();
    return true;
  }

  Agreement settle(std::optional<std::uint64_t> seed) override {
    Agreement outcome = guards_of<Op>(output_);
    if (seed) {
      Rng rng(*seed);
      outcome = outcome & judged(rng);
    }
    put_back();
    salt_ = nullptr;
    const std::string_view written =
        shared_.watch.written_part(seed.has_value(), [this] { shared_.make_input_again(); });
    if (!written.empty()) blame_for_input(outcome, written);
    return outcome;
  }

  /// As Workload::changes_that_show().
  double changes_that_show(std::uint64_t seed, int tries) {
    Rng rng(seed);
    int shown = 0;
    for (int i = 0; i < tries; ++i) {
      arm(rng.next(), false);
      runner_(output_, 1);
      if (salt_ == nullptr) return 1;
      (this->*salt_)();
      if (!settle(rng.next()).agrees) ++shown;
    }
    return static_cast<double>(shown) / tries;
  }

  /// Changes that are seen in the whole output, and those of them that are in units drawn by touched().
  struct Seen {
    int whole = 0, touched = 0;
  };
  /// Looks at `tries` changes of one element of the input.
  Seen changes_seen(std::uint64_t seed, int tries) requires JudgedInUnits<Op> {
    Rng rng(seed);
    Seen out;
    for (int i = 0; i < tries; ++i) {
      put_back();
      setting_.rng = Rng(rng.next());
      setting_.timed = false;
      choose_part();
      if (salt_ == nullptr) return out;
      copy_start();
      runner_(output_, 1);
      (this->*salt_)();
      if (judged_in(shared_, output_, {}, rng.next()).agrees) continue;
      ++out.whole;
      std::vector<Index> touched;
      for (int draw = 0; draw < 8; ++draw) touched.push_back(touched_by(setting_.rng));
      if (!judged_in(shared_, output_, increasing(std::move(touched)), rng.next()).agrees) ++out.touched;
    }
    put_back();
    salt_ = nullptr;
    return out;
  }

 private:
  template <std::size_t k>
  static constexpr auto input_part() {
    return std::get<k>(Input::parts());
  }

  template <class Visit>
  static void each_start(const Visit& visit) {
    const auto look = [&](const auto& part) {
      if constexpr (is_start<std::remove_cvref_t<decltype(part)>>) visit(part);
    };
    std::apply([&](const auto&... parts) { (look(parts), ...); }, Input::parts());
  }

  void copy_start() {
    each_start([&](const auto& part) {
      std::ranges::copy(std::as_const(part.of(shared_.input)), part.updated_in(output_).begin());
    });
  }

  template <std::size_t k>
  void salt() {
    constexpr auto part = input_part<k>();
    auto& buffer = part.of(shared_.input);
    if (salted_ >= 0) put_back_part<k>();
    salted_ = setting_.rng.integer(0, buffer.size() - 1);
    if constexpr (part.role == Role::permuted) {
      swapped_ = setting_.rng.integer(0, buffer.size() - 1);
      std::swap(buffer[salted_], buffer[swapped_]);
    } else {
      std::memcpy(kept_.data(), &buffer[salted_], sizeof buffer[0]);
      salt_element<Op>(shared_.problem, shared_.input, part.name, salted_, buffer[salted_], setting_);
    }
  }
  template <std::size_t k>
  void put_back_part() {
    constexpr auto part = input_part<k>();
    auto& buffer = part.of(shared_.input);
    if constexpr (part.role == Role::permuted) {
      std::swap(buffer[salted_], buffer[swapped_]);
    } else {
      std::memcpy(&buffer[salted_], kept_.data(), sizeof buffer[0]);
    }
  }
  /// A unit that depends on the element that changed.
  Index touched_by(Rng& rng) const {
    std::string_view changed;
    each_index([&]<std::size_t k>() {
      if (k == part_) changed = input_part<k>().name;
    });
    return Op::touched(shared_.problem, changed, salted_, rng);
  }

  /// Chooses the part that changes in this slice.
  void choose_part() {
    std::vector<std::size_t> candidates;
    each_index([&]<std::size_t k>() {
      constexpr auto part = input_part<k>();
      if constexpr (part.role == Role::changing || part.role == Role::permuted) {
        if (part.of(shared_.input).size() > 0) candidates.push_back(k);
      }
    });
    salt_ = nullptr;
    if (candidates.empty()) return;
    part_ = candidates[static_cast<std::size_t>(
        setting_.rng.integer(0, static_cast<Index>(candidates.size()) - 1))];
    each_index([&]<std::size_t k>() {
      constexpr auto part = input_part<k>();
      if constexpr (part.role == Role::changing || part.role == Role::permuted) {
        if (k == part_) salt_ = &TypedTimed::salt<k>;
      }
    });
  }

  template <class Visit>
  static void each_index(const Visit& visit) {
    constexpr std::size_t count = std::tuple_size_v<decltype(Input::parts())>;
    [&]<std::size_t... k>(std::index_sequence<k...>) { (visit.template operator()<k>(), ...); }
    (std::make_index_sequence<count>());
  }

  /// What the output holds before a slice tells nothing: numbers that could be right, or what says that they
  /// were never written where the whole output is judged.
  template <class P>
  void overwrite(const P& part) {
    auto& buffer = part.of(output_);
    buffer.mend_guards();
    using T = std::remove_reference_t<decltype(buffer[0])>;
    if constexpr (JudgedInUnits<Op> && std::is_same_v<T, float>) {
      constexpr Index most = 1 << 14, run = 16;
      if (buffer.size() <= most) {
        for (float& x : buffer) x = setting_.draw();
      } else {
        for (int line = 0; line < 64; ++line) {
          const Index at = setting_.rng.integer(0, buffer.size() - run);
          for (Index i = at; i < at + run; ++i) buffer[i] = setting_.draw();
        }
      }
    } else {
      buffer.poison();
    }
  }

  std::vector<Index> draw_units(Rng& rng) const {
    if constexpr (JudgedInUnits<Op>) {
      std::function<Index()> touched;
      if (salted_ >= 0) touched = [&] { return touched_by(rng); };
      return drawn_units(Op::units(shared_.problem), touched, rng);
    } else {
      return {};
    }
  }

  Agreement judged(Rng& rng) {
    const Glimpse glimpse(all_parts(output_), rng);
    const std::uint64_t seed = rng.next();
    if (noted_) exchange_state();
    Agreement outcome = judged_in(shared_, output_, noted_ ? units_ : draw_units(rng), seed);
    if (noted_) exchange_state();
    const std::string_view late = glimpse.changed();
    if (!late.empty()) blame(outcome, "wrote to " + std::string(late) + " after it had returned");
    return outcome;
  }

  /// Makes the input what it was before the slice.
  void put_back() {
    if (salted_ >= 0) {
      each_index([&]<std::size_t k>() {
        if constexpr (input_part<k>().role == Role::changing || input_part<k>().role == Role::permuted) {
          if (k == part_) put_back_part<k>();
        }
      });
      salted_ = -1;
    }
    noted_ = false;
  }

  /// Calls visit(element of the input, of the output) for each that was noted of what is updated in place.
  template <class Visit>
  void each_noted(const Visit& visit) {
    each_start([&](const auto& part) {
      auto& before = part.of(shared_.input);
      auto& now = part.updated_in(output_);
      if (before.size() == 0) return;
      if (units_.empty()) {
        for (Index at = 0; at < before.size(); ++at) visit(before[at], now[at]);
      } else {
        for (const Index at : units_) visit(before[at], now[at]);
      }
    });
  }

  /// Puts what was noted in the place of what the input says that updates start from, and the other way
  /// round. Only while nobody but the judge looks: a kernel could tell a noted call from others by it.
  void exchange_state() {
    std::size_t next = 0;
    each_noted([&](auto& before, const auto&) {
      std::array<std::byte, sizeof before> kept;
      std::memcpy(kept.data(), &before, sizeof before);
      std::memcpy(&before, state_.data() + next, sizeof before);
      std::memcpy(state_.data() + next, kept.data(), sizeof before);
      next += sizeof before;
    });
  }

  template <class T>
  void keep(const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    state_.insert(state_.end(), bytes, bytes + sizeof value);
  }

  Runner<Op> runner_;
  Case<Op>& shared_;
  Output& output_;
  Setting setting_;  ///< whose numbers are secret
  void (TypedTimed::*salt_)() = nullptr;
  std::size_t part_ = 0;              ///< of the input, that changes
  Index salted_ = -1;                 ///< its element that is not as it was
  Index swapped_ = -1;                ///< the one that it changed places with
  std::array<std::byte, 64> kept_{};  ///< what that held
  bool noted_ = false;
  std::vector<Index> units_;
  std::vector<std::byte> state_;  ///< that the last call of an armed slice started from
};

}  // namespace assay::detail
