#include "core/machine/processor.hpp"

#include "assay/csv.hpp"
#include "core/machine/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace assay {
namespace {

// Removes marks and words without information from the name of a model.
std::string plain_model(std::string model) {
  if (const auto at = model.find('@'); at != std::string::npos) model.resize(at);
  for (const std::string_view noise : {"(R)", "(TM)", "(r)", "(tm)", "CPU", "Processor"}) {
    for (auto at = model.find(noise); at != std::string::npos; at = model.find(noise)) {
      model.erase(at, noise.size());
    }
  }
  return model;
}

std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

bool bit(std::uint64_t word, int index) { return ((word >> index) & 1U) != 0; }

}  // namespace

std::vector<std::string> features_of(const Cpuid& id) {
  const bool os_saves = bit(id.leaf1_ecx, 27);
  const bool ymm = os_saves && (id.xcr0 & 0x6U) == 0x6U;
  const bool zmm = ymm && (id.xcr0 & 0xe0U) == 0xe0U;
  const bool tiles = os_saves && (id.xcr0 & 0x60000U) == 0x60000U;
  std::vector<std::string> out;
  for (const auto& [name, usable] : std::initializer_list<std::pair<std::string_view, bool>>{
           {"sse2", bit(id.leaf1_edx, 26)},
           {"ssse3", bit(id.leaf1_ecx, 9)},
           {"sse4", bit(id.leaf1_ecx, 20)},
           {"avx", ymm && bit(id.leaf1_ecx, 28)},
           {"f16c", ymm && bit(id.leaf1_ecx, 29)},
           {"fma", ymm && bit(id.leaf1_ecx, 12)},
           {"avx2", ymm && bit(id.leaf7_ebx, 5)},
           {"avx_vnni", ymm && bit(id.leaf7_1_eax, 4)},
           {"avx512f", zmm && bit(id.leaf7_ebx, 16)},
           {"avx512dq", zmm && bit(id.leaf7_ebx, 17)},
           {"avx512cd", zmm && bit(id.leaf7_ebx, 28)},
           {"avx512bw", zmm && bit(id.leaf7_ebx, 30)},
           {"avx512vl", zmm && bit(id.leaf7_ebx, 31)},
           {"avx512_vnni", zmm && bit(id.leaf7_ecx, 11)},
           {"avx512_bf16", zmm && bit(id.leaf7_1_eax, 5)},
           {"avx512_fp16", zmm && bit(id.leaf7_edx, 23)},
           {"amx_tile", tiles && bit(id.leaf7_edx, 24)},
           {"amx_bf16", tiles && bit(id.leaf7_edx, 22)},
           {"amx_int8", tiles && bit(id.leaf7_edx, 25)}}) {
    if (usable) out.emplace_back(name);
  }
  return out;
}

void read_signature(std::uint32_t eax, Processor& processor) {
  const auto field = [eax](int from, std::uint32_t mask) { return static_cast<int>((eax >> from) & mask); };
  const int family = field(8, 0xf);
  processor.family = family == 0xf ? family + field(20, 0xff) : family;
  // The extended model counts for families 6 and 15 and above only.
  processor.model_number = field(4, 0xf) + (family == 0x6 || family == 0xf ? field(16, 0xf) << 4 : 0);
  processor.stepping = field(0, 0xf);
}

