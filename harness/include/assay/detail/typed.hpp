/// Makes an Operation of a Contract: the only place where both the types and their erasure are known.
#pragma once

#include "assay/error.hpp"
#include "assay/operation.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::detail {

/// A ready kernel: a plain function or a prepared object, called without further indirection than its own.
template <Contract Op>
class Runner {
 public:
  Runner(const Variant<Op>& variant, const typename Op::Problem& problem, const typename Op::Input& input,
         const Context& context)
      : run_(variant.run), problem_(problem), input_(input) {
    if (variant.prepare) kernel_ = variant.prepare(problem, input, context);
  }
  void operator()(typename Op::Output& output, Index calls) const {
    if (run_ != nullptr) {
      for (Index i = 0; i < calls; ++i) run_(problem_, input_, output);
    } else {
      for (Index i = 0; i < calls; ++i) kernel_(input_, output);
    }
  }

 private:
  void (*run_)(const typename Op::Problem&, const typename Op::Input&, typename Op::Output&);
  typename Variant<Op>::Kernel kernel_;
  const typename Op::Problem& problem_;
  const typename Op::Input& input_;
};

template <Contract Op>
class TypedTimed final : public Timed {
 public:
  TypedTimed(Runner<Op> runner, typename Op::Output& output) : runner_(std::move(runner)), output_(output) {}
  void repeat(Index calls) override { runner_(output_, calls); }

 private:
  Runner<Op> runner_;
  typename Op::Output& output_;
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

// These two are compiled once, not for every operation.

/// Notes in `outcome` that the guard bytes of `part` changed.
void blame_for_guards(Agreement& outcome, std::string_view part);

[[noreturn]] void throw_takes_no_file(std::string_view operation, const std::filesystem::path& file);

template <Contract Op>
class TypedWorkload final : public Workload {
 public:
  using Problem = typename Op::Problem;
  using Input = typename Op::Input;
  using Output = typename Op::Output;

  TypedWorkload(const std::vector<Variant<Op>>& variants, const Problem& problem, Setting setting)
      : variants_(variants),
        problem_(problem),
        setting_(std::move(setting)),
        input_(Op::make_input(problem_, setting_)) {}

  Cost cost() const override { return Op::cost(problem_); }

  Agreement check(std::size_t variant, const Context& context, bool once) override {
    const Runner<Op> runner(variants_.at(variant), problem_, input_, context);
    Agreement outcome = judged(runner);
    if (outcome.agrees && !once) {
      const Agreement again = judged(runner);
      outcome.worst_error = std::max(outcome.worst_error, again.worst_error);
      outcome.agrees = again.agrees;
      if (!again.agrees) outcome.detail = "in the second call of one plan: " + again.detail;
    }
    return outcome;
  }

  std::string remark(std::size_t variant, const Context& context) override {
    if constexpr (requires(const Problem& p, const Input& in, const typename Op::Expected& want,
                           const Output& out) { Op::remark(p, in, want, out); }) {
      Output output = fresh_output();
      Runner<Op>(variants_.at(variant), problem_, input_, context)(output, 1);
      return Op::remark(problem_, input_, expected(), output);
    } else {
      return {};
    }
  }

  std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) override {
    if (!shared_output_) shared_output_.emplace(fresh_output());
    return std::make_unique<TypedTimed<Op>>(Runner<Op>(variants_.at(variant), problem_, input_, context),
                                            *shared_output_);
  }

  std::vector<std::string> surviving_corruptions(std::uint64_t seed, int tries) override {
    const Runner<Op> naive(variants_.front(), problem_, input_, Context{});
    Output output = fresh_output();
    naive(output, 1);
    std::vector<std::string> survivors;
    Rng rng(seed);
    const auto agrees = [&] { return Op::judge(problem_, input_, expected(), output).agrees; };
    const auto each = [&](const auto& part) {
      spoil(part.name, output.*part.member, rng, tries, agrees, survivors);
    };
    std::apply([&](const auto&... parts) { (each(parts), ...); }, Output::parts());
    return survivors;
  }

 private:
  Output fresh_output() { return Op::make_output(problem_, input_, setting_); }

  const typename Op::Expected& expected() {
    if (!expected_) expected_.emplace(Op::expect(problem_, input_, setting_));
    return *expected_;
  }

  Agreement judged(const Runner<Op>& runner) {
    Output output = fresh_output();
    runner(output, 1);
    return guards(output) & Op::judge(problem_, input_, expected(), output);
  }

  static Agreement guards(const Output& output) {
    Agreement outcome;
    const auto look = [&](const auto& part) {
      if (!(output.*part.member).guards_intact()) blame_for_guards(outcome, part.name);
    };
    std::apply([&](const auto&... parts) { (look(parts), ...); }, Output::parts());
    return outcome;
  }

  const std::vector<Variant<Op>>& variants_;
  Problem problem_;
  Setting setting_;
  Input input_;
  std::optional<typename Op::Expected> expected_;
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
