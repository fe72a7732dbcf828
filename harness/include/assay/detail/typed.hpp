/// Makes an ErasedContract of a Contract: the only place where both the types and their erasure are known.
/// All that it defines is compiled anew for each contract, and does no more than name the contract's own
/// functions and hand its texts on.
#pragma once

#include "assay/detail/erased.hpp"
#include "assay/operation.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {
class Registry;
}

namespace assay::detail {

/// As Registry::add(); defined with it.
void add_variant(Registry& registry, const ErasedContract& contract, std::unique_ptr<ErasedVariant> variant);

template <class Op>
concept HasFigures = requires(const typename Op::Problem problem, const typename Op::Input input,
                              const typename Op::Expected expected, const typename Op::Output output) {
  Op::figures(problem, input, expected, output);
};

/// A plain function or a prepared object, called without further indirection than its own.
template <class Op>
class TypedKernel final : public ReadyKernel {
 public:
  using Run = decltype(Variant<Op>::run);
  using Kernel = typename Variant<Op>::Kernel;

  TypedKernel(Run run, Kernel kernel, const void* problem, const void* input)
      : run_(run),
        kernel_(std::move(kernel)),
        problem_(as<typename Op::Problem>(problem)),
        input_(as<typename Op::Input>(input)) {}

  void repeat(void* output, Index calls) override {
    auto& out = *static_cast<typename Op::Output*>(output);
    if (run_ != nullptr) {
      for (Index i = 0; i < calls; ++i) run_(problem_, input_, out);
    } else {
      for (Index i = 0; i < calls; ++i) kernel_(input_, out);
    }
  }

 private:
  Run run_;
  Kernel kernel_;
  const typename Op::Problem& problem_;
  const typename Op::Input& input_;
};

template <class Op>
class TypedVariant final : public ErasedVariant {
 public:
  TypedVariant(VariantInfo its_info, Variant<Op>&& variant)
      : ErasedVariant(std::move(its_info), variant.run != nullptr, static_cast<bool>(variant.prepare)),
        run_(variant.run),
        prepare_(std::move(variant.prepare)),
        helpers_(variant.helpers),
        unfit_(std::move(variant.unfit)) {}

  std::unique_ptr<ReadyKernel> ready(const ErasedContract&, const void* problem, void* input,
                                     const Context& context) const override {
    const auto& p = as<typename Op::Problem>(problem);
    const auto& in = as<typename Op::Input>(input);
    return std::make_unique<TypedKernel<Op>>(run_, prepares ? prepare_(p, in, context) : nullptr, problem,
                                             input);
  }
  std::optional<std::string> unfit(const ErasedContract&, const void* problem,
                                   const Context& context) const override {
    return unfit_ ? unfit_(as<typename Op::Problem>(problem), context) : std::nullopt;
  }
  Index helpers(const void* problem) const override {
    return helpers_ != nullptr ? helpers_(as<typename Op::Problem>(problem)) : 0;
  }

 private:
  decltype(Variant<Op>::run) run_;
  decltype(Variant<Op>::prepare) prepare_;
  decltype(Variant<Op>::helpers) helpers_;
  decltype(Variant<Op>::unfit) unfit_;
};

/// A header that declares `extern template class detail::TypedOperation<Op>` spares every file that adds a
/// variant of Op the work of compiling it.
template <Contract Op>
class TypedOperation final : public ErasedContract {
 public:
  /// Never inlined: by the call of it the table of code knows which contract a file registers for.
  [[gnu::noinline]] static void add(Registry& registry, Variant<Op>&& variant);

 private:
  using Problem = typename Op::Problem;
  using Input = typename Op::Input;
  using Output = typename Op::Output;
  using Expected = typename Op::Expected;

  TypedOperation() : ErasedContract(Op::name, Op::about, Op::version, Op::fills, field_rules<Problem>()) {}

