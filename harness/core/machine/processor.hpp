// Names this processor and the instructions that it may use here, from cpuid or from the text of
// /proc/cpuinfo. And OpenBLAS as it is linked into this program, if it is: version, and which of its kernels
// it chose for these instructions.
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

// The widest tier of these features in one word: avx512, avx2, avx, sse4, sse2, sve, neon, rvv or portable.
std::string tier_of(const std::vector<std::string>& features);
// The features as people write them, the widest family first: `AVX-512 VNNI BF16`.
std::string spoken_features(const std::vector<std::string>& features);

bool has(const std::vector<std::string>& features, std::string_view feature);

// Names this machine: `amd_epyc_26_2_2c_avx512`.
std::string machine_key(const Processor& processor, int cores);

struct OpenBlas {
  bool linked = false;
  bool chooses_core = false;  // at run time; else it was built for one
  std::string core;           // `Haswell`, `SkylakeX`, …
  std::string configuration;  // its own words, without the core: `OpenBLAS 0.3.21 … DYNAMIC_ARCH …`
};
// Looked up by name in the running program, so that the harness itself does not depend on OpenBLAS.
OpenBlas linked_openblas();

// Returns the core type that OpenBLAS should have chosen on a processor with these features; empty when the
// chosen one uses its widest vectors. A release older than the processor may not know it, and
// OPENBLAS_CORETYPE in the environment overrules the detection. In both cases the peer of our kernels is
// slower than it could be.
std::string better_openblas_core(const std::vector<std::string>& features, std::string_view core);

struct OpenBlasCore {
  std::string name;                // as OPENBLAS_CORETYPE takes it
  std::vector<std::string> needs;  // the Processor::features that its kernels are compiled for
};

// The core types of x86 whose needs are known here, the least demanding first. The list leaves out second
// names and older core types of AMD, some of which need FMA4, which no feature tells.
const std::vector<OpenBlasCore>& openblas_cores();

// Returns the features that the core needs and the processor lacks; empty when it can execute it.
std::vector<std::string> lacking(const OpenBlasCore& core, const std::vector<std::string>& features);

// OpenBLAS compares names without regard to case.
bool same_core(std::string_view a, std::string_view b);

}  // namespace assay
