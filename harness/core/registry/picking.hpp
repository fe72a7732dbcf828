// An operation with one more variant, which is one of the others for each problem.
#pragma once

#include "assay/pick.hpp"

#include <memory>

namespace assay {

class PickingOperation final : public Operation {
 public:
  /// `origin` has the source, line and code of the rule. The variant has the code of all that it may be, and
  /// calls what they call. Throws Error where `real` has a variant of that name.
  PickingOperation(std::unique_ptr<Operation> real, const Pick& pick, const VariantInfo& origin);

  /// Without it: where further variants are added.
  Operation& real() const { return *real_; }

  /// A variant of `real`, the context it is run with, and why it was picked: empty where it was asked for.
  struct Place {
    std::size_t variant = 0;
    Context context;
    std::string_view reason{};
  };
  Place place(std::size_t variant, std::string_view problem, const Context& context) const;
  bool picks(std::size_t variant) const { return variants().at(variant).name == pick_.name; }

  std::string_view name() const override { return real_->name(); }
  std::string_view about() const override { return real_->about(); }
  int version() const override { return real_->version(); }
  std::vector<FieldRule> fields() const override { return real_->fields(); }
  std::vector<Fill> fills() const override { return real_->fills(); }
  const std::vector<VariantInfo>& variants() const override;
  std::vector<std::string> corner_cases() const override { return real_->corner_cases(); }
  std::vector<Tensor> tensors() const override { return real_->tensors(); }
  std::string canonical(std::string_view where, std::string_view problem) const override {
    return real_->canonical(where, problem);
  }
  std::string problem_of(const std::string& file) const override { return real_->problem_of(file); }
  double footprint(std::string_view problem) const override { return real_->footprint(problem); }
  Cost cost(std::string_view problem) const override { return real_->cost(problem); }
  std::optional<std::string> unfit(std::size_t variant, std::string_view problem,
                                   const Context& context) const override;
  std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const override;
  void add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo& origin) override;

 private:
  std::unique_ptr<Operation> real_;
  Pick pick_;
  VariantInfo info_;                           ///< of the variant that picks
  mutable std::vector<VariantInfo> variants_;  ///< those of `real` and this one
  mutable std::size_t at_ = 0;                 ///< its place among them
};

}  // namespace assay
