// A contract's problem with inputs filled: variants are checked on it, timed, and its judge is tried.
#pragma once

#include "core/registry/timed.hpp"

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
