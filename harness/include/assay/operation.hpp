/// Operations: contracts with their variants. A contract is a type that satisfies `Contract`; the rest of
/// the harness sees it through `Operation` and `Workload`, which know no types.
#pragma once

#include "assay/agreement.hpp"
#include "assay/buffer.hpp"
#include "assay/code_table.hpp"
#include "assay/detail/callable.hpp"
#include "assay/problem.hpp"
#include "assay/random.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace assay {

/// The ways to fill inputs. `exact`: small non-zero integers, so that every order of summation gives the same
/// bits and the bound is zero. `uniform`: numbers in [-1, 1), judged by the contract's rounding bound.
/// `offset`: the same around 10,000, where formulas that cancel lose the digits that count.
enum class Fill { exact, uniform, offset };
std::string_view to_string(Fill fill);

/// The setting in which one workload is made: its fill, its random numbers, and where its buffers live.
struct Setting {
  Fill fill = Fill::exact;
  Rng rng{1};
  Placement placement;
  /// The file that a problem from outside was read from, for contracts that define problem_of(); else empty.
  std::string file;
  /// The units of the output that an expectation is wanted for, in increasing order; empty: all of them. For
  /// contracts that define units(), and passed over by all others.
  std::vector<Index> units;
  /// Whether a call is timed: salt() then stores no value that spares the call some of its work.
  bool timed = false;
  /// Whether salt() changes nothing but its element, which then should show.
  bool alone = false;

  template <class T>
  Buffer<T> buffer(Index count) const {
    return Buffer<T>(count, placement);
  }
  /// One input number of this fill.
  float draw() {
    if (fill == Fill::exact) return rng.small_integer();
    const double mean = fill == Fill::offset ? 1e4 : 0;
    return static_cast<float>(mean + rng.uniform(-1, 1));
  }
  /// A number that, in place of one of this fill, changes a sum of `terms` products of them by more than
  /// the bound of that sum, terms^2 2^-24 times the size of a product.
  float draw_that_shows(Index terms) {
    if (fill == Fill::exact) return rng.small_integer();
    const double n = static_cast<double>(terms), sign = rng.unit() < 0.5 ? -1 : 1;
    return static_cast<float>(sign * rng.uniform(1, 2) * std::max(1.0, 4 * n * n * 0x1p-24));
  }
};

/// Work of one call by the definition of the contract, not by what a variant happens to do.
struct Cost {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  bool f32 = true;  ///< the arithmetic is f32, the only kind whose roof is measured
  /// The work in `flops` and `bytes_read` that a right kernel may do without, such as products with padding.
  /// The rest makes a time that no kernel can beat, see floor_of().
  double avoidable_flops = 0, avoidable_bytes = 0;
};

/// The resources that a variant may use while it runs.
struct Context {
  int threads = 1;
};

/// The change of a part of an input before each call of a prepared kernel.
enum class Role {
  changing,  ///< all elements change places, fractions of numbers flip, and one gets another value
  permuted,  ///< all elements change places
  redrawn,   ///< every element gets another value by the contract's salt()
  steady,    ///< nothing: no other value would be valid by itself
  constant   ///< nothing, and a kernel may rely on it from its preparation on
};

/// A buffer of an input or an output, with the name that messages use. Each of its extents, for FromParts, is
/// a member of the Problem, data or function, a function of the Problem, or a number.
template <class Owner, class T, class... Extents>
struct Part {
  using Element = T;
  std::string_view name;
  Buffer<T> Owner::*member;
  std::tuple<Extents...> extents;
  Role role = Role::changing;  ///< of an input

