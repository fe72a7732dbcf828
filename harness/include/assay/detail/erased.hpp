/// Contracts, variants and ready kernels without their types. The harness checks, times and judges by these
/// alone: detail/typed.hpp makes them of a contract in C++, core/plugin of an operation that a library
/// describes.
#pragma once

#include "assay/operation.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::detail {

/// A problem, input, output or expectation. Only its contract knows the type.
using Owned = std::unique_ptr<void, void (*)(void*)>;

/// Owns the value that `make` returns.
template <class Make>
Owned owned(const Make& make) {
  using T = decltype(make());
  return {new T(make()), [](void* value) { delete static_cast<T*>(value); }};
}

template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}

/// The widest element of an input, in bytes.
inline constexpr std::size_t most_width = 64;

struct Salting;

/// A buffer of an input or an output.
struct BufferView {
  std::string_view name;
  ElementType type = ElementType::f32;
  bool is_number = true;
  std::size_t width = 4;       ///< bytes of an element
  Role role = Role::changing;  ///< of an input
  GuardedBlock* block = nullptr;
  std::byte* data = nullptr;
  Index size = 0;    ///< elements
  int updates = -1;  ///< place among the output's buffers of the one that starts as a copy of this; -1: none
  /// Stores another valid value in an element; none where elements change places only.
  void (*salt)(Salting&, const BufferView&, Index at) = nullptr;

  std::size_t bytes() const { return static_cast<std::size_t>(size) * width; }
  std::byte* element(Index at) const { return data + static_cast<std::size_t>(at) * width; }
  bool is_start() const { return updates >= 0; }
};

/// An output that naive wrote, and its judge. The workload that it comes from must outlive it.
struct NaiveOutput {
  std::vector<BufferView> inputs, outputs;
  std::optional<Index> units;  ///< that the output can be judged in
  std::function<Agreement()> judge;
  std::function<Agreement(std::vector<Index>)> judge_in;  ///< these units
  Owned owned;
};

/// Draws elements of a part of an input: BufferView::salt knows their type.
struct Salting {
  const void* problem;
  const void* input;
  Setting setting;  ///< its random numbers are secret
};

/// A kernel that is ready to be called on one problem and input.
class ReadyKernel {
 public:
  virtual ~ReadyKernel() = default;
  /// Calls the kernel `calls` times in a row.
  virtual void repeat(void* output, Index calls) = 0;
  /// As Timed::waits_for_device(): repeat() then waits for it.
  virtual bool waits_for_device() const { return false; }
  /// As Timed::own_seconds().
  virtual std::optional<double> own_seconds() { return std::nullopt; }
};

class ErasedContract;

/// A variant of any contract.
class ErasedVariant {
 public:
  ErasedVariant(VariantInfo its_info, bool its_runs, bool its_prepares)
      : info(std::move(its_info)), runs(its_runs), prepares(its_prepares) {}
  virtual ~ErasedVariant() = default;
  /// Makes it ready outside the timed region.
  virtual std::unique_ptr<ReadyKernel> ready(const ErasedContract& contract, const void* problem, void* input,
                                             const Context& context) const = 0;
  virtual std::optional<std::string> unfit(const ErasedContract& /*contract*/, const void* /*problem*/,
                                           const Context& /*context*/) const {
    return std::nullopt;
  }
  /// As Variant::helpers, whatever the contract says.
  virtual Index helpers(const void* /*problem*/) const { return 0; }

  VariantInfo info;
  bool runs, prepares;  ///< by Variant::run, by Variant::prepare
};

/// A contract. Pointers to `void` point to the value of an Owned that it made.
class ErasedContract {
 public:
  ErasedContract(std::string_view its_name, std::string_view its_about, int its_version,
                 std::span<const Fill> its_fills, std::vector<FieldRule> its_rules);
  virtual ~ErasedContract() = default;

  std::string_view name, about;
  int version;
  std::span<const Fill> fills;
  std::vector<FieldRule> rules;  ///< of the fields of a problem

  /// Values of fields, in the order of the rules.
  virtual Owned problem(const std::vector<Index>& values) const = 0;
  virtual std::vector<Index> values(const void* problem) const = 0;
  virtual std::vector<std::vector<Index>> corner_cases() const = 0;
  /// Throws Error where the operation takes no file.
  virtual std::vector<Index> problem_of(const std::string& file) const;
  virtual double footprint(const void* problem) const = 0;
  virtual Cost cost(const void* problem) const = 0;
  virtual Owned make_input(const void* problem, Setting& setting) const = 0;
  virtual Owned make_output(const void* problem, const void* input, const Setting& setting) const = 0;
  virtual Owned expect(const void* problem, const void* input, Setting& setting) const = 0;
  virtual Agreement judge(const void* problem, const void* input, const void* expected,
                          const void* output) const = 0;
  virtual std::vector<BufferView> inputs(void* input) const = 0;
  virtual std::vector<BufferView> outputs(void* output) const = 0;

  // The parts that a contract may leave out; see Contract.
  virtual std::optional<Index> units(const void*) const { return std::nullopt; }
  virtual bool has_helpers(const void*) const { return false; }
  virtual bool has_figures() const { return false; }
  virtual std::vector<Figure> figures(const void*, const void*, const void*, const void*) const { return {}; }
};

/// The problem as kernels without types see it.
std::vector<NamedValue> named_values(const ErasedContract& contract, const void* problem);
/// The tensors of a call: the inputs, without those that updates start from, and then the outputs. While a
/// kernel is prepared there is no output.
std::vector<Tensor> tensors(const ErasedContract& contract, void* input, void* output);

}  // namespace assay::detail
