// A contract's problem with inputs filled: variants are checked on it, timed, and its judge is tried.
#pragma once

#include "core/registry/content.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
class Surroundings;
}

namespace assay::detail {

/// Gives the elements [begin, end) the value of poison_value().
void poison(const BufferView& part, Index begin, Index end);

/// Notes in `outcome`, if it agreed until now, that it does not, and why.
void blame(Agreement& outcome, std::string detail);

/// A few slices of calls of a kernel that is prepared after this was made, each judged. Defined in
/// core/check.
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

/// Null pointers for those that pick others.
using Variants = std::vector<std::unique_ptr<const ErasedVariant>>;

/// A variant with code of its own, the context that it is run with, and why it was picked: empty where it was
/// asked for.
struct Place {
  std::size_t variant = 0;
  Context context;
  std::string_view reason{};
};
/// Returns where the work of a variant is done: by itself, or by the one that it picks.
using Placing = std::function<Place(std::size_t variant, const Context& context)>;

/// A problem with its input, and what is known of it.
struct Subject {
  const ErasedContract& contract;
  Owned problem;
  Setting setting;  ///< its random numbers go on from where those of the input ended
  Setting before;   ///< the same before the input was made
  Owned input;
  Content content;  ///< of the input

  Subject(const ErasedContract& its_contract, Owned its_problem, Setting its_setting);
  /// As Content::written_part(). The input is made again, in the same memory, where one was written to.
  std::string_view written_part(Content::Look look);
  Owned fresh_output() const;
  Agreement judge(const void* expected, const void* output) const;
  /// Judges those units of an output, or all of it when there are none, by an expectation of its own. Of all
  /// of it, it has the figures as well.
  Agreement judge_in(const void* output, std::vector<Index> units, std::uint64_t seed) const;
};

class ErasedWorkload final : public Workload {
 public:
  ErasedWorkload(const ErasedContract& contract, const Variants& variants, Placing place, Owned problem,
                 Setting setting);

  Cost cost() const override { return subject_.contract.cost(subject_.problem.get()); }
  Agreement check(std::size_t variant, const Context& context, double rehearsal_seconds) override;
  std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) override;
  double renewals_that_show(std::uint64_t seed, int tries) override;
  std::vector<std::string> faults_of_units(std::uint64_t seed, int tries) override;
  std::vector<std::string> surviving_corruptions(std::uint64_t seed, int tries) override;

 private:
  const void* expected();
  Agreement judge(const Owned& output) { return subject_.judge(expected(), output.get()); }
  std::vector<Figure> figures(const Owned& output);
  /// An output that naive has written.
  Owned written_by_naive();
  double naive_error();

  const Variants& variants_;
  Placing place_;
  Subject subject_;
  Owned expected_{nullptr, nullptr};
  Owned shared_output_{nullptr, nullptr};
  std::optional<double> naive_error_;  ///< root mean square, in units of the bound
};

}  // namespace assay::detail
