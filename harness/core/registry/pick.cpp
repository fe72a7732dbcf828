
#include "assay/error.hpp"
#include "core/registry/erased_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

/// Whether a rule may name it.
bool may_be_picked(const VariantInfo& variant) {
  return variant.kin() == Kin::sound && variant.libraries.empty();
}

/// Gives `picker` the code of all that it may be, and what they call.
void join(VariantInfo& picker, const std::vector<VariantInfo>& variants) {
  std::uint64_t hash = fnv1a(picker.code);
  std::map<std::string, std::set<std::string>> calls;
  bool code_known = !picker.code.empty(), calls_known = picker.calls.has_value();
  const auto add_calls = [&](const VariantInfo& variant) {
    calls_known = calls_known && variant.calls.has_value();
    if (!calls_known) return;
    for (const Calls& one : *variant.calls) calls[one.to].insert(one.names.begin(), one.names.end());
  };
  add_calls(picker);
  for (const VariantInfo& variant : variants) {
    if (!may_be_picked(variant)) continue;
    code_known = code_known && !variant.code.empty();
    hash = fnv1a(variant.code, hash);
    add_calls(variant);
  }
  picker.code = code_known ? fmt::format("{:016x}", hash) : "";
  std::vector<Calls> all;
  for (const auto& [to, names] : calls) all.push_back({to, {names.begin(), names.end()}});
  picker.calls = calls_known ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

void ErasedOperation::add_pick(const Pick& pick, const VariantInfo& origin) {
  VariantInfo info = origin;
  info.name = pick.name;
  info.summary = pick.summary;
  info.threaded = true;
  join(info, info_);
  insert(info, nullptr);
  picks_.emplace(pick.name, pick);
}

detail::Place ErasedOperation::place(std::size_t variant, std::string_view problem,
                                     const Context& context) const {
  if (!picks(variant)) return {variant, context};
  const VariantInfo& picker = info_[variant];
  const std::string shown = format_fields(shown_values(problem), contract_.rules);
  const auto [wanted, reason] = picks_.at(picker.name).of(shown, context);
  const auto found = std::ranges::find(info_, wanted, &VariantInfo::name);
  const auto place = static_cast<std::size_t>(found - info_.begin());
  const bool exists = found != info_.end() && !picks(place);
  std::string why_not = !exists                  ? "there is no such variant"
                        : !may_be_picked(*found) ? "which is a library, or set apart"
                                                 : "";
  const Context its{.threads = exists && found->threaded ? context.threads : 1};
  if (why_not.empty()) why_not = unfit(place, problem, its).value_or("");
  if (why_not.empty()) return {place, its, reason};
  throw Error(fmt::format("{}/{}/{}", name(), picker.name, problem),
              fmt::format("picks '{}': {}", wanted, why_not),
              fmt::format("mend its rule in {}", picker.source));
}

std::optional<Choice> picked(const Operation& operation, std::size_t variant, std::string_view problem,
                             const Context& context) {
  const auto* own = dynamic_cast<const ErasedOperation*>(&operation);
  if (own == nullptr || !own->picks(variant)) return std::nullopt;
  const auto at = own->place(variant, problem, context);
  return Choice{own->variants().at(at.variant).name, at.reason};
}

}  // namespace assay
