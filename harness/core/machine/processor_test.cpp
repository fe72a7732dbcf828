#include "core/machine/processor.hpp"

#include <gmock/gmock.h>

#include <regex>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint32_t bit(int index) { return std::uint32_t{1} << index; }

// A processor with AVX-512 as Skylake has it, under a system that saves all its registers.
Cpuid with_avx512() {
  return {.leaf1_ecx = bit(9) | bit(12) | bit(20) | bit(27) | bit(28) | bit(29),
          .leaf1_edx = bit(26),
          .leaf7_ebx = bit(5) | bit(16) | bit(17) | bit(28) | bit(30) | bit(31),
          .leaf7_ecx = bit(11),
          .leaf7_1_eax = bit(5),
          .xcr0 = 0xe7};
}

TEST(Processor, NamesTheFeaturesThatCpuidShows) {
  EXPECT_THAT(features_of(with_avx512()),
              ElementsAre("sse2", "ssse3", "sse4", "avx", "f16c", "fma", "avx2", "avx512f", "avx512dq",
                          "avx512cd", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16"));
}

TEST(Processor, DoesNotUseRegistersThatTheSystemDoesNotSave) {
  Cpuid id = with_avx512();
  id.xcr0 = 0x7;  // xmm and ymm only
  EXPECT_THAT(features_of(id), AllOf(Contains("avx2"), Not(Contains("avx512f"))));
  id.xcr0 = 0x3;  // xmm only
  EXPECT_EQ(tier_of(features_of(id)), "sse4");
  id.xcr0 = 0xe7;
  id.leaf1_ecx &= ~bit(27);  // xgetbv not enabled: xcr0 means nothing
  EXPECT_EQ(tier_of(features_of(id)), "sse4");
}

TEST(Processor, CallsItAvx512OnlyWithAllThatSkylakeHas) {
  Cpuid id = with_avx512();
  id.leaf7_ebx &= ~bit(30);  // no avx512bw, as on the first Xeon Phi
  EXPECT_EQ(tier_of(features_of(id)), "avx2");
}

TEST(Processor, ReadsExtendedFamilyAndModelFromTheSignature) {
  Processor zen5;
  // Family 0xf + 0xb = 26, model 0x02, stepping 1, packed as AMD's manual 24594 section E.3.2 lays them out.
  read_signature(0x00b00f21, zen5);
  EXPECT_EQ(zen5.family, 26);
  EXPECT_EQ(zen5.model_number, 2);
  EXPECT_EQ(zen5.stepping, 1);
  Processor skylake;
  read_signature(0x00050654, skylake);  // 06_55H in Intel's table of processor signatures
  EXPECT_EQ(skylake.family, 6);
  EXPECT_EQ(skylake.model_number, 0x55);
  EXPECT_EQ(skylake.stepping, 4);
}

TEST(Processor, ReadsArmFromCpuinfo) {
  const auto p = processor_from_cpuinfo(
      "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes asimdhp sve bf16 i8mm\n"
      "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd40\n");
  EXPECT_EQ(p.model, "arm 0x41 0xd40");
  EXPECT_EQ(p.family, -1);
  EXPECT_THAT(p.features, ElementsAre("asimd", "asimdhp", "bf16", "i8mm", "sve"));
  EXPECT_EQ(machine_key(p, 4), "arm_0x41_0xd40_4c_sve");
  EXPECT_EQ(spoken_features(p.features), "SVE BF16 I8MM");
}

TEST(Processor, FindsTheVectorExtensionOfRiscVOnlyAmongTheSingleLetters) {
  EXPECT_THAT(processor_from_cpuinfo("isa\t: rv64imafdcv_zicsr\n").features, ElementsAre("rvv"));
  EXPECT_THAT(processor_from_cpuinfo("isa\t: rv64imafdc_svinval\n").features, IsEmpty());
}

TEST(Processor, SurvivesACpuinfoWithNothingInIt) {
  for (const char* text : {"", "\n\n", "Features", "Features:", "isa : rv", "garbage without end"}) {
    EXPECT_THAT(processor_from_cpuinfo(text).features, IsEmpty()) << text;
  }
}

TEST(MachineKey, KeepsModelCoresAndTierAndLeavesMarketingOut) {
  Processor p{.model = "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
              .family = 6,
              .model_number = 106,
              .features = features_of(with_avx512())};
  EXPECT_EQ(machine_key(p, 16), "intel_xeon_platinum_8375c_6_106_16c_avx512");
  p.model = "AMD EPYC";
  p.family = 26;
  p.model_number = 2;
  EXPECT_EQ(machine_key(p, 2), "amd_epyc_26_2_2c_avx512");
}

TEST(MachineKey, IsAUsableFolderNameForAnyModelText) {
  const std::regex grammar("[a-z0-9]+(_[a-z0-9]+)*");
  for (const char* model : {"", "  ", "../../etc", "Ünïcode ™ CPU", "@ 3 GHz", "(R)(TM)", "a/b\\c:d*e"}) {
    const std::string key = machine_key({.model = model}, 1);
    EXPECT_TRUE(std::regex_match(key, grammar)) << key;
  }
  EXPECT_EQ(machine_key({}, 1), "unknown_1c_portable");
}

TEST(Processor, SpeaksOfFeaturesAsPeopleDo) {
  EXPECT_EQ(spoken_features(features_of(with_avx512())), "AVX-512 VNNI BF16");
  EXPECT_EQ(spoken_features({}), "no vector instructions known");
}

}  // namespace
}  // namespace assay
