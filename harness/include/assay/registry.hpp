/// The registry: every operation and variant that the program knows.
#pragma once

#include "assay/detail/typed.hpp"
#include "assay/operation.hpp"

#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
/// Stands in for std::source_location where Clang is older than 16. The line would stand in the machine code
/// of the registration, which a comment above it would then change: it is left out.
class SourceLocation {
 public:
  static constexpr SourceLocation current(const char* file = __builtin_FILE()) {
    return SourceLocation(file);
  }
  const char* file_name() const { return file_; }
  unsigned line() const { return 0; }

 private:
  explicit constexpr SourceLocation(const char* file) : file_(file) {}
  const char* file_;
};
#endif

/// Operations by name. Passed to what needs it; there is no global one.
class Registry {
 public:
  /// Filled from every Register object in the program, with what its CodeTable says of the code. Throws Error
  /// as add() and validate() do.
  static Registry linked();

  /// Throws Error on a bad or repeated name, or when not exactly one of run and prepare is set. A header that
  /// declares `extern template class detail::TypedOperation<Op>` spares every file that adds a variant of Op
  /// the work of compiling it, which is most of what a small one costs.
  template <Contract Op>
  void add(Variant<Op> variant) {
    const auto make = []() -> std::unique_ptr<Operation> {
      return std::make_unique<detail::TypedOperation<Op>>();
    };
    auto* typed = dynamic_cast<detail::TypedOperation<Op>*>(&place_for(Op::name, variant.name, make));
    if (typed == nullptr) throw_two_contracts(Op::name);
    typed->add(std::move(variant), origin_);
  }

  /// Adds a variant from outside to an operation; `origin` has its source, code and calls. Throws Error as
  /// above, and on an unknown operation.
  void add(std::string_view operation, UntypedVariant variant, const VariantInfo& origin);

  /// Takes a whole operation out and puts one in: how planted faults are wrapped around real kernels.
  std::unique_ptr<Operation> take(std::string_view name);
  void put(std::unique_ptr<Operation> operation);

  /// Throws Error when an operation has no variant named `naive`.
  void validate() const;

  /// Throws Error listing the known names.
  const Operation& at(std::string_view name) const&;
  const Operation& at(std::string_view name) && = delete;
  std::vector<const Operation*> operations() const&;
  std::vector<const Operation*> operations() && = delete;  // they would outlive the registry

 private:
  static void require_word(std::string_view kind, std::string_view name);
  static void require_variant_name(std::string_view operation, std::string_view name);
  /// Returns the operation of that name, made where there is none yet. Throws Error on a bad name of either.
  Operation& place_for(std::string_view operation, std::string_view variant,
                       std::unique_ptr<Operation> (*make)());
  [[noreturn]] static void throw_two_contracts(std::string_view name);

  std::map<std::string, std::unique_ptr<Operation>, std::less<>> operations_;
  VariantInfo origin_;  ///< source, line, code and calls of what is being added
};

/// Announces variants to Registry::linked(). A static object of this type does nothing before main but link
/// itself into a list: no allocation, no exception, no dependence on order.
class Register {
 public:
  explicit Register(void (*fill)(Registry&), SourceLocation where = SourceLocation::current()) noexcept;

 private:
  friend class Registry;
  void (*fill_)(Registry&);
  SourceLocation where_;
  const Register* next_;
};

}  // namespace assay
