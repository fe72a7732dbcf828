// An operation of any contract.
#pragma once

#include "assay/pick.hpp"
#include "core/registry/workload.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class ErasedOperation final : public Operation {
 public:
  /// `contract` must outlive it.
  explicit ErasedOperation(const detail::ErasedContract& contract) : contract_(contract) {}
  explicit ErasedOperation(std::unique_ptr<const detail::ErasedContract> contract)
      : owned_(std::move(contract)), contract_(*owned_) {}

  const detail::ErasedContract& contract() const { return contract_; }

  std::string_view name() const override { return contract_.name; }
  std::string_view about() const override { return contract_.about; }
  int version() const override { return contract_.version; }
  std::vector<FieldRule> fields() const override { return contract_.rules; }
  std::vector<Fill> fills() const override { return {contract_.fills.begin(), contract_.fills.end()}; }
  const std::vector<VariantInfo>& variants() const override { return info_; }
  std::vector<std::string> corner_cases() const override;
  std::vector<Tensor> tensors() const override;
  std::string canonical(std::string_view where, std::string_view problem) const override;
  std::string problem_of(const std::string& file) const override;
  double footprint(std::string_view problem) const override {
    return contract_.footprint(parse(problem).get());
  }
  Cost cost(std::string_view problem) const override { return contract_.cost(parse(problem).get()); }
  std::optional<std::string> unfit(std::size_t variant, std::string_view problem,
                                   const Context& context) const override;
  std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const override;
  void add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo& origin) override;

  /// Adds a variant that is one of the others for each problem. `origin` has the source, line and code of the
  /// rule. The variant has the code of all that it may be now, and calls what they call. Throws Error where
  /// there is a variant of that name.
  void add_pick(const Pick& pick, const VariantInfo& origin);
  bool picks(std::size_t variant) const { return variants_.at(variant) == nullptr; }
  /// Throws Error where a rule names a variant that it may not choose.
  detail::Place place(std::size_t variant, std::string_view problem, const Context& context) const;

 private:
  /// Adds it at the place of its name.
  void insert(const VariantInfo& info, std::unique_ptr<const detail::ErasedVariant> variant);
  detail::Owned parse(std::string_view problem) const;
  /// As without_content().
  std::vector<Index> shown_values(std::string_view problem) const;

  std::unique_ptr<const detail::ErasedContract> owned_;
  const detail::ErasedContract& contract_;
  detail::Variants variants_;
  std::vector<VariantInfo> info_;      ///< of the variants
  std::map<std::string, Pick> picks_;  ///< by name
};

}  // namespace assay
