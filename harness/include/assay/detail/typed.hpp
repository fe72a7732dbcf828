/// Makes an Operation of a Contract: the only place where both the types and their erasure are known.
#pragma once

#include "assay/detail/teeth.hpp"
#include "assay/detail/timed.hpp"
#include "assay/error.hpp"
#include "assay/operation.hpp"

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace assay {
class Surroundings;
}

namespace assay::detail {

/// Notes that errors are far larger than those of naive: something was computed with fewer digits.
void compare_precision(Agreement& outcome, double naive_error);

/// Notes where figures of a later call on the same input are not those of the first.
void compare_figures(Agreement& outcome, const std::vector<Figure>& later);

/// A few slices of calls of a kernel that is prepared after this was made, each judged.
class Rehearsal {
 public:
  Rehearsal();
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;
  /// Notes in `outcome` what the kernel did not leave as it was.
  void look_around(Agreement& outcome) const;
  /// Goes on for some `seconds`, and notes in `outcome` what was wrong.
  void take(Timed& timed, const Context& context, Fill fill, double seconds, Agreement& outcome) const;

 private:
  std::unique_ptr<const Surroundings> before_;
};

[[noreturn]] void throw_takes_no_file(std::string_view operation, const std::filesystem::path& file);

/// By pointers, since a vector that moves structures of so many strings about is compiled anew for each
/// contract.
template <Contract Op>
using Variants = std::vector<std::unique_ptr<const Variant<Op>>>;

template <Contract Op>
class TypedWorkload final : public Workload {
 public:
  using Problem = typename Op::Problem;
  using Input = typename Op::Input;
  using Output = typename Op::Output;

  TypedWorkload(const Variants<Op>& variants, const Problem& problem, Setting setting)
      : variants_(variants), case_(problem, std::move(setting)) {}

  Cost cost() const override { return Op::cost(case_.problem); }

  Agreement check(std::size_t variant, const Context& context, double rehearsal_seconds) override {
    static_cast<void>(expected());  // before a kernel has had the input
    Output output = fresh_output();
    Rng rng(secret());
    const Rehearsal rehearsal;
    TypedTimed<Op> timed(*variants_.at(variant), context, case_, output, rng);
    case_.watch.used_by(&timed);
    timed.repeat(1);
    Agreement outcome = guards_of<Op>(output) & Op::judge(case_.problem, case_.input, expected(), output);
    if constexpr (has_figures) {
      if (outcome.agrees) outcome.figures = Op::figures(case_.problem, case_.input, expected(), output);
    }
    if (variant == 0) naive_error_ = outcome.rms_error();
    const bool once = rehearsal_seconds <= 0;
    if (!once && case_.setting.fill == Fill::uniform && variants_.at(variant)->precision.empty()) {
      compare_precision(outcome, naive_error());
    }
    const std::string_view written = case_.watch.written_part(true, [this] { case_.make_input_again(); });
    if (!written.empty()) blame_for_input(outcome, written);
    rehearsal.look_around(outcome);
    if (!once && outcome.agrees)
      rehearsal.take(timed, context, case_.setting.fill, rehearsal_seconds, outcome);
    if constexpr (has_figures) {
      if (!once && outcome.agrees && !timed.updates_in_place()) {
        timed.repeat(1);
        compare_figures(outcome, Op::figures(case_.problem, case_.input, expected(), output));
      }
    }
    return outcome;
  }

  std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) override {
    if (!shared_output_) shared_output_.emplace(fresh_output());
    Rng rng(secret());
    return std::make_unique<TypedTimed<Op>>(*variants_.at(variant), context, case_, *shared_output_, rng);
  }

  double changes_that_show(std::uint64_t seed, int tries) override {
    Output output = fresh_output();
    Rng rng(seed);
    TypedTimed<Op> naive(*variants_.front(), Context{}, case_, output, rng);
    return naive.changes_that_show(rng.next(), tries);
  }

  std::vector<std::string> faults_of_units(std::uint64_t seed, int tries) override {
    std::vector<std::string> faults;
    if constexpr (JudgedInUnits<Op>) {
      Output output = fresh_output();
      Rng rng(seed);
      TypedTimed<Op> naive(*variants_.front(), Context{}, case_, output, rng);
      const auto seen = naive.changes_seen(rng.next(), tries);
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
        compare_units(name_of(part, output), part.of(output), Op::units(case_.problem), rng, tries, whole,
                      in_units, faults);
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
      spoil(name_of(part, output), part.of(output), rng, tries, agrees, survivors);
    };
    std::apply([&](const auto&... parts) { (each(parts), ...); }, Output::parts());
    return survivors;
  }

