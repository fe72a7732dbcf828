/// The registry: every operation and variant that the program knows.
#pragma once

#include "assay/detail/typed.hpp"
#include "assay/from_parts.hpp"
#include "assay/operation.hpp"

#include <memory>
#include <source_location>
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

  /// Throws Error on a bad or repeated name, or when not exactly one of run and prepare is set.
  template <Contract Op>
  void add(Variant<Op> variant) {
    detail::TypedOperation<Op>::add(*this, std::move(variant));
  }

  /// Adds a variant to an operation that there is; `origin` has its source, code and calls. Throws Error as
  /// above, and on an unknown operation.
  void add(std::string_view operation, std::unique_ptr<detail::ErasedVariant> variant,
           const VariantInfo& origin);

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
  /// The place of the operation of this name, or that of the next one.
  std::vector<std::unique_ptr<Operation>>::iterator place(std::string_view name);
  friend void detail::add_variant(Registry&, const detail::ErasedContract&,
                                  std::unique_ptr<detail::ErasedVariant>);

  std::vector<std::unique_ptr<Operation>> operations_;  ///< by name
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
