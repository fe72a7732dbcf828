/// Makes an Operation of a Contract: the only place where both the types and their erasure are known.
#pragma once

#include "assay/error.hpp"
#include "assay/operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {
class Surroundings;
}

namespace assay::detail {

/// A part whose type does not matter.
struct PartBytes {
  std::string_view name;
  std::byte* data = nullptr;
  std::size_t width = 1, size = 0;  ///< of an element, and of all, in bytes
};

template <class T>
PartBytes bytes_of(std::string_view name, Buffer<T>& buffer) {
  return {name, reinterpret_cast<std::byte*>(buffer.data()), sizeof(T),
          static_cast<std::size_t>(buffer.size()) * sizeof(T)};
}

/// All buffers of an input or an output.
template <class Owner>
std::vector<PartBytes> all_parts(Owner& owner) {
  return std::apply(
      [&](const auto&... parts) { return std::vector<PartBytes>{bytes_of(parts.name, parts.of(owner))...}; },
      Owner::parts());
}

template <class Op>
std::vector<PartBytes> changing_parts(typename Op::Input& input) {
  std::vector<PartBytes> out;
  const auto take = [&](const auto& part) {
    if (part.role != Role::constant) out.push_back(bytes_of(part.name, part.of(input)));
  };
  std::apply([&](const auto&... parts) { (take(parts), ...); }, Op::Input::parts());
  return out;
}

/// Other content in the same memory, for as long as this lives: each part turned by a drawn number of
/// elements, which keeps every one of them valid.
class Decoy {
 public:
  Decoy(std::vector<PartBytes> parts, Rng& rng);
  ~Decoy();
  Decoy(const Decoy&) = delete;
  Decoy& operator=(const Decoy&) = delete;

 private:
  std::vector<PartBytes> parts_;
  std::vector<std::size_t> turned_;  ///< bytes
};

/// A hash of the bytes of all parts, one of each.
std::vector<std::uint64_t> digests_of(const std::vector<PartBytes>& parts);

/// Copies of drawn lines of an output, by which it is seen that somebody still writes to it.
class Glimpse {
 public:
  Glimpse(const std::vector<PartBytes>& parts, Rng& rng);
  /// The part that changed since; empty when none did.
  std::string_view changed() const;

 private:
  struct Line {
    std::string_view part;
    const std::byte* at;
    std::array<std::byte, 64> bytes;
    std::size_t size;
  };
  std::vector<Line> lines_;
};

/// Watches the parts of an input, and tells who wrote to them.
class InputWatch {
 public:
  explicit InputWatch(std::vector<PartBytes> parts);
  /// From now on `user` has the input as well.
  void used_by(const void* user);
  /// The part that changed since it was last looked at, when nobody but one user can have done it; empty when
  /// none did, or when it is not known yet who it was: everybody is then looked at in turn.
  /// Calls `make_again` when anything changed. Large inputs are looked at when it is `due` or when somebody
  /// is sought.
  std::string_view written_part(bool due, const std::function<void()>& make_again);

 private:
  std::vector<PartBytes> parts_;
  std::vector<std::uint64_t> digests_;
  std::vector<const void*> users_;
  bool small_ = true, seeking_ = false;
};

/// Notes in `outcome`, if it agreed until now, that it does not, and why.
void blame(Agreement& outcome, std::string detail);

/// Notes that a part of the input was written to. Whatever else was found may come from that.
void blame_for_input(Agreement& outcome, std::string_view part);

/// Notes that errors are far larger than those of naive: something was computed with fewer digits.
void compare_precision(Agreement& outcome, double naive_error);

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

/// A few slices of calls of a kernel that is prepared after this was made, each judged.
class Rehearsal {
 public:
  Rehearsal();
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;
  /// Notes in `outcome` what the kernel did not leave as it was.
  void look_around(Agreement& outcome) const;
  /// Notes in `outcome` what was wrong.
  void take(Timed& timed, const Context& context, Fill fill, Agreement& outcome) const;

