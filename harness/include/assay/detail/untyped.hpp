/// Variants of a Contract whose kernels see buffers by name, without the contract's types.
#pragma once

#include "assay/operation.hpp"

#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::detail {

template <class T>
inline constexpr bool is_start = false;
template <class Input, class Output, class T>
inline constexpr bool is_start<StartPart<Input, Output, T>> = true;

/// The name of a part for messages: its own, or what the owner calls it whose parts have no fixed names.
template <class Part, class Owner>
std::string_view name_of(const Part& part, const Owner& owner) {
  if constexpr (requires { owner.name_of(part); }) {
    return owner.name_of(part);
  } else {
    return part.name;
  }
}

template <class P, class Owner>
Tensor tensor_of(const P& part, const Owner& owner, Tensor::Use use) {
  // Kernels get inputs by pointers that they could write through, as in every language but C++ and Rust: who
  // does is found out and named.
  auto& buffer = const_cast<Owner&>(owner);
  using T = std::remove_cvref_t<decltype(part.of(buffer)[0])>;
  return {name_of(part, owner),   type_of_elements<T>(), use, sizeof(T),
          part.of(buffer).size(), part.of(buffer).data()};
}

template <class Op>
void add_inputs(const typename Op::Input& input, std::vector<Tensor>& out) {
  const auto add = [&](const auto& part) {
    if constexpr (!is_start<std::remove_cvref_t<decltype(part)>>) {
      const bool constant = part.role == Role::constant;
      out.push_back(tensor_of(part, input, constant ? Tensor::Use::constant : Tensor::Use::input));
    }
  };
  std::apply([&](const auto&... parts) { (add(parts), ...); }, Op::Input::parts());
}

template <class Op>
void add_outputs(const typename Op::Input& input, typename Op::Output& output, std::vector<Tensor>& out) {
  const auto add = [&](const auto& part) {
    bool updated = false;
    const auto look = [&](const auto& start) {
      if constexpr (is_start<std::remove_cvref_t<decltype(start)>>) {
        const bool same = static_cast<const void*>(&start.updated_in(output)) == &part.of(output);
        updated = updated || (same && start.of(input).size() > 0);
      }
    };
    std::apply([&](const auto&... starts) { (look(starts), ...); }, Op::Input::parts());
    out.push_back(tensor_of(part, output, updated ? Tensor::Use::updated : Tensor::Use::output));
  };
  std::apply([&](const auto&... parts) { (add(parts), ...); }, Op::Output::parts());
}

/// The tensors of a call. A contract whose parts are not what its kernels see defines tensors(problem, input,
/// output), where there is no output while a kernel is prepared.
template <class Op>
std::vector<Tensor> tensors_of(const typename Op::Problem& problem, const typename Op::Input& input,
                               typename Op::Output* output) {
  if constexpr (requires { Op::tensors(problem, input, output); }) {
    return Op::tensors(problem, input, output);
  } else {
    std::vector<Tensor> out;
    add_inputs<Op>(input, out);
    if (output != nullptr) add_outputs<Op>(input, *output, out);
    return out;
  }
}

template <class Op>
std::vector<NamedValue> values_of(const typename Op::Problem& problem) {
  if constexpr (requires { problem.named_values(); }) {
    return problem.named_values();
  } else {
    return std::apply(
        [&](const auto&... f) {
          return std::vector<NamedValue>{{f.rule.name, problem.*f.member}...};
        },
        Op::Problem::fields());
  }
}

/// The kernel of such a variant. Buffers are looked up again only when a call has others than the one before.
template <class Op>
class UntypedCall {
 public:
  UntypedCall(UntypedVariant::Ready ready, const typename Op::Problem& problem)
      : ready_(std::move(ready)), problem_(&problem) {}

  void operator()(const typename Op::Input& input, typename Op::Output& output) {
    if (&input != input_ || &output != output_) {
      tensors_ = tensors_of<Op>(*problem_, input, &output);
      input_ = &input;
      output_ = &output;
    }
    ready_.call(tensors_);
  }
  const UntypedVariant::Ready& ready() const { return ready_; }

 private:
  UntypedVariant::Ready ready_;
  const typename Op::Problem* problem_;
  std::vector<Tensor> tensors_;
  const typename Op::Input* input_ = nullptr;
  const typename Op::Output* output_ = nullptr;
};

template <class Op>
Variant<Op> typed(UntypedVariant variant) {
  Variant<Op> out{.name = variant.name,
                  .summary = variant.summary,
                  .precision = variant.precision,
                  .libraries = variant.libraries,
                  .threaded = variant.threaded};
  if (variant.unfit) {
    out.unfit = [unfit = variant.unfit](const typename Op::Problem& problem, const Context& context) {
      return unfit(values_of<Op>(problem), context);
    };
  }
  out.prepare = [prepare = std::move(variant.prepare)](const typename Op::Problem& problem,
                                                       const typename Op::Input& input,
                                                       const Context& context) {
    return UntypedCall<Op>(prepare(values_of<Op>(problem), tensors_of<Op>(problem, input, nullptr), context),
                           problem);
  };
  return out;
}

}  // namespace assay::detail