  Owned problem(const std::vector<Index>& values) const override {
    return owned([&] { return problem_from<Problem>(values); });
  }
  std::vector<Index> values(const void* p) const override { return values_of(as<Problem>(p)); }
  std::vector<std::vector<Index>> corner_cases() const override {
    std::vector<std::vector<Index>> out;
    for (const Problem& one : Op::corner_cases()) out.push_back(values_of(one));
    return out;
  }
  std::vector<Index> problem_of(const std::string& file) const override {
    if constexpr (requires { Op::problem_of(file); }) {
      return values_of(Op::problem_of(file));
    } else {
      return ErasedContract::problem_of(file);
    }
  }
  double footprint(const void* p) const override { return Op::footprint(as<Problem>(p)); }
  Cost cost(const void* p) const override { return Op::cost(as<Problem>(p)); }
  Owned make_input(const void* p, Setting& setting) const override {
    return owned([&] { return Op::make_input(as<Problem>(p), setting); });
  }
  Owned make_output(const void* p, const void* input, const Setting& setting) const override {
    return owned([&] { return Op::make_output(as<Problem>(p), as<Input>(input), setting); });
  }
  Owned expect(const void* p, const void* input, Setting& setting) const override {
    return owned([&] { return Op::expect(as<Problem>(p), as<Input>(input), setting); });
  }
  Agreement judge(const void* p, const void* input, const void* expected, const void* output) const override {
    return Op::judge(as<Problem>(p), as<Input>(input), as<Expected>(expected), as<Output>(output));
  }
  std::vector<BufferView> inputs(void* input) const override {
    constexpr std::size_t count = std::tuple_size_v<decltype(Input::parts())>;
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return std::vector<BufferView>{input_view<k>(*static_cast<Input*>(input))...};
    }
    (std::make_index_sequence<count>());
  }
  std::vector<BufferView> outputs(void* output) const override {
    return std::apply(
        [&](const auto&... parts) {
          return std::vector<BufferView>{view(parts, *static_cast<Output*>(output))...};
        },
        Output::parts());
  }
  std::optional<Index> units(const void* p) const override {
    if constexpr (requires { Op::units(as<Problem>(p)); }) {
      return Op::units(as<Problem>(p));
    } else {
      return std::nullopt;
    }
  }
  bool has_helpers(const void* p) const override {
    if constexpr (requires { Op::has_helpers(as<Problem>(p)); }) {
      return Op::has_helpers(as<Problem>(p));
    } else {
      return false;
    }
  }
  bool has_figures() const override { return HasFigures<Op>; }
  std::vector<Figure> figures(const void* p, const void* input, const void* expected,
                              const void* output) const override {
    if constexpr (HasFigures<Op>) {
      return Op::figures(as<Problem>(p), as<Input>(input), as<Expected>(expected), as<Output>(output));
    } else {
      return {};
    }
  }

  template <class Part, class Owner>
  static BufferView view(const Part& part, Owner& owner) {
    auto& buffer = part.of(owner);
    using T = std::remove_reference_t<decltype(buffer[0])>;
    return {.name = part.name,
            .type = type_of_elements<T>(),
            .is_number = std::is_arithmetic_v<T>,
            .width = sizeof(T),
            .role = part.role,
            .block = &buffer.block(),
            .data = reinterpret_cast<std::byte*>(buffer.data()),
            .size = buffer.size()};
  }
  template <std::size_t k>
  static BufferView input_view(Input& input) {
    constexpr auto part = std::get<k>(Input::parts());
    using T = std::remove_reference_t<decltype(part.of(input)[0])>;
    static_assert(sizeof(T) <= most_width);
    BufferView out = view(part, input);
    if constexpr (requires { part.updated; }) out.updates = place_of(part.updated);
    if constexpr (part.role == Role::changing || part.role == Role::redrawn) out.salt = salted<T>();
    return out;
  }
  /// The place of the output's buffer `member`.
  template <class T>
  static constexpr int place_of(Buffer<T> Output::*member) {
    int found = -1, next = 0;
    const auto look = [&](const auto& part) {
      if constexpr (requires { part.member == member; }) {
        if (part.member == member) found = next;
      }
      ++next;
    };
    std::apply([&](const auto&... parts) { (look(parts), ...); }, Output::parts());
    return found;
  }
  template <class T>
  static constexpr decltype(BufferView::salt) salted() {
    if constexpr (requires(T & element, Salting & s) {
                    Op::salt(as<Problem>(s.problem), as<Input>(s.input), std::string_view(), Index(), element,
                             s.setting);
                  }) {
      return [](Salting& s, const BufferView& part, Index at) {
        Op::salt(as<Problem>(s.problem), as<Input>(s.input), part.name, at, element<T>(part, at), s.setting);
      };
    } else if constexpr (std::is_same_v<T, float> &&
                         requires { Op::terms(std::declval<const Problem&>()); }) {
      return [](Salting& s, const BufferView& part, Index at) {
        element<T>(part, at) = s.setting.draw_that_shows(Op::terms(as<Problem>(s.problem)));
      };
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      return [](Salting& s, const BufferView& part, Index at) { element<T>(part, at) = s.setting.draw(); };
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return
          [](Salting& s, const BufferView& part, Index at) { element<T>(part, at) = s.setting.rng.next(); };
    } else {
      return nullptr;
    }
  }
  template <class T>
  static T& element(const BufferView& part, Index at) {
    return *reinterpret_cast<T*>(part.element(at));
  }
};

// No inline function: compilers would put it into every file that adds a variant.
template <Contract Op>
void TypedOperation<Op>::add(Registry& registry, Variant<Op>&& variant) {
  static const TypedOperation contract;
  VariantInfo info;
  info.name = variant.name;
  info.summary = variant.summary;
  info.after = variant.after;
  info.known_bad = variant.known_bad;
  info.known_cheat = variant.known_cheat;
  info.known_honest = variant.known_honest;
  info.precision = variant.precision;
  for (const std::string_view library : variant.libraries) {
    if (!library.empty()) info.libraries.emplace_back(library);
  }
  info.threaded = variant.threaded;
  add_variant(registry, contract, std::make_unique<TypedVariant<Op>>(std::move(info), std::move(variant)));
}

}  // namespace assay::detail