 private:
  std::unique_ptr<const Surroundings> before_;
};

template <class T>
inline constexpr bool is_start = false;
template <class Input, class Output, class T>
inline constexpr bool is_start<StartPart<Input, Output, T>> = true;

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
      kernel_ = variant.prepare(problem, input, context);
    }
  }
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
    }
  }

 private:
  void (*run_)(const typename Op::Problem&, const typename Op::Input&, typename Op::Output&);
  typename Variant<Op>::Kernel kernel_;
  const typename Op::Problem& problem_;
  const typename Op::Input& input_;
};

/// Spoils `tries` random elements of an output in each of the four ways of
/// Operation::surviving_corruptions(), and lists those that were judged to agree all the same. The output is
/// as before when this returns.
template <class T>
void spoil(std::string_view part, Buffer<T>& buffer, Rng& rng, int tries, const std::function<bool()>& agrees,
           std::vector<std::string>& survivors) {
  if (buffer.size() == 0) return;
  for (int attempt = 0; attempt < tries; ++attempt) {
    for (const std::string_view how : {"zeroed", "negated", "unwritten", "swapped"}) {
      const Index at = rng.integer(0, buffer.size() - 1);
      const Index next = at + 1 < buffer.size() ? at + 1 : 0;
      const T before = buffer[at], before_next = buffer[next];
      if (how == "swapped") {
        std::swap(buffer[at], buffer[next]);
      } else if (how == "unwritten") {
        buffer[at] = poison_value<T>();
      } else if constexpr (std::is_arithmetic_v<T>) {
        buffer[at] = how == "zeroed" ? T{} : static_cast<T>(-before);
      } else {
        std::memset(&buffer[at], how == "zeroed" ? 0 : 0x5a, sizeof(T));
      }
      bool changed = std::memcmp(&before, &buffer[at], sizeof(T)) != 0;
      // -0 for 0 is not a corruption.
      if constexpr (std::is_arithmetic_v<T>) changed = changed && (how == "swapped" || before != buffer[at]);
      if (changed && agrees()) {
        survivors.push_back(std::string(part) + "[" + std::to_string(at) + "] " + std::string(how));
      }
      buffer[next] = before_next;
      buffer[at] = before;
    }
  }
}

/// Looks for differences between judgements of the whole output and in units, for the output that is right
/// and for `tries` that differ from it in one element of `buffer`, which is as before when this returns.
void compare_units(std::string_view part, Buffer<float>& buffer, Index units, Rng& rng, int tries,
                   const std::function<Agreement()>& whole,
                   const std::function<Agreement(std::vector<Index>)>& in_units,
                   std::vector<std::string>& faults);

[[noreturn]] void throw_takes_no_file(std::string_view operation, const std::filesystem::path& file);

