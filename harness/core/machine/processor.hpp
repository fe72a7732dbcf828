// Names this processor and the instructions that it may use here, from cpuid or from the text of
// /proc/cpuinfo.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Processor {
  std::string model;  // as the maker or the hypervisor words it; may be as vague as "AMD EPYC"
  int family = -1, model_number = -1, stepping = -1;  // -1: not an x86 processor
  std::vector<std::string> features;                  // instruction sets usable here, weakest first
  std::string hypervisor;                             // empty when there is none, or none that shows itself
};

Processor this_processor();

// The registers of cpuid that tell instruction sets. xcr0 says which registers the system saves; the others
// cannot be used, even where the processor has them.
struct Cpuid {
  std::uint32_t leaf1_ecx = 0, leaf1_edx = 0, leaf7_ebx = 0, leaf7_ecx = 0, leaf7_edx = 0, leaf7_1_eax = 0;
  std::uint64_t xcr0 = 0;
};
std::vector<std::string> features_of(const Cpuid& cpuid);

// Family, model and stepping from the signature in leaf 1.
void read_signature(std::uint32_t leaf1_eax, Processor& processor);

// Reads /proc/cpuinfo of an architecture without cpuid; anything missing stays at its default.
Processor processor_from_cpuinfo(std::string_view text);

// The widest tier of these features in one word: avx512, avx2, avx, sse4, sse2, sve, neon,
// vector or portable.
std::string tier_of(const std::vector<std::string>& features);
// The features as people write them, the widest family first: `AVX-512 VNNI BF16`.
std::string spoken_features(const std::vector<std::string>& features);

bool has(const std::vector<std::string>& features, std::string_view feature);

// Names this machine: `amd_epyc_26_2_2c_avx512`.
std::string machine_key(const Processor& processor, int cores);

}  // namespace assay