Processor processor_from_cpuinfo(std::string_view text) {
  Processor out;
  out.model = field_of(text, "model name");
  if (out.model.empty()) out.model = field_of(text, "uarch");
  if (out.model.empty()) {
    // Arm names neither maker nor model in words: the two numbers identify the core.
    const std::string maker = field_of(text, "CPU implementer"), part = field_of(text, "CPU part");
    if (!part.empty()) out.model = fmt::format("arm {} {}", maker, part);
  }
  const auto present = words(field_of(text, "Features"));
  for (const std::string_view name :
       {"asimd", "fphp", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2", "sme"}) {
    if (has(present, name)) out.features.emplace_back(name);
  }
  const std::string isa = field_of(text, "isa");
  if (isa.starts_with("rv")) {
    // rv64imafdcv_zicsr…: single letters up to the first underscore, after the width.
    const auto letters = isa.substr(0, isa.find('_'));
    if (letters.find('v', 2) != std::string::npos) out.features.emplace_back("rvv");
  }
  return out;
}

#if defined(__x86_64__) || defined(__i386__)

namespace {

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

std::string text_of(std::initializer_list<std::uint32_t> registers) {
  std::string out;
  for (const std::uint32_t r : registers) {
    std::array<char, 4> bytes{};
    std::memcpy(bytes.data(), &r, bytes.size());
    out.append(bytes.data(), bytes.size());
  }
  out.resize(std::strlen(out.c_str()));
  return out;
}

std::string hypervisor() {
  if (!bit(cpuid(1).ecx, 31)) return "";
  Registers r;
  // Above the range that __get_cpuid_count checks for.
  __cpuid(0x40000000U, r.eax, r.ebx, r.ecx, r.edx);
  const std::string id = text_of({r.ebx, r.ecx, r.edx});
  if (id.starts_with("KVMKVMKVM")) return "KVM";
  if (id == "Microsoft Hv") return "Hyper-V";
  if (id == "VMwareVMware") return "VMware";
  if (id == "XenVMMXenVMM") return "Xen";
  return id.empty() ? "unnamed" : id;
}

}  // namespace

Processor this_processor() {
  Processor out;
  for (const std::uint32_t leaf : {0x80000002U, 0x80000003U, 0x80000004U}) {
    const Registers r = cpuid(leaf);
    out.model += text_of({r.eax, r.ebx, r.ecx, r.edx});
  }
  out.model = std::string(csv::trimmed(out.model));
  if (out.model.empty()) {
    const Registers r = cpuid(0);
    out.model = text_of({r.ebx, r.edx, r.ecx});
  }
  const Registers one = cpuid(1), seven = cpuid(7);
  read_signature(one.eax, out);
  Cpuid id{.leaf1_ecx = one.ecx,
           .leaf1_edx = one.edx,
           .leaf7_ebx = seven.ebx,
           .leaf7_ecx = seven.ecx,
           .leaf7_edx = seven.edx,
           .leaf7_1_eax = seven.eax >= 1 ? cpuid(7, 1).eax : 0};
  if (bit(one.ecx, 27)) {
    std::uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    id.xcr0 = (static_cast<std::uint64_t>(high) << 32) | low;
  }
  out.features = features_of(id);
  out.hypervisor = hypervisor();
  return out;
}

#else

Processor this_processor() { return processor_from_cpuinfo(try_read("/proc/cpuinfo").value_or("")); }

#endif

bool has(const std::vector<std::string>& features, std::string_view feature) {
  return std::ranges::find(features, feature) != features.end();
}

std::string tier_of(const std::vector<std::string>& features) {
  // avx512 as compilers and libraries mean it since Skylake: F alone is not enough for any of them.
  const auto all = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, [&](std::string_view name) { return has(features, name); });
  };
  if (all({"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"})) return "avx512";
  if (all({"avx2", "fma"})) return "avx2";
  for (const std::string_view name : {"avx", "sse4", "sse2"}) {
    if (has(features, name)) return std::string(name);
  }
  if (has(features, "sve")) return "sve";
  if (has(features, "asimd")) return "neon";
  if (has(features, "rvv")) return "rvv";
  return "portable";
}

std::string spoken_features(const std::vector<std::string>& features) {
  struct Spoken {
    std::string_view tier, text;
  };
  const std::array tiers{Spoken{"avx512", "AVX-512"}, Spoken{"avx2", "AVX2"}, Spoken{"avx", "AVX"},
                         Spoken{"sse4", "SSE4"},      Spoken{"sse2", "SSE2"}, Spoken{"sve", "SVE"},
                         Spoken{"neon", "NEON"},      Spoken{"rvv", "RVV"}};
  const std::string tier = tier_of(features);
  const auto found = std::ranges::find(tiers, tier, &Spoken::tier);
  std::string out(found == tiers.end() ? std::string_view("no vector instructions known") : found->text);
  for (const auto& [feature, text] : {std::pair{"avx512_vnni", " VNNI"},
                                      {"avx512_bf16", " BF16"},
                                      {"avx512_fp16", " FP16"},
                                      {"amx_tile", " AMX"},
                                      {"bf16", " BF16"},
                                      {"i8mm", " I8MM"}}) {
    if (has(features, feature)) out += text;
  }
  return out;
}

std::string machine_key(const Processor& processor, int cores) {
  std::string name = slug(plain_model(processor.model));
  if (name.empty()) name = "unknown";
  if (processor.family >= 0) name += fmt::format("_{}_{}", processor.family, processor.model_number);
  return fmt::format("{}_{}c_{}", name, cores, tier_of(processor.features));
}

}  // namespace assay