template <Contract Op>
Agreement guards_of(const typename Op::Output& output) {
  Agreement outcome;
  const auto look = [&](const auto& part) {
    if (!part.of(output).guards_intact()) {
      blame(outcome,
            "wrote outside " + std::string(part.name) + ": the guard bytes before or after it changed");
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

  void arm(std::uint64_t seed) override {
    put_back();
    shared_.watch.used_by(this);
    setting_.rng = Rng(seed);
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
  double changes_that_show(int tries) {
    int shown = 0;
    for (int i = 0; i < tries; ++i) {
      arm(secret());
      runner_(output_, 1);
      if (salt_ == nullptr) return 1;
      (this->*salt_)();
      if (!settle(secret()).agrees) ++shown;
    }
    return static_cast<double>(shown) / tries;
  }

  /// Changes that are seen in the whole output, and those of them that are in units drawn by touched().
  struct Seen {
    int whole = 0, touched = 0;
  };
  /// Looks at `tries` changes of one element of the input.
  Seen changes_seen(int tries) requires JudgedInUnits<Op> {
    Seen out;
    for (int i = 0; i < tries; ++i) {
      put_back();
      setting_.rng = Rng(secret());
      choose_part();
      if (salt_ == nullptr) return out;
      copy_start();
      runner_(output_, 1);
      (this->*salt_)();
      if (judged_in(shared_, output_, {}, secret()).agrees) continue;
      ++out.whole;
      std::vector<Index> touched;
      for (int draw = 0; draw < 8; ++draw) touched.push_back(touched_by(setting_.rng));
      if (!judged_in(shared_, output_, increasing(std::move(touched)), secret()).agrees) ++out.touched;
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
      std::ranges::copy(std::as_const(part.of(shared_.input)), (output_.*part.updated).begin());
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
      auto& now = output_.*part.updated;
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

template <Contract Op>
class TypedWorkload final : public Workload {
 public:
  using Problem = typename Op::Problem;
  using Input = typename Op::Input;
  using Output = typename Op::Output;

  TypedWorkload(const std::vector<Variant<Op>>& variants, const Problem& problem, Setting setting)
      : variants_(variants), case_(problem, std::move(setting)) {}

  Cost cost() const override { return Op::cost(case_.problem); }

  Agreement check(std::size_t variant, const Context& context, bool once) override {
    static_cast<void>(expected());  // before a kernel has had the input
    Output output = fresh_output();
    Rng rng(secret());
    const Rehearsal rehearsal;
    TypedTimed<Op> timed(variants_.at(variant), context, case_, output, rng);
    case_.watch.used_by(&timed);
    timed.repeat(1);
    Agreement outcome = guards_of<Op>(output) & Op::judge(case_.problem, case_.input, expected(), output);
    if (variant == 0) naive_error_ = outcome.rms_error();
    if (!once && case_.setting.fill == Fill::uniform && variants_.at(variant).precision.empty()) {
      compare_precision(outcome, naive_error());
    }
    const std::string_view written = case_.watch.written_part(true, [this] { case_.make_input_again(); });
    if (!written.empty()) blame_for_input(outcome, written);
    rehearsal.look_around(outcome);
    if (!once && outcome.agrees) rehearsal.take(timed, context, case_.setting.fill, outcome);
    return outcome;
  }

  std::string remark(std::size_t variant, const Context& context) override {
    if constexpr (requires(const Problem& p, const Input& in, const typename Op::Expected& want,
                           const Output& out) { Op::remark(p, in, want, out); }) {
      Output output = fresh_output();
      prepared(variant, context)(output, 1);
      return Op::remark(case_.problem, case_.input, expected(), output);
    } else {
      return {};
    }
  }

  std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) override {
    if (!shared_output_) shared_output_.emplace(fresh_output());
    Rng rng(secret());
    return std::make_unique<TypedTimed<Op>>(variants_.at(variant), context, case_, *shared_output_, rng);
  }

  double changes_that_show(int tries) override {
    Output output = fresh_output();
    Rng rng(secret());
    TypedTimed<Op> naive(variants_.front(), Context{}, case_, output, rng);
    return naive.changes_that_show(tries);
  }

  std::vector<std::string> faults_of_units(std::uint64_t seed, int tries) override {
    std::vector<std::string> faults;
    if constexpr (JudgedInUnits<Op>) {
      Output output = fresh_output();
      Rng rng(seed);
      TypedTimed<Op> naive(variants_.front(), Context{}, case_, output, rng);
      const auto seen = naive.changes_seen(tries);
      if (2 * seen.touched < seen.whole) {
        faults.push_back("of " + std::to_string(seen.whole) + " changes of the input that show, " +
                         std::to_string(seen.touched) + " show in units that touched() draws");
      }
      output = fresh_output();
      naive.repeat(1);
      const auto whole = [&] { return Op::judge(case_.problem, case_.input, expected(), output); };
      const auto in_units = [&](std::vector<Index> units) {
        return judged_in(case_, output, std::move(units), seed);
      };
      const auto each = [&](const auto& part) {
        compare_units(part.name, part.of(output), Op::units(case_.problem), rng, tries, whole, in_units,
                      faults);
      };
      std::apply([&](const auto&... parts) { (each(parts), ...); }, Output::parts());
    }
    return faults;
  }

  std::vector<std::string> surviving_corruptions(std::uint64_t seed, int tries) override {
    Output output = fresh_output();
    prepared(0, Context{})(output, 1);
    std::vector<std::string> survivors;
    Rng rng(seed);
    const auto agrees = [&] { return Op::judge(case_.problem, case_.input, expected(), output).agrees; };
    const auto each = [&](const auto& part) {
      spoil(part.name, part.of(output), rng, tries, agrees, survivors);
    };
    std::apply([&](const auto&... parts) { (each(parts), ...); }, Output::parts());
    return survivors;
  }

 private:
  Output fresh_output() { return Op::make_output(case_.problem, case_.input, case_.setting); }

  Runner<Op> prepared(std::size_t variant, const Context& context) {
    Rng rng(secret());
    return Runner<Op>(variants_.at(variant), case_.problem, case_.input, context, rng);
  }

  const typename Op::Expected& expected() {
    if (!expected_) {
      Setting setting = case_.setting;
      setting.rng = Rng(secret());  // where only a sample is expected, no kernel knows which
      expected_.emplace(Op::expect(case_.problem, case_.input, setting));
    }
    return *expected_;
  }

  double naive_error() {
    if (!naive_error_) {
      Output output = fresh_output();
      prepared(0, Context{})(output, 1);
      naive_error_ = Op::judge(case_.problem, case_.input, expected(), output).rms_error();
    }
    return *naive_error_;
  }

  const std::vector<Variant<Op>>& variants_;
  Case<Op> case_;
  std::optional<typename Op::Expected> expected_;
  std::optional<double> naive_error_;  ///< root mean square, in units of the bound
  std::optional<Output> shared_output_;
};

template <Contract Op>
class TypedOperation final : public Operation {
 public:
  using Problem = typename Op::Problem;

  /// `origin` has the source, line and code of the variant. An edit here can change how compilers inline the
  /// registration, which is part of each variant's code: every variant is then measured anew.
  void add(Variant<Op> variant, const VariantInfo& origin = {}) {
    const std::string where = std::string(Op::name) + "/" + variant.name;
    if ((variant.run != nullptr) == static_cast<bool>(variant.prepare)) {
      throw Error(where, "registered with both or neither of run and prepare", "set exactly one");
    }
    const auto at = std::ranges::find_if(variants_, [&](const Variant<Op>& other) {
      return before(variant.name, other.name) || variant.name == other.name;
    });
    if (at != variants_.end() && at->name == variant.name) {
      throw Error(where, "registered twice", "rename one of the two variants");
    }
    VariantInfo info = origin;
    info.name = variant.name;
    info.summary = variant.summary;
    info.known_bad = variant.known_bad;
    info.known_cheat = variant.known_cheat;
    info.known_honest = variant.known_honest;
    info.threaded = variant.threaded;
    info_.insert(info_.begin() + (at - variants_.begin()), std::move(info));
    variants_.insert(at, std::move(variant));
  }

  std::string_view name() const override { return Op::name; }
  std::string_view about() const override { return Op::about; }
  int version() const override { return Op::version; }
  std::vector<FieldRule> fields() const override { return field_rules<Problem>(); }
  std::vector<Fill> fills() const override { return {Op::fills.begin(), Op::fills.end()}; }
  const std::vector<VariantInfo>& variants() const override { return info_; }

  std::vector<std::string> corner_cases() const override {
    std::vector<std::string> out;
    for (const Problem& problem : Op::corner_cases()) out.push_back(to_text(problem));
    return out;
  }

  std::string canonical(std::string_view where, std::string_view problem) const override {
    return to_text(parse_problem<Problem>(where, problem));
  }
  std::string problem_of(const std::filesystem::path& file) const override {
    if constexpr (requires { Op::problem_of(file); }) {
      return to_text(Op::problem_of(file));
    } else {
      throw_takes_no_file(Op::name, file);
    }
  }
  double footprint(std::string_view problem) const override { return Op::footprint(parse(problem)); }
  Cost cost(std::string_view problem) const override { return Op::cost(parse(problem)); }

  std::optional<std::string> unfit(std::size_t variant, std::string_view problem,
                                   const Context& context) const override {
    const Variant<Op>& v = variants_.at(variant);
    return v.unfit ? v.unfit(parse(problem), context) : std::nullopt;
  }

  std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const override {
    return std::make_unique<TypedWorkload<Op>>(variants_, parse(problem), std::move(setting));
  }

 private:
  static Problem parse(std::string_view problem) { return parse_problem<Problem>(Op::name, problem); }
  static bool before(std::string_view a, std::string_view b) {
    if (a == "naive" || b == "naive") return a == "naive" && b != "naive";
    return a < b;
  }

  std::vector<Variant<Op>> variants_;
  std::vector<VariantInfo> info_;
};

}  // namespace assay::detail
