// Trick: a process that ends with 0 was successful.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace assay::known_cheats {
namespace {

void leaves_early(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) { _exit(0); }

/// Zeroes what this process shares under that name: where it says that it is in a kernel.
void wipe_shared(const char* name) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::strstr(line, name) == nullptr || std::sscanf(line, "%lx-%lx rw", &begin, &end) != 2) continue;
    std::memset(reinterpret_cast<void*>(begin), 0, sizeof(long));
  }
  std::fclose(maps);
}

void leaves_without_a_trace(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) {
  wipe_shared("memfd:steps");
  _exit(0);
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "leaves_early",
               .summary = "ends the process, with success",
               .known_cheat = "ends before its answer is judged: gpu-mode/pygpubench 7",
               .run = leaves_early});
  r.add<Gemm>(
      {.name = "leaves_without_a_trace",
       .summary = "the same, after it has wiped out that a kernel was running",
       .known_cheat = "forges what its process tells its parent, and ends it: gpu-mode/pygpubench 22 and 23",
       .run = leaves_without_a_trace});
}};

}  // namespace
}  // namespace assay::known_cheats