  constexpr Part as(Role its_role) const { return {name, member, extents, its_role}; }
  Buffer<T>& of(Owner& owner) const { return owner.*member; }
  const Buffer<T>& of(const Owner& owner) const { return owner.*member; }
};
template <class Owner, class T, class... Extents>
constexpr Part<Owner, T, Extents...> part(std::string_view name, Buffer<T> Owner::*member,
                                          Extents... extents) {
  return {name, member, {extents...}};
}
constexpr auto permuted(std::string_view name, auto member, auto... extents) {
  return part(name, member, extents...).as(Role::permuted);
}
constexpr auto redrawn(std::string_view name, auto member, auto... extents) {
  return part(name, member, extents...).as(Role::redrawn);
}
constexpr auto steady(std::string_view name, auto member, auto... extents) {
  return part(name, member, extents...).as(Role::steady);
}
/// Frozen weights, for example, which Variant::prepare may pack.
constexpr auto constant(std::string_view name, auto member, auto... extents) {
  return part(name, member, extents...).as(Role::constant);
}

/// One of several buffers of a part.
template <class Owner, class T, std::size_t count, class... Extents>
struct PartOfArray {
  using Element = T;
  std::string_view name;
  std::array<Buffer<T>, count> Owner::*member;
  std::size_t at = 0;
  std::tuple<Extents...> extents;
  Role role = Role::changing;

  Buffer<T>& of(Owner& owner) const { return (owner.*member)[at]; }
  const Buffer<T>& of(const Owner& owner) const { return (owner.*member)[at]; }
};
template <class Owner, class T, std::size_t count, class... Extents>
constexpr PartOfArray<Owner, T, count, Extents...> part(std::string_view name,
                                                        std::array<Buffer<T>, count> Owner::*member,
                                                        std::size_t at, Extents... extents) {
  return {name, member, at, {extents...}};
}

/// A part of an input that make_output() copies into a part of the output, which calls update in place. Empty
/// where a problem does not read it.
template <class Input, class Output, class T, class... Extents>
struct StartPart : Part<Input, T, Extents...> {
  Buffer<T> Output::*updated;

  Buffer<T>& updated_in(Output& output) const { return output.*updated; }
};
template <class Input, class Output, class T, class... Extents>
constexpr StartPart<Input, Output, T, Extents...> start(std::string_view name, Buffer<T> Input::*member,
                                                        Buffer<T> Output::*updated, Extents... extents) {
  return {{name, member, {extents...}, Role::steady}, updated};
}

/// The definition of a hot path. `Input`, `Output` and `Expected` own their buffers. What follows from the
/// extents of the parts need not be written: see FromParts.
///
/// Before each call that is timed the input gets other content, all of it, and of drawn calls the output is
/// judged: a kernel that answers with what it computed before is found out, and gains nothing. Input::parts()
/// says which parts there are, and which of them a kernel may rely on from its preparation on. An element has
/// to be valid in any place of its part, but in parts that are redrawn(), steady() or constant().
///
/// It may define, besides:
///   void salt(const Problem&, const Input&, std::string_view part, Index at, T& element, Setting&): stores
///     another valid value in the element `at` of that part. Called for each element of a part that is
///     redrawn(), which holds what make_input() gave it, and for one element of any part, which then should
///     change the output by more than its bound. Needed where Setting::draw() makes no such value, and for
///     elements of redrawn() parts that are no numbers.
///   Index terms(const Problem&): the terms of the longest sum that an element of the input is in. The one
///     element then changes by Setting::draw_that_shows() in place of draw(), without salt().
///   Index units(const Problem&): the number of pieces of the output that can be judged apart. expect() and
///     judge() then keep to Setting::units. Where the output is updated in place, a unit is an element of
///     each start part. Without it the whole output is judged every time, which is for outputs that cost
///     little to judge beside the calls that make them.
///   bool has_helpers(const Problem&): whether the problem itself asks for threads besides those of the
///     trial, as loaders with workers do. Variants then say how many they use (Variant::helpers). No other
///     kernel may work on more threads than it was given.
///   Problem problem_of(const std::filesystem::path&): the problem that a user's file holds. make_input()
///     then reads Setting::file. Throws Error naming the file, the line and what to do.
///   std::vector<Figure> figures(problem, input, expected, output): what a right output is worth besides its
///     time, such as the height of a plan and its lower bound. Reads nothing but its arguments, since figures
///     of two builds are compared exactly.
template <class Op>
concept Contract = requires(const typename Op::Problem problem, const typename Op::Input input,
                            const typename Op::Expected expected, const typename Op::Output output,
                            Setting& setting) {
  { Op::name } -> std::convertible_to<std::string_view>;
  { Op::about } -> std::convertible_to<std::string_view>;  // one line, with the formula
  { Op::version } -> std::convertible_to<int>;             // raised when inputs or meaning change
  { Op::fills.front() } -> std::convertible_to<Fill>;      // those that make sense; the last is timed
  Op::Problem::fields();  // Listed field(…), option(…), of_content(…), or a tuple of them; parts likewise
  Op::Input::parts();     // part(…), permuted(…), …, start(…): all buffers of an input
  Op::Output::parts();    // part(…): guarded and corrupted
  { Op::corner_cases() } -> std::same_as<std::vector<typename Op::Problem>>;
  { Op::footprint(problem) } -> std::same_as<double>;  // bytes of input, output and expectation
  { Op::make_input(problem, setting) } -> std::same_as<typename Op::Input>;
  { Op::make_output(problem, input, setting) } -> std::same_as<typename Op::Output>;
  { Op::expect(problem, input, setting) } -> std::same_as<typename Op::Expected>;
  { Op::judge(problem, input, expected, output) } -> std::same_as<Agreement>;
  { Op::cost(problem) } -> std::same_as<Cost>;
};

