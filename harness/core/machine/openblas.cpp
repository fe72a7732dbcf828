#include "core/machine/openblas.hpp"

#include "assay/machine.hpp"
#include "core/machine/openblas_cores.hpp"
#include "core/machine/processor.hpp"
#include "core/machine/text_fields.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

std::string call_for_text(const char* symbol) {
  using Function = char*();
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) return "";
  const char* text = reinterpret_cast<Function*>(address)();
  return text == nullptr ? "" : text;
}

template <std::size_t n>
bool one_of(std::string_view core, const std::array<std::string_view, n>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return same_core(core, name); });
}

}  // namespace

OpenBlas linked_openblas() {
  OpenBlas out;
  out.core = call_for_text("openblas_get_corename");
  const std::string configuration = call_for_text("openblas_get_config");
  out.linked = !out.core.empty() || !configuration.empty();
  // The configuration repeats the core where it was chosen at run time.
  for (const auto& word : words(configuration)) {
    out.chooses_core = out.chooses_core || word == "DYNAMIC_ARCH";
    if (same_core(word, out.core)) continue;
    out.configuration += (out.configuration.empty() ? "" : " ") + word;
  }
  return out;
}

std::string better_openblas_core(const std::vector<std::string>& features, std::string_view core) {
  constexpr std::array<std::string_view, 3> with_avx512{"SkylakeX", "Cooperlake", "SapphireRapids"};
  constexpr std::array<std::string_view, 2> with_avx2{"Haswell", "Zen"};
  if (core.empty()) return "";
  const std::string tier = tier_of(features);
  if (tier == "avx512" && !one_of(core, with_avx512)) return "SkylakeX";
  if (tier == "avx2" && !one_of(core, with_avx2) && !one_of(core, with_avx512)) return "Haswell";
  return "";
}

std::string openblas_remedy() {
  const OpenBlas blas = linked_openblas();
  const std::string core = better_openblas_core(this_processor().features, blas.core);
  // A build for one core only does not read the variable.
  if (core.empty() || !blas.chooses_core) return "";
  return "OPENBLAS_CORETYPE=" + core;
}

}  // namespace assay
