/// Variants that have no code of their own: for each problem they are the variant that a rule names.
#pragma once

#include "assay/operation.hpp"
#include "assay/registry.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// A variant that is another one of its operation, which one depending on problem, threads and machine.
struct Pick {
  std::string_view operation;
  std::string_view name;  ///< of the variant that picks
  std::string_view summary;
  /// The name of the variant that works on this problem: one that runs here, hands no work to a library and
  /// is not set apart. One that divides nothing among threads is run with one.
  std::string (*of)(std::string_view problem, const Context& context) = nullptr;
};

/// Makes the Pick of an operation from a function of its problem and a Context.
template <Contract Op, auto rule>
constexpr Pick pick_by(std::string_view name, std::string_view summary) {
  return {Op::name, name, summary, [](std::string_view problem, const Context& context) -> std::string {
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

/// The name of the variant that `variant` is for this problem; nothing where it has code of its own. Throws
/// Error where its rule names none that it may.
std::optional<std::string> picked(const Operation& operation, std::size_t variant, std::string_view problem,
                                  const Context& context);

}  // namespace assay