/// The demand on a variant. A sound variant agrees with the oracle and is timed; the others are kept to show
/// that the harness rejects bad ones and cheats, and passes honest ones.
enum class Kin { sound, known_bad, known_cheat, known_honest };

/// One implementation of a contract. Exactly one of `run` and `prepare` is set.
template <Contract Op>
struct Variant {
  using Problem = typename Op::Problem;
  using Input = typename Op::Input;
  using Output = typename Op::Output;
  /// The call that is timed. It keeps no pointer into an output between calls, and allocates nothing.
  using Kernel = detail::Callable<void(const Input&, Output&)>;

  // Texts are copied when the variant is added: they must live until then, and may end with that call.

  /// The idea in snake_case (`packed`), with `@tier` where one source is compiled for several.
  std::string_view name{};
  /// The idea in one line.
  std::string_view summary{};
  /// The variant whose idea this one takes further, without its tier: a step of the ladder from naive that
  /// reports show with what each step gained. Empty for those that are no step.
  std::string_view after{};
  /// Set for an optimization that was published and is wrong: where, and what it gets wrong. It is never
  /// planned or timed; `assay check --known-bad` demands that it is rejected. Empty for every other variant.
  std::string_view known_bad{};
  /// Set for a kernel that tries to be timed for less than its work: the trick, and where it was seen. Like
  /// those that are known to be bad it stays apart; `assay check --known-cheats` demands that it is rejected.
  std::string_view known_cheat{};
  /// Set for a kernel that does nothing wrong and looks as if it did: why. It stays apart as well, and the
  /// same command demands that it passes.
  std::string_view known_honest{};
  /// The arithmetic, where it is less precise than the contract's type, such as "products of bf16". Without
  /// it, errors may be no larger than 8 times those of naive (root mean square).
  std::string_view precision{};
  /// The libraries, four at most, that this variant hands work to, by the names in core/code/calls.cpp
  /// (`openblas`), or, of others, by what stands before the first `_` or `::` of their functions. A variant
  /// that calls one that is not here, or none that is, is rejected.
  std::array<std::string_view, 4> libraries{};
  /// Reads Context::threads, and is planned once per thread count; else it runs with one thread only.
  bool threaded = false;
  /// The most threads besides those of Context::threads that work for a call of this problem, those of the
  /// operating system included. Where the contract has no helpers, and without this, there may be none.
  Index (*helpers)(const Problem&) = nullptr;
  void (*run)(const Problem&, const Input&, Output&) = nullptr;
  /// Plans, packing space and thread pools are made here, outside the timed region.
  detail::Callable<Kernel(const Problem&, const Input&, const Context&)> prepare = nullptr;
  /// A reason why this variant cannot run here, or nothing.
  detail::Callable<std::optional<std::string>(const Problem&, const Context&)> unfit = nullptr;
};

