/// The contract of operations that a plug-in describes: tensors by number, in slots of their widths.
#pragma once

#include "assay/detail/typed.hpp"
#include "core/plugin/library.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace assay {

/// An updated buffer among several; see StartPart.
template <class Input, class Output, class T, std::size_t count>
struct StartSlot : PartOfArray<Input, T, count> {
  std::array<Buffer<T>, count> Output::*updated;

  Buffer<T>& updated_in(Output& output) const { return (output.*updated)[this->at]; }
};
namespace detail {
template <class Input, class Output, class T, std::size_t count>
inline constexpr bool is_start<StartSlot<Input, Output, T, count>> = true;
}  // namespace detail

struct DescribedOp {
  static constexpr std::string_view name = "described", about = "an operation of a plug-in";
  static constexpr int version = 1;
  static constexpr std::array fills{Fill::uniform};

  /// Slots of one kind.
  static constexpr std::size_t slots = 8;
  template <class T>
  using Slots = std::array<Buffer<T>, slots>;

  struct Problem {
    std::shared_ptr<const PluginLibrary> library;
    std::size_t operation = 0;
    std::vector<Index> values;

    static constexpr std::tuple<> fields() { return {}; }
    const PluginOperation& described() const { return library->content().operations.at(operation); }
    std::vector<NamedValue> named_values() const;
    const PluginProblem& shapes() const { return library->problem(operation, named_values()); }
  };

  /// The slot of each tensor: a kind, by its name, and a place.
  struct Place {
    std::string_view kind;
    std::size_t at = 0;
    const PluginTensor* tensor = nullptr;
  };
  struct Places {
    std::vector<Place> all;
    template <class P>
    std::string_view name_of(const P& part) const {
      for (const Place& place : all) {
        if (place.kind == part.name && place.at == part.at) return place.tensor->name;
      }
      return part.name;
    }
  };

  struct Output : Places {
    Slots<std::uint8_t> u8;
    Slots<std::uint16_t> half;
    Slots<float> word;  ///< of 32 bits, whatever they are
    Slots<double> wide;
    static constexpr auto parts();
  };
  struct Input : Places {
    Slots<float> f32;
    Slots<double> f64;
    Slots<std::uint16_t> f16, bf16;
    Slots<std::uint8_t> u8, constant_u8;
    Slots<std::int32_t> i32;
    Slots<Index> i64;
    Slots<std::uint16_t> constant_half, start_half;
    Slots<float> constant_word, start_word;
    Slots<double> constant_wide, start_wide;
    Slots<std::uint8_t> start_u8;
    static constexpr auto parts();
  };
  struct Expected {
    PluginLibrary::Doubles value, bound;  ///< by tensor
  };

  static std::vector<Problem> corner_cases() { return {}; }  // the operation has them as text
  static double footprint(const Problem& problem);
  static Input make_input(const Problem& problem, Setting& setting);
  template <class T>
  static void salt(const Problem&, const Input&, std::string_view part, Index, T& element, Setting& setting);
  static Output make_output(const Problem& problem, const Input& input, const Setting& setting);
  static Expected expect(const Problem& problem, const Input& input, Setting& setting);
  static Agreement judge(const Problem& problem, const Input& input, const Expected& expected,
                         const Output& output);
  static Cost cost(const Problem& problem);
  static std::vector<Tensor> tensors(const Problem& problem, const Input& input, Output* output);
};

namespace detail {
template <class Owner, class T, std::size_t... k>
constexpr auto slots_of(std::string_view kind, std::array<Buffer<T>, sizeof...(k)> Owner::*member, Role role,
                        std::index_sequence<k...>) {
  return std::tuple{PartOfArray<Owner, T, sizeof...(k)>{kind, member, k, role}...};
}
template <class Input, class Output, class T, std::size_t... k>
constexpr auto starts_of(std::string_view kind, std::array<Buffer<T>, sizeof...(k)> Input::*member,
                         std::array<Buffer<T>, sizeof...(k)> Output::*updated, std::index_sequence<k...>) {
  return std::tuple{StartSlot<Input, Output, T, sizeof...(k)>{{kind, member, k, Role::steady}, updated}...};
}
}  // namespace detail

constexpr auto DescribedOp::Output::parts() {
  constexpr auto all = std::make_index_sequence<slots>();
  return std::tuple_cat(detail::slots_of("u8", &Output::u8, Role::changing, all),
                        detail::slots_of("half", &Output::half, Role::changing, all),
                        detail::slots_of("word", &Output::word, Role::changing, all),
                        detail::slots_of("wide", &Output::wide, Role::changing, all));
}

constexpr auto DescribedOp::Input::parts() {
  using detail::slots_of;
  using detail::starts_of;
  constexpr auto all = std::make_index_sequence<slots>();
  return std::tuple_cat(
      slots_of("f32", &Input::f32, Role::changing, all), slots_of("f64", &Input::f64, Role::changing, all),
      slots_of("f16", &Input::f16, Role::changing, all), slots_of("bf16", &Input::bf16, Role::changing, all),
      slots_of("u8", &Input::u8, Role::permuted, all), slots_of("i32", &Input::i32, Role::permuted, all),
      slots_of("i64", &Input::i64, Role::permuted, all),
      slots_of("constant_u8", &Input::constant_u8, Role::constant, all),
      slots_of("constant_half", &Input::constant_half, Role::constant, all),
      slots_of("constant_word", &Input::constant_word, Role::constant, all),
      slots_of("constant_wide", &Input::constant_wide, Role::constant, all),
      starts_of("start_u8", &Input::start_u8, &Output::u8, all),
      starts_of("start_half", &Input::start_half, &Output::half, all),
      starts_of("start_word", &Input::start_word, &Output::word, all),
      starts_of("start_wide", &Input::start_wide, &Output::wide, all));
}

/// An operation of a plug-in. Without a kernel named `naive` its reference is that.
class DescribedOperation final : public Operation {
 public:
  /// Throws Error where its fields make no sense.
  DescribedOperation(std::shared_ptr<const PluginLibrary> library, std::size_t operation);

  std::string_view name() const override { return described_->name; }
  std::string_view about() const override { return described_->about; }
  int version() const override { return described_->version; }
  std::vector<FieldRule> fields() const override { return rules_; }
  std::vector<Fill> fills() const override;
  const std::vector<VariantInfo>& variants() const override { return typed_.variants(); }
  std::vector<std::string> corner_cases() const override;
  std::string canonical(std::string_view where, std::string_view problem) const override;
  std::string problem_of(const std::filesystem::path& file) const override;
  double footprint(std::string_view problem) const override { return DescribedOp::footprint(parse(problem)); }
  Cost cost(std::string_view problem) const override { return DescribedOp::cost(parse(problem)); }
  std::optional<std::string> unfit(std::size_t variant, std::string_view problem,
                                   const Context& context) const override {
    return typed_.unfit(variant, parse(problem), context);
  }
  std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const override {
    return typed_.open(parse(problem), std::move(setting));
  }
  void add(UntypedVariant variant, const VariantInfo& origin) override;
  /// The reference as the variant `naive`.
  UntypedVariant naive() const;

 private:
  DescribedOp::Problem parse(std::string_view problem) const;

  std::shared_ptr<const PluginLibrary> library_;
  std::size_t operation_;
  const PluginOperation* described_;
  std::vector<FieldRule> rules_;
  detail::TypedOperation<DescribedOp> typed_;
};

}  // namespace assay