 private:
  static constexpr bool has_figures =
      requires(const Problem& p, const Input& in, const typename Op::Expected& want, const Output& out) {
    { Op::figures(p, in, want, out) } -> std::same_as<std::vector<Figure>>;
  };

  Output fresh_output() { return Op::make_output(case_.problem, case_.input, case_.setting); }

  Runner<Op> prepared(std::size_t variant, const Context& context) {
    Rng rng(secret());
    return Runner<Op>(*variants_.at(variant), case_.problem, case_.input, context, rng);
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

  const Variants<Op>& variants_;
  Case<Op> case_;
  std::optional<typename Op::Expected> expected_;
  std::optional<double> naive_error_;  ///< root mean square, in units of the bound
  std::optional<Output> shared_output_;
};

/// What is said of the variants of an operation, `naive` first, the others by name. Out of line: the copies
/// and moves of so many strings would be a tenth of what each contract costs to compile.
class VariantList {
 public:
  struct Words {
    std::string_view name, summary, after, known_bad, known_cheat, known_honest;
    std::span<const std::string> libraries;
    bool threaded = false;
    Site site = Site::here;
  };
  VariantList();
  VariantList(const VariantList&) = delete;
  VariantList& operator=(const VariantList&) = delete;
  ~VariantList();
  /// Returns its place; `origin` has the source, line, code and calls. Throws Error on a repeated name.
  std::size_t add(std::string_view operation, const Words& words, const VariantInfo& origin);
  const std::vector<VariantInfo>& all() const { return info_; }

 private:
  std::vector<VariantInfo> info_;
};

template <Contract Op>
class TypedOperation final : public Operation {
 public:
  using Problem = typename Op::Problem;

  /// `origin` has the source, line, code and calls of the variant. An edit here can change how compilers
  /// inline the registration, which is part of each variant's code: every variant is then measured anew.
  void add(Variant<Op> variant, const VariantInfo& origin = {}, Site site = Site::here) {
    if ((variant.run != nullptr) == static_cast<bool>(variant.prepare)) {
      throw Error(std::string(Op::name) + "/" + variant.name,
                  "registered with both or neither of run and prepare", "set exactly one");
    }
    const std::size_t position = info_.add(Op::name,
                                           {.name = variant.name,
                                            .summary = variant.summary,
                                            .after = variant.after,
                                            .known_bad = variant.known_bad,
                                            .known_cheat = variant.known_cheat,
                                            .known_honest = variant.known_honest,
                                            .libraries = variant.libraries,
                                            .threaded = variant.threaded,
                                            .site = site},
                                           origin);
    variants_.insert(variants_.begin() + static_cast<std::ptrdiff_t>(position),
                     std::make_unique<const Variant<Op>>(std::move(variant)));
  }

  void add(UntypedVariant variant, const VariantInfo& origin) override {
    const Site site = variant.site;
    add(typed<Op>(std::move(variant)), origin, site);
  }

  std::string_view name() const override { return Op::name; }
  std::string_view about() const override { return Op::about; }
  int version() const override { return Op::version; }
  std::vector<FieldRule> fields() const override { return field_rules<Problem>(); }
  std::vector<Fill> fills() const override { return {Op::fills.begin(), Op::fills.end()}; }
  const std::vector<VariantInfo>& variants() const override { return info_.all(); }

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
    return unfit(variant, parse(problem), context);
  }
  std::optional<std::string> unfit(std::size_t variant, const Problem& problem,
                                   const Context& context) const {
    const Variant<Op>& v = *variants_.at(variant);
    return v.unfit ? v.unfit(problem, context) : std::nullopt;
  }

  std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const override {
    return open(parse(problem), std::move(setting));
  }
  std::unique_ptr<Workload> open(const Problem& problem, Setting setting) const {
    return std::make_unique<TypedWorkload<Op>>(variants_, problem, std::move(setting));
  }

 private:
  static Problem parse(std::string_view problem) { return parse_problem<Problem>(Op::name, problem); }

  Variants<Op> variants_;
  VariantList info_;
};

}  // namespace assay::detail
