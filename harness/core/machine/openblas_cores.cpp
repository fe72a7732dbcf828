#include "core/machine/openblas_cores.hpp"

#include "core/machine/processor.hpp"

#include <algorithm>
#include <iterator>

namespace assay {
namespace {

// The words of `more` after those of `base`.
std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

}  // namespace

// Makefile.x86_64 and dynamic.c of OpenBLAS say which options of the compiler each is built with. Prescott
// needs SSE3, which no feature tells, but whatever has SSSE3 has it.
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
