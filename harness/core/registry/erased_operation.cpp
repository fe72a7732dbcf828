#include "core/registry/erased_operation.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace assay {
namespace detail {

ErasedContract::ErasedContract(std::string_view its_name, std::string_view its_about, int its_version,
                               std::span<const Fill> its_fills, std::vector<FieldRule> its_rules)
    : name(its_name), about(its_about), version(its_version), fills(its_fills), rules(std::move(its_rules)) {}

std::vector<Index> ErasedContract::problem_of(const std::string& file) const {
  throw Error(std::string(name), "takes no file", "leave " + file + " out");
}

std::vector<NamedValue> named_values(const ErasedContract& contract, const void* problem) {
  const std::vector<Index> values = contract.values(problem);
  std::vector<NamedValue> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back({contract.rules[i].name, values[i]});
  return out;
}

std::vector<Tensor> tensors(const ErasedContract& contract, void* input, void* output) {
  std::vector<Tensor> out;
  const auto add = [&](const BufferView& part, Tensor::Use use) {
    out.push_back({part.name, part.type, use, part.width, part.size, part.data});
  };
  const std::vector<BufferView> inputs = contract.inputs(input);
  for (const BufferView& part : inputs) {
    if (part.is_start()) continue;
    add(part, part.role == Role::constant ? Tensor::Use::constant : Tensor::Use::input);
  }
  if (output == nullptr) return out;
  int place = 0;
  for (const BufferView& part : contract.outputs(output)) {
    const bool updated = std::ranges::any_of(
        inputs, [&](const BufferView& start) { return start.updates == place && start.size > 0; });
    add(part, updated ? Tensor::Use::updated : Tensor::Use::output);
    ++place;
  }
  return out;
}

}  // namespace detail

std::string_view to_string(Fill fill) {
  static constexpr std::array<std::string_view, 3> words{"exact", "uniform", "offset"};
  return words[static_cast<std::size_t>(fill)];
}

void Operation::add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo&) {
  throw Error(fmt::format("{}/{}", name(), variant->info.name),
              "this operation takes no variants from outside", "");
}

std::optional<std::size_t> Operation::variant_named(std::string_view wanted) const {
  const std::vector<VariantInfo>& all = variants();
  const auto found = std::ranges::find(all, wanted, &VariantInfo::name);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

Cost Operation::cost_of(std::size_t variant, std::string_view problem) const {
  const Site site = variants().at(variant).site;
  const bool is_here = site == Site::here || site == Site::here_with_own_clock;
  return is_here ? cost(problem) : Cost{.f32 = false};
}

std::vector<std::string> ErasedOperation::corner_cases() const {
  std::vector<std::string> out;
  for (const auto& values : contract_.corner_cases()) out.push_back(format_fields(values, contract_.rules));
  return out;
}

std::vector<Tensor> ErasedOperation::tensors() const {
  const detail::Owned problem = parse(corner_cases().front());
  Setting setting{.fill = contract_.fills.front()};
  const detail::Owned input = contract_.make_input(problem.get(), setting),
                      output = contract_.make_output(problem.get(), input.get(), setting);
  std::vector<Tensor> out = detail::tensors(contract_, input.get(), output.get());
  for (Tensor& one : out) one.data = nullptr;
  return out;
}

std::string ErasedOperation::canonical(std::string_view where, std::string_view problem) const {
  return format_fields(parse_fields(where, problem, contract_.rules), contract_.rules);
}

std::string ErasedOperation::problem_of(const std::string& file) const {
  return format_fields(contract_.problem_of(file), contract_.rules);
}

std::optional<std::string> ErasedOperation::unfit(std::size_t variant, std::string_view problem,
                                                  const Context& context) const {
  const detail::Place at = place(variant, problem, context);
  const detail::Owned shown = contract_.problem(shown_values(problem));
  return variants_[at.variant]->unfit(contract_, shown.get(), at.context);
}

std::unique_ptr<Workload> ErasedOperation::open(std::string_view problem, Setting setting) const {
  const auto at = [this, of = std::string(problem)](std::size_t variant, const Context& context) {
    return place(variant, of, context);
  };
  try {
    return detail::workload_of(contract_, variants_, at, parse(problem), std::move(setting));
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}/{}", name(), problem), "finds no memory for its input",
                "give smaller extents, or lift the limit on memory where there is one");
  }
}

void ErasedOperation::add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo& origin) {
  VariantInfo& info = variant->info;
  if (variant->runs == variant->prepares) {
    throw Error(fmt::format("{}/{}", name(), info.name), "registered with both or neither of run and prepare",
                "set exactly one");
  }
  info.source = origin.source;
  info.line = origin.line;
  info.code = origin.code;
  info.calls = origin.calls;
  insert(info, std::move(variant));
}

void ErasedOperation::insert(const VariantInfo& info, std::unique_ptr<const detail::ErasedVariant> variant) {
  const auto order = [](const VariantInfo& one) {
    return std::pair(one.name != "naive", std::string_view(one.name));
  };
  const auto at = std::ranges::lower_bound(info_, order(info), {}, order);
  if (at != info_.end() && at->name == info.name) {
    throw Error(fmt::format("{}/{}", name(), info.name), "registered twice",
                "rename one of the two variants");
  }
  variants_.insert(variants_.begin() + (at - info_.begin()), std::move(variant));
  info_.insert(at, info);
}

std::vector<Index> ErasedOperation::shown_values(std::string_view problem) const {
  return without_content(parse_fields(name(), problem, contract_.rules), contract_.rules);
}

detail::Owned ErasedOperation::parse(std::string_view problem) const {
  return contract_.problem(parse_fields(name(), problem, contract_.rules));
}

}  // namespace assay
