/// Variants that have no code of their own: for each problem they are the variant that a rule names.
#pragma once

#include "assay/operation.hpp"
#include "assay/registry.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace assay {

/// The variant that a rule names for a problem, and why: in a few words that follow "because", such as "the
/// rows fit into the nearest cache". The reason refers to static storage; it is empty where a rule returns a
/// name alone.
struct Choice {
  std::string variant;
  std::string_view reason;

  template <class Name>
    requires std::is_convertible_v<Name, std::string> Choice(Name&& its_variant,
                                                             std::string_view its_reason = {})
        : variant(std::forward<Name>(its_variant)), reason(its_reason) {}
};

/// A variant that is another one of its operation, which one depending on problem, threads and machine.
struct Pick {
  std::string_view operation;
  std::string_view name;  ///< of the variant that picks
  std::string_view summary;
  /// Chooses the variant that works on this problem: it runs here, hands no work to a library and is not set
  /// apart. A variant that divides nothing among threads is run with one thread.
  Choice (*of)(std::string_view problem, const Context& context) = nullptr;
};

/// Makes the Pick of an operation from a function of its problem and a Context, which returns a Choice or a
/// name.
template <Contract Op, auto rule>
constexpr Pick pick_by(std::string_view name, std::string_view summary) {
  return {Op::name, name, summary, [](std::string_view problem, const Context& context) -> Choice {
            return rule(parse_problem<typename Op::Problem>(Op::name, problem), context);
          }};
}

/// Announces picks to Registry::linked(). Like Register, a static object of this type only links itself
/// into a list. `picks` must outlive it.
class RegisterPicks {
 public:
  explicit RegisterPicks(std::span<const Pick> picks,
                         SourceLocation where = SourceLocation::current()) noexcept;

 private:
  friend class Registry;
  std::span<const Pick> picks_;
  SourceLocation where_;
  const RegisterPicks* next_;
};

/// The choice of `variant` for this problem; nothing where `variant` has code of its own. Throws Error where
/// its rule names a variant that it may not choose.
std::optional<Choice> picked(const Operation& operation, std::size_t variant, std::string_view problem,
                             const Context& context);

}  // namespace assay
