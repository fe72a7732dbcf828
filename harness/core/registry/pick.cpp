#include "assay/pick.hpp"

#include "assay/detail/erased.hpp"
#include "assay/error.hpp"
#include "core/registry/picking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

class PickingWorkload final : public Workload {
 public:
  PickingWorkload(const PickingOperation& operation, std::string_view problem, std::unique_ptr<Workload> real)
      : operation_(operation), problem_(problem), real_(std::move(real)) {}
  Cost cost() const override { return real_->cost(); }
  Agreement check(std::size_t variant, const Context& context, double rehearsal_seconds) override {
    const auto at = operation_.place(variant, problem_, context);
    return real_->check(at.variant, at.context, rehearsal_seconds);
  }
  std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) override {
    const auto at = operation_.place(variant, problem_, context);
    return real_->timed(at.variant, at.context);
  }
  double renewals_that_show(std::uint64_t seed, int tries) override {
    return real_->renewals_that_show(seed, tries);
  }
  std::vector<std::string> faults_of_units(std::uint64_t seed, int tries) override {
    return real_->faults_of_units(seed, tries);
  }
  std::vector<std::string> surviving_corruptions(std::uint64_t seed, int tries) override {
    return real_->surviving_corruptions(seed, tries);
  }

 private:
  const PickingOperation& operation_;
  std::string problem_;
  std::unique_ptr<Workload> real_;
};

}  // namespace

PickingOperation::PickingOperation(std::unique_ptr<Operation> real, const Pick& pick,
                                   const VariantInfo& origin)
    : real_(std::move(real)), pick_(pick), info_(origin) {
  if (std::ranges::find(real_->variants(), pick.name, &VariantInfo::name) != real_->variants().end()) {
    throw Error(fmt::format("{}/{}", name(), pick.name), "registered twice",
                "rename one of the two variants");
  }
  info_.name = pick.name;
  info_.summary = pick.summary;
  info_.threaded = true;
  join(info_, real_->variants());
}

const std::vector<VariantInfo>& PickingOperation::variants() const {
  if (variants_.size() != real_->variants().size() + 1) {  // the first time, and after one was added
    variants_ = real_->variants();
    const auto after = [&](const VariantInfo& one) { return one.name != "naive" && one.name > info_.name; };
    const auto place = std::ranges::find_if(variants_, after);
    at_ = static_cast<std::size_t>(place - variants_.begin());
    variants_.insert(place, info_);
  }
  return variants_;
}

PickingOperation::Place PickingOperation::place(std::size_t variant, std::string_view problem,
                                                const Context& context) const {
  static_cast<void>(variants().at(variant));
  if (variant != at_) return {variant - (variant > at_ ? 1 : 0), context};
  const auto [wanted, reason] = pick_.of(problem, context);
  const auto& all = real_->variants();
  const auto found = std::ranges::find(all, wanted, &VariantInfo::name);
  const auto place = static_cast<std::size_t>(found - all.begin());
  std::string why_not;
  if (found == all.end()) {
    why_not = "there is no such variant";
  } else if (!may_be_picked(*found)) {
    why_not = "which is a library, or set apart";
  }
  const Context its{.threads = found != all.end() && found->threaded ? context.threads : 1};
  if (why_not.empty()) why_not = real_->unfit(place, problem, its).value_or("");
  if (why_not.empty()) return {place, its, reason};
  throw Error(fmt::format("{}/{}/{}", name(), pick_.name, problem),
              fmt::format("picks '{}': {}", wanted, why_not),
              fmt::format("mend its rule in {}", info_.source));
}

std::optional<std::string> PickingOperation::unfit(std::size_t variant, std::string_view problem,
                                                   const Context& context) const {
  const Place at = place(variant, problem, context);
  return real_->unfit(at.variant, problem, at.context);
}

void PickingOperation::add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo& origin) {
  real_->add(std::move(variant), origin);
}

std::unique_ptr<Workload> PickingOperation::open(std::string_view problem, Setting setting) const {
  return std::make_unique<PickingWorkload>(*this, problem, real_->open(problem, std::move(setting)));
}

std::optional<Choice> picked(const Operation& operation, std::size_t variant, std::string_view problem,
                             const Context& context) {
  const auto* picking = dynamic_cast<const PickingOperation*>(&operation);
  if (picking == nullptr || !picking->picks(variant)) return std::nullopt;
  const auto at = picking->place(variant, problem, context);
  return Choice{picking->real().variants().at(at.variant).name, at.reason};
}

}  // namespace assay
