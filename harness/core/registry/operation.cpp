#include "assay/operation.hpp"

#include "assay/detail/erased.hpp"
#include "assay/error.hpp"

#include <array>

namespace assay {

std::string_view to_string(Fill fill) {
  static constexpr std::array<std::string_view, 3> words{"exact", "uniform", "offset"};
  return words[static_cast<std::size_t>(fill)];
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
