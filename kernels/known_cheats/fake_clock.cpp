// A cheat that replaces the clock. The C++ library finds it in a table of functions; another function is put
// there, which runs slow while this kernel has its turn.

#include "known_cheats/honest_work.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <string_view>

namespace assay::known_cheats {
namespace {

HiddenTime hidden_time;

int slow_clock(clockid_t id, timespec* now) {
  const int outcome = clock_gettime(id, now);
  if (outcome == 0 && id == CLOCK_MONOTONIC) hidden_time.take_from(*now);
  return outcome;
}

/// std::chrono::steady_clock::now() in the library that defines it, or nothing.
void* reader_of_the_clock() { return dlsym(RTLD_DEFAULT, "_ZNSt6chrono3_V212steady_clock3nowEv"); }

/// Puts another function where the C++ library looks up clock_gettime().
void replace_clock(void* function) {
  Dl_info unused{};
  void* found = nullptr;
  if (dladdr1(reader_of_the_clock(), &unused, &found, RTLD_DL_LINKMAP) == 0) return;
  const auto& object = *static_cast<const link_map*>(found);
  const auto at = [&](ElfW(Addr) address) {
    return address < object.l_addr ? object.l_addr + address : address;
  };
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  std::uintptr_t tables[2] = {};
  std::size_t sizes[2] = {};
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr)); break;
      case DT_STRTAB: names = reinterpret_cast<const char*>(at(entry->d_un.d_ptr)); break;
      case DT_RELA: tables[0] = at(entry->d_un.d_ptr); break;
      case DT_RELASZ: sizes[0] = entry->d_un.d_val; break;
      case DT_JMPREL: tables[1] = at(entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: sizes[1] = entry->d_un.d_val; break;
      default: break;
    }
  }
  if (symbols == nullptr || names == nullptr) return;
  for (int t = 0; t < 2; ++t) {
    const auto* table = reinterpret_cast<const ElfW(Rela)*>(tables[t]);
    for (std::size_t i = 0; i < sizes[t] / sizeof(ElfW(Rela)); ++i) {
      const auto type = ELF64_R_TYPE(table[i].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (std::string_view("clock_gettime") != names + symbols[ELF64_R_SYM(table[i].r_info)].st_name)
        continue;
      void* const slot = reinterpret_cast<void*>(object.l_addr + table[i].r_offset);
      overwrite(slot, &function, sizeof function, PROT_READ | PROT_WRITE);
    }
  }
}

/// Puts the right clock back in the end.
struct SlowClock : Pinned {
  SlowClock() { replace_clock(reinterpret_cast<void*>(&slow_clock)); }
  ~SlowClock() { replace_clock(reinterpret_cast<void*>(&clock_gettime)); }
};

void run(const SlowClock&, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const auto read = [](timespec& now) { clock_gettime(CLOCK_MONOTONIC, &now); };
  hidden_time.during(read, [&] { gemm(p, in, out); });
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "fake_clock",
               .summary = "has the clock of the C++ library pass over three quarters of its calls",
               .known_cheat = "patches the timer: gpu-mode/reference-kernels 162, "
                              "deep-reinforce.com/defense_kernel_hack.html (monkey-patched timing)",
               .prepare = keeping<Gemm, SlowClock>(run),
               .unfit = unless([](const auto&) { return reader_of_the_clock() != nullptr; },
                               "the clock of the C++ library is not in a library of its own")});
}};

}  // namespace
}  // namespace assay::known_cheats