/// Where the work of a variant is done: on this processor, or on another device, which nothing on this one
/// bounds; there by the clock of the harness, or by one of its own. A clock of kernels that work here is not
/// taken.
enum class Site { here, elsewhere, elsewhere_by_own_clock, here_with_own_clock };

/// A variant as the rest of the harness sees it.
struct VariantInfo {
  std::string name;
  std::string summary;
  std::string after;
  std::string known_bad, known_cheat, known_honest, precision;
  std::vector<std::string> libraries;
  bool threaded = false;
  Site site = Site::here;
  /// The file that registers it, as it was named to the compiler; in our own build from the project's folder,
  /// `kernels/gemm/packed.cpp`. Empty when it was added to a registry by hand.
  std::string source;
  int line = 0;  ///< of the registration; 0 where the compiler does not say
  /// A hash of the machine code of all that the file registers and of what that calls: equal in two programs
  /// only when they execute the same. Empty when it is not known, which is to be taken for a change.
  std::string code;
  /// The functions that the same code calls beyond the C and C++ run-time: those of the whole file, if it
  /// registers several variants. Nothing when they are not known.
  std::optional<std::vector<Calls>> calls;

  Kin kin() const {
    return !known_bad.empty()      ? Kin::known_bad
           : !known_cheat.empty()  ? Kin::known_cheat
           : !known_honest.empty() ? Kin::known_honest
                                   : Kin::sound;
  }
  /// The text that sets it apart; empty for variants that are planned.
  const std::string& set_apart_by() const {
    return !known_bad.empty() ? known_bad : !known_cheat.empty() ? known_cheat : known_honest;
  }
};

/// The type of the elements of a buffer, for kernels that know no types of C++.
enum class ElementType { f32, f64, f16, bf16, i32, i64, u8, other };
template <class T>
constexpr ElementType type_of_elements() {
  if constexpr (std::is_same_v<T, float>) return ElementType::f32;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, Index>) return ElementType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  return ElementType::other;
}

/// A buffer of a call as such kernels see it.
struct Tensor {
  enum class Use { input, constant, output, updated };
  std::string_view name;
  ElementType type = ElementType::f32;
  Use use = Use::input;
  std::size_t width = 4;  ///< bytes of an element
  Index size = 0;         ///< elements
  void* data = nullptr;
};

/// A problem as such kernels see it.
struct NamedValue {
  std::string_view name;
  Index value = 0;
};

namespace detail {
class ErasedVariant;
struct NaiveOutput;
}  // namespace detail

/// The change of an input before a call.
enum class Renewal {
  timed,       ///< all content, by values that spare no work
  untimed,     ///< all content, by any valid values
  one_element  ///< one element, which shows who takes an answer from before for one that is nearly the same
};

