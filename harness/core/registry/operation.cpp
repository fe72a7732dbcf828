#include "assay/operation.hpp"

#include "assay/detail/erased.hpp"
#include "assay/error.hpp"

namespace assay {

std::string_view to_string(Fill fill) {
  switch (fill) {
    case Fill::exact: return "exact";
    case Fill::uniform: return "uniform";
    case Fill::offset: return "offset";
  }
  return "?";
}

void Operation::add(std::unique_ptr<detail::ErasedVariant> variant, const VariantInfo&) {
  throw Error(std::string(name()) + "/" + variant->info.name, "this operation takes no variants from outside",
              "");
}

Cost Operation::cost_of(std::size_t variant, std::string_view problem) const {
  const Site site = variants().at(variant).site;
  const bool is_here = site == Site::here || site == Site::here_with_own_clock;
  return is_here ? cost(problem) : Cost{.f32 = false};
}

}  // namespace assay
