// A contract's problem with inputs filled: variants are checked on it, timed, and its judge is tried.
#pragma once

#include "assay/detail/erased.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace assay {
class Surroundings;
}

namespace assay::detail {

/// Gives all elements the value of poison_value().
void poison(const BufferView& part);

/// A few slices of calls of a kernel prepared after this was made, each judged. Defined in core/check.
class Rehearsal {
 public:
  Rehearsal();
  ~Rehearsal();
  /// Notes in `outcome` what the kernel did not leave as it was. The first slice is followed by a thorough
  /// look.
  void look_around(Agreement& outcome, bool thoroughly) const;
  /// Goes on for some `seconds`, and notes in `outcome` what was wrong.
  void take(Timed& timed, const Context& context, Fill fill, double seconds, Agreement& outcome) const;

 private:
  std::unique_ptr<const Surroundings> before_;
};

/// Null pointers for those that pick others.
using Variants = std::vector<std::unique_ptr<const ErasedVariant>>;

/// A variant with code of its own, its context, and why it was picked: empty where it was asked for.
struct Place {
  std::size_t variant = 0;
  Context context;
  std::string_view reason{};
};
/// Returns where the work of a variant is done: by itself, or by the one that it picks.
using Placing = std::function<Place(std::size_t variant, const Context& context)>;

/// A problem of a contract, with an input made for it. Contract and variants must outlive it.
std::unique_ptr<Workload> workload_of(const ErasedContract& contract, const Variants& variants, Placing place,
                                      Owned problem, Setting setting);

}  // namespace assay::detail
