#include "core/machine/processor.hpp"

#include "assay/machine.hpp"
#include "core/machine/limits.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace assay {
namespace {

std::string call_for_text(const char* symbol) {
  using Function = char*();
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) return "";
  const char* text = reinterpret_cast<Function*>(address)();
  return text == nullptr ? "" : text;
}

bool one_of(std::string_view core, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return same_core(core, name); });
}

std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
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
  if (core.empty()) return "";
  const std::string tier = tier_of(features);
  const bool avx512 = one_of(core, {"SkylakeX", "Cooperlake", "SapphireRapids"});
  if (tier == "avx512" && !avx512) return "SkylakeX";
  return tier == "avx2" && !avx512 && !one_of(core, {"Haswell", "Zen"}) ? "Haswell" : "";
}

std::string openblas_remedy() {
  const OpenBlas blas = linked_openblas();
  const std::string core = better_openblas_core(this_processor().features, blas.core);
  // A build for one core only does not read the variable.
  if (core.empty() || !blas.chooses_core) return "";
  return "OPENBLAS_CORETYPE=" + core;
}

// Makefile.x86_64 and dynamic.c of OpenBLAS say which options of the compiler each is built with. Prescott
// needs SSE3. No feature tells it, but every processor with SSSE3 has it.
const std::vector<OpenBlasCore>& openblas_cores() {
  static const std::vector<OpenBlasCore> cores = [] {
    const std::vector<std::string> haswell{"avx", "fma", "avx2"};
    const auto skylake = with(haswell, {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"});
    const auto cooperlake = with(skylake, {"avx512_vnni", "avx512_bf16"});
    return std::vector<OpenBlasCore>{
        {.name = "Prescott", .needs = {"ssse3"}},
        {.name = "Core2", .needs = {"ssse3"}},
        {.name = "Nehalem", .needs = {"ssse3", "sse4"}},
        {.name = "Sandybridge", .needs = {"ssse3", "sse4", "avx"}},
        {.name = "Haswell", .needs = haswell},
        {.name = "Zen", .needs = haswell},
        {.name = "SkylakeX", .needs = skylake},
        {.name = "Cooperlake", .needs = cooperlake},
        {.name = "SapphireRapids",
         .needs = with(cooperlake, {"avx_vnni", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8"})},
    };
  }();
  return cores;
}

std::vector<std::string> lacking(const OpenBlasCore& core, const std::vector<std::string>& features) {
  std::vector<std::string> out;
  std::ranges::copy_if(core.needs, std::back_inserter(out),
                       [&](const std::string& feature) { return !has(features, feature); });
  return out;
}

bool same_core(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace assay
