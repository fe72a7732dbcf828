#include "core/code/differing_functions.hpp"

#include "core/code/compiled_test.hpp"
#include "core/code/elf.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

namespace assay {
namespace {

using namespace std::literals;

struct Encoded {
  std::string_view bytes;
  const char* text;
  std::size_t distance = 0, distance_size = 0;
};

// By the tables of the Intel 64 manual, volume 2. Every entry is followed by bytes that are no part of it.
constexpr std::array instructions{
    Encoded{"\x90"sv, "nop"},
    Encoded{"\x48\x89\xe5"sv, "mov %rsp,%rbp"},
    Encoded{"\xe8\x01\x02\x03\x04"sv, "call", 1, 4},
    Encoded{"\xf2\xe9\x01\x02\x03\x04"sv, "bnd jmp", 2, 4},
    Encoded{"\x74\x10"sv, "je", 1, 1},
    Encoded{"\x0f\x84\x01\x02\x03\x04"sv, "je", 2, 4},
    Encoded{"\x48\x8d\x05\x01\x02\x03\x04"sv, "lea (%rip),%rax", 3, 4},
    Encoded{"\x48\xc7\x05\x01\x02\x03\x04\x05\x06\x07\x08"sv, "movq $imm32,(%rip)", 3, 4},
    Encoded{"\x66\xc7\x05\x01\x02\x03\x04\x05\x06"sv, "movw $imm16,(%rip)", 3, 4},
    Encoded{"\x80\x3d\x01\x02\x03\x04\x05"sv, "cmpb $imm8,(%rip)", 2, 4},
    Encoded{"\xff\x25\x01\x02\x03\x04"sv, "jmp *(%rip)", 2, 4},
    Encoded{"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"sv, "movabs"},
    Encoded{"\x8b\x44\x24\x08"sv, "mov 8(%rsp),%eax"},
    Encoded{"\x8b\x04\x25\x01\x02\x03\x04"sv, "mov disp32,%eax: a base of 5 without a displacement"},
    Encoded{"\x8b\x84\x85\x01\x02\x03\x04"sv, "mov disp32(%rbp,%rax,4),%eax"},
    Encoded{"\xf6\xc1\x01"sv, "test $imm8,%cl"},
    Encoded{"\xf6\xd9"sv, "neg %cl"},
    Encoded{"\xf7\x05\x01\x02\x03\x04\x05\x06\x07\x08"sv, "testl $imm32,(%rip)", 2, 4},
    Encoded{"\xc8\x01\x02\x03"sv, "enter"},
    Encoded{"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"sv, "cs nopw"},
    Encoded{"\xf3\x0f\x10\x05\x01\x02\x03\x04"sv, "movss (%rip),%xmm0", 4, 4},
    Encoded{"\x66\x0f\x3a\x0f\xc1\x08"sv, "palignr $imm8"},
    Encoded{"\x66\x0f\x38\x00\x05\x01\x02\x03\x04"sv, "pshufb (%rip)", 5, 4},
    Encoded{"\xc5\xf8\x77"sv, "vzeroupper"},
    Encoded{"\xc5\xfa\x10\x05\x01\x02\x03\x04"sv, "vmovss (%rip)", 4, 4},
    Encoded{"\xc5\xf9\x70\xc0\x55"sv, "vpshufd $imm8"},
    Encoded{"\xc4\xe2\x7d\x18\x05\x01\x02\x03\x04"sv, "vbroadcastss (%rip)", 5, 4},
    Encoded{"\xc4\xe3\x7d\x06\xc1\x31"sv, "vperm2f128 $imm8"},
    Encoded{"\x62\xf2\x7d\x48\xb8\x45\x01"sv, "vfmadd231ps with a short displacement"},
    Encoded{"\x62\xf3\x7d\x48\x1f\xc1\x02"sv, "vpcmpd $imm8"},
};

TEST(Instruction, HasTheLengthAndTheDistanceOfTheManual) {
  for (const Encoded& one : instructions) {
    const Instruction found = decoded(std::string(one.bytes) + "\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc");
    EXPECT_EQ(found.length, one.bytes.size()) << one.text;
    EXPECT_EQ(found.distance, one.distance) << one.text;
    EXPECT_EQ(found.distance_size, one.distance_size) << one.text;
  }
}

TEST(Instruction, IsNoneWhereItIsCutShortOrUnknown) {
  for (const Encoded& one : instructions) {
    for (std::size_t size = 0; size < one.bytes.size(); ++size) {
      EXPECT_LE(decoded(one.bytes.substr(0, size)).length, size) << one.text;
    }
    EXPECT_EQ(decoded(one.bytes.substr(0, one.bytes.size() - 1)).length == one.bytes.size(), false)
        << one.text;
  }
  EXPECT_EQ(decoded("").length, 0U);
  EXPECT_EQ(decoded("\x06"sv).length, 0U);
  EXPECT_EQ(decoded("\x66\x66"sv).length, 0U);
}

/// Addresses at which instructions start, by the disassembler of the compiler's tools.
std::set<std::uint64_t> by_objdump(const std::filesystem::path& program) {
  const std::string line = "objdump -d --no-show-raw-insn '" + program.string() + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(line.c_str(), "r"), pclose);
  std::set<std::uint64_t> out;
  std::array<char, 4096> text{};
  while (pipe != nullptr && std::fgets(text.data(), text.size(), pipe.get()) != nullptr) {
    unsigned long long address = 0;
    char colon = 0;
    if (text[0] == ' ' && std::sscanf(text.data(), " %llx%c", &address, &colon) == 2 && colon == ':')
      out.insert(address);
  }
  return out;
}

TEST(Instruction, StartsWhereADisassemblerSaysInAWholeProgram) {
  const testing::CompiledFolder folder;
  folder.write(
      "a.cpp",
      "#include <cmath>\n#include <map>\n#include <string>\n#include <iostream>\n"
      "__attribute__((target(\"avx512f\"))) float sum(const float* x, int n) { float s = 0;\n"
      "  for (int i = 0; i < n; ++i) s += x[i] * x[i] + 3.0f; return s; }\n"
      "__attribute__((target(\"avx2,fma\"))) void scale(double* x, int n) {\n"
      "  for (int i = 0; i < n; ++i) x[i] = x[i] * 1.5 + std::sqrt(x[i]); }\n"
      "int main(int argc, char** argv) { std::map<std::string, int> m; float f[64] = {}; double d[64] = {};\n"
      "  for (int i = 0; i < argc; ++i) ++m[argv[i]]; scale(d, 64); std::cout << sum(f, 64) << m.size();\n"
      "  switch (argc) { case 1: return 3; case 2: return argc * 7; case 5: return argc / 3; default: return "
      "0; } }\n");
  const auto program = folder.compile("a", "-O3 -static a.cpp");
  const std::set<std::uint64_t> expected = by_objdump(program);
  if (expected.empty()) GTEST_SKIP() << "objdump is missing";
  ElfOutcome outcome = read_elf(program);
  ASSERT_EQ(outcome.unreadable, "");
  const ProgramImage image(std::move(outcome.file));
  std::size_t known = 0;
  for (const LinkedFunction& function : image.functions()) {
    for (std::size_t at = 0; at < function.bytes.size();) {
      const Instruction one = decoded(function.bytes.substr(at));
      if (one.length == 0) break;
      ASSERT_TRUE(expected.contains(function.address + at)) << function.name << " + " << at;
      at += one.length;
      ++known;
    }
  }
  EXPECT_GT(known, expected.size() * 9 / 10) << "of all instructions of the program and its libraries";
}

}  // namespace
}  // namespace assay