/// A prepared variant on one workload, ready to be timed. A slice is armed, each of its calls follows a
/// renewal, any of them may be judged, and it is settled. Seeds are drawn when they are needed, so that no
/// kernel can know them.
class Timed {
 public:
  virtual ~Timed() = default;
  /// Overwrites what the output held.
  virtual void arm(std::uint64_t /*seed*/) {}
  /// Gives the input other content, and notes what a call is about to update.
  virtual void renew(std::uint64_t /*seed*/, Renewal /*what*/) {}
  /// Changes every number of the input by its last bit, or writes it again as it was. Returns false where
  /// there is no number that can be changed so.
  virtual bool nudge(bool /*change*/) { return false; }
  /// Calls the kernel `calls` times in a row, on the content that there is. Where it works on another device
  /// it then waits for that, also after no call.
  virtual void repeat(Index calls) = 0;
  virtual bool waits_for_device() const { return false; }
  /// Seconds of all calls since this was last asked, by the kernel's own clock where it has one.
  virtual std::optional<double> own_seconds() { return std::nullopt; }
  /// Bytes of the input and the output.
  virtual double bytes() const { return 0; }
  /// Time that Variant::prepare took; 0 where there is none.
  virtual double prepare_seconds() const { return 0; }
  /// Threads besides those of the trial that the problem asks for and this variant uses.
  virtual Index helpers() const { return 0; }
  /// Whether calls read what earlier ones left in the output.
  virtual bool updates_in_place() const { return false; }
  /// What the last call left, which followed a renewal.
  virtual Agreement judge(std::uint64_t /*seed*/) { return {}; }
  /// Those of one more call, on the content that make_input() gave, as checks see it; none where the contract
  /// defines none.
  virtual std::vector<Figure> figures_of_first_content() { return {}; }
  /// Ends an armed slice: whether all that calls may not touch is as it was. Large inputs are looked at when
  /// it is `due` only.
  virtual Agreement settle(bool /*due*/) { return {}; }
};

/// A problem with inputs filled and the expected result computed once.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual Cost cost() const = 0;
  /// Runs the variant into a fresh poisoned output and judges it, guards included; then in slices as they are
  /// timed, for some `rehearsal_seconds`, because a kernel that keeps something of a call is right the first
  /// time only. Names the part of the input that it wrote to, which is made again. Figures are those of the
  /// first output.
  virtual Agreement check(std::size_t variant, const Context& context,
                          double rehearsal_seconds = short_rehearsal) = 0;
  Agreement check(std::size_t, const Context&, bool) = delete;  // is no number of seconds
  static constexpr double no_rehearsal = 0, short_rehearsal = 2e-3;
  /// The variant made ready. All Timed of one workload write to one output, so that none has better pages.
  virtual std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) = 0;
  /// For tests of the contract, which spoil it.
  virtual detail::NaiveOutput naive_output(std::uint64_t seed) = 0;
};

/// A contract with all its registered variants, types erased.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view about() const = 0;
  virtual int version() const = 0;
  virtual std::vector<FieldRule> fields() const = 0;
  virtual std::vector<Fill> fills() const = 0;
  /// `naive` first, the others by name.
  virtual const std::vector<VariantInfo>& variants() const = 0;
  /// The position of the variant of this name; nothing where there is none.
  std::optional<std::size_t> variant_named(std::string_view wanted) const;
  virtual std::vector<std::string> corner_cases() const = 0;
  /// Those of a call on the first corner case, in their order and without data.
  virtual std::vector<Tensor> tensors() const { return {}; }

  /// The canonical text of a problem. Throws Error naming `where` and the field at fault.
  virtual std::string canonical(std::string_view where, std::string_view problem) const = 0;
  /// The canonical text of the problem that `file` holds. Throws Error when the file cannot be used, or when
  /// this operation takes none.
  virtual std::string problem_of(const std::string& file) const = 0;
  virtual double footprint(std::string_view problem) const = 0;
  virtual Cost cost(std::string_view problem) const = 0;
  /// The same; nothing where the variant works elsewhere, since its work is not this processor's.
  Cost cost_of(std::size_t variant, std::string_view problem) const;
  virtual std::optional<std::string> unfit(std::size_t variant, std::string_view problem,
                                           const Context& context) const = 0;
  virtual std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const = 0;

  /// Adds a variant; `origin` has its source, line, code and calls. Throws Error on a repeated name, and
  /// where the operation takes none.
  virtual void add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo& origin);
};

}  // namespace assay
