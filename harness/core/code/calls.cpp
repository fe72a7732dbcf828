#include "core/code/calls.hpp"

#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fnmatch.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

namespace assay {
namespace {

constexpr std::string_view threads = "threads", system_calls = "system", by_name = "dlopen";

/// Names, as patterns of fnmatch(3), and the library that they belong to; an empty library is not reported.
/// The first matching row counts.
struct Row {
  std::string_view to, names;
};

constexpr Row rows[] = {
    // The registry hands out other variants, which a kernel could call.
    {"registry",
     "assay::Registry::linked assay::Registry::at assay::Registry::operations assay::Registry::take"},
    // The rest of the harness works for all variants alike.
    {"", "assay::*"},

    // These run work on other threads.
    {threads,
     "pthread_create thrd_create clone clone3 __clone std::thread::_M_start_thread GOMP_parallel* GOMP_task* "
     "GOMP_teams* GOMP_target* __kmpc_fork_* __kmpc_omp_task*"},
    // With these, running threads wait for each other and share out work.
    {"",
     "GOMP_* omp_* __kmpc_* pthread_mutex_* pthread_cond_* pthread_rwlock_* pthread_spin_* pthread_barrier_* "
     "pthread_once pthread_self pthread_equal pthread_join pthread_detach pthread_[gs]etspecific "
     "pthread_key_* sem_init sem_destroy sem_post sem_wait"},

    // These find functions by name while the program runs. The functions stay hidden.
    {by_name, "dlopen dlmopen dlsym dlvsym __libc_dlopen_mode __libc_dlsym"},
    // Files and random numbers of C++, except the text of paths; the clock, by which a kernel may learn that
    // it is timed; system calls. callee_of() handles the rest of the C library.
    {"", "std::filesystem::__cxx11::path::*"},
    {system_calls,
     "std::filesystem::* std::basic_?fstream* std::basic_filebuf* std::__basic_file* std::random_device::* "
     "std::chrono::* syscall io_uring_*"},

    // Memory, exceptions and types of C++.
    {"",
     "std::* operator?new* operator?delete* __cxxabiv1::* __gnu_cxx::* __cxa_* __gxx_personality_v0 "
     "__dynamic_cast __dso_handle _Unwind_*"},
    // Memory and text of C, to which compilers also turn loops.
    {"",
     "memcpy memmove memset memcmp memchr memrchr mempcpy bcmp strlen strnlen strcmp strncmp strchr strrchr "
     "strstr strcpy strncpy strto[dfl] strto[lu]l strtoull strtold atoi atol atof tolower toupper snprintf "
     "vsnprintf sscanf __mem*_chk __str*_chk __*snprintf_chk __isoc??_* malloc calloc realloc free "
     "aligned_alloc posix_memalign qsort bsearch abs labs abort __assert_fail __errno_location __ctype_* "
     "__libc_single_threaded"},
    // Mathematics on vectors. The library of mathematics holds the scalar functions.
    {"", "_ZGV*"},
    // Arithmetic that processors lack, and which processor this is.
    {"",
     "__*[sdtxhb][fic][234] __mul[sdxt]c3 __div[sdxt]c3 __cpu_model __cpu_features2 __cpu_indicator_init "
     "__atomic_* __sync_*"},
    // Symbols that the linker defines for the compiler, and instrumentation.
    {"",
     "__stack_chk_* __tls_get_addr _GLOBAL_OFFSET_TABLE_ __start_* __stop_* __gmon_start__ _ITM_* __asan_* "
     "__ubsan_* __tsan_* __msan_* __lsan_* __sanitizer_* __sancov_* __gcov_* __llvm_*"},
    // Highway says which tiers this processor has. Its vectors are compiled into the kernel.
    {"", "hwy::*"},

    // Libraries. A library that is not listed is named by the prefix of its functions.
    {"openblas", "cblas_* openblas_* goto_* [sdcz]gem[mv]_"},
    {"onednn", "dnnl_* dnnl::*"},
    {"tbb", "tbb::* TBB_* __TBB_*"},
    {"mkl", "mkl_* MKL_*"},
    {"blis", "bli_*"},
};

bool matches(const Row& row, const std::string& name) {
  return std::ranges::any_of(parts_of(row.names, ' '), [&](std::string_view pattern) {
    return fnmatch(std::string(pattern).c_str(), name.c_str(), 0) == 0;
  });
}

/// Whether the library itself, not one that it needs, defines the name.
bool is_in(const char* library, const std::string& name) {
  void* const opened = dlopen(library, RTLD_LAZY);
  if (opened == nullptr) return false;
  void* const found = dlsym(opened, name.c_str());
  Dl_info info;
  const bool is = found != nullptr && dladdr(found, &info) != 0 &&
                  std::filesystem::path(info.dli_fname).filename() == library;
  dlclose(opened);
  return is;
}

/// `tbb` of tbb::detail::r1::spawn, `cblas` of cblas_sgemm.
std::string prefix_of(const std::string& name) {
  const std::size_t space = name.substr(0, name.find('<')).find("::");
  const std::size_t end = space != std::string::npos ? space : name.find('_');
  return end == 0 ? name : name.substr(0, end);
}

bool means(const std::string& declared, const std::string& to, const std::string& name) {
  return declared == to || declared == name || declared == prefix_of(name);
}

/// Whether the name of an operator starts here, such as `operator new`.
bool is_operator(std::string_view text) {
  constexpr std::string_view word = "operator";
  if (!text.starts_with(word) || text.size() == word.size()) return false;
  const char next = text[word.size()];
  return std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_' && next != ':';
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {} more", fmt::join(names.begin(), names.begin() + (most - 1), ", "),
                     names.size() - (most - 1));
}

/// As files of the C library and of the run-time library of C++ begin.
constexpr std::array<std::string_view, 6> c_libraries{"libc.so",  "libm.so",  "libpthread.so",
                                                      "libdl.so", "librt.so", "ld-linux"};
constexpr std::string_view cpp_library = "libstdc++.so";

/// As the manual of the GNU C library lists them ("Replacing malloc"), with those that are no longer there.
constexpr std::array<std::string_view, 12> allocator{
    "aligned_alloc", "calloc",  "cfree",          "free",     "malloc",  "malloc_usable_size",
    "mallinfo",      "mallopt", "posix_memalign", "memalign", "pvalloc", "realloc"};

using Names = std::set<std::string, std::less<>>;

bool is_operator_of_memory(std::string_view name) {
  constexpr std::array<std::string_view, 4> of_memory{"_Znw", "_Zna", "_Zdl", "_Zda"};
  return std::ranges::any_of(of_memory, [&](std::string_view start) { return name.starts_with(start); });
}

/// Notes functions that a library defines for those who are linked now. Only strong ones of C++: weak ones
/// are templates and inline functions, which every file may have, as it may those of which the library keeps
/// strong ones since old programs called them.
void note_functions(const std::filesystem::path& library, bool is_of_cpp, Names& out) {
  const ElfOutcome outcome = read_elf(library);
  if (!outcome.unreadable.empty()) return;
  std::string_view versions;
  for (const ElfSection& section : outcome.file.sections) {
    if (section.type == SHT_GNU_versym) versions = section.bytes;
  }
  const auto& symbols = outcome.file.dynamic_symbols;
  Names found, inline_now;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool is_function = symbols[i].type == STT_FUNC || symbols[i].type == STT_GNU_IFUNC;
    if (!is_function || symbols[i].section == SHN_UNDEF) continue;
    if (is_of_cpp && symbols[i].binding != STB_GLOBAL) continue;
    constexpr std::uint16_t of_old_programs = 0x8000;
    std::uint16_t version = 0;
    if ((i + 1) * sizeof version <= versions.size())
      std::memcpy(&version, versions.data() + i * sizeof version, sizeof version);
    if ((version & of_old_programs) == 0) {
      found.emplace(symbols[i].name);
    } else if (is_of_cpp) {
      const std::string name = demangled(symbols[i].name);
      if (name.substr(0, name.find('(')).find('<') != std::string::npos) inline_now.emplace(symbols[i].name);
    }
  }
  std::ranges::set_difference(found, inline_now, std::inserter(out, out.end()));
}

int note_library(dl_phdr_info* library, std::size_t, void* data) {
  const std::filesystem::path path(library->dlpi_name);
  const std::string name = path.filename().string();
  const bool is_of_cpp = name.starts_with(cpp_library);
  if (is_of_cpp ||
      std::ranges::any_of(c_libraries, [&](std::string_view start) { return name.starts_with(start); }))
    note_functions(path, is_of_cpp, *static_cast<Names*>(data));
  return 0;
}

const Names& functions_of_libraries() {
  static const Names out = [] {
    Names found;
    dl_iterate_phdr(note_library, &found);
    std::erase_if(found, is_operator_of_memory);
    return found;
  }();
  return out;
}

}  // namespace

std::string demangled(std::string_view symbol) {
  const std::string own(symbol);
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(own.c_str(), nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? own : text.get();
}

std::string readable(std::string_view symbol) {
  const std::string own(symbol.substr(0, symbol.find('@')));  // without the version
  if (!own.starts_with("_Z")) return own;
  const std::string text = demangled(own);
  if (text == own) return own;
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts_part = name.empty() || name.back() == ':';
    if (depth == 0 && starts_part && is_operator(std::string_view(text).substr(i))) {
      // In operator()() the first pair of parentheses is part of the name.
      const std::size_t arguments = text.find('(', i + (text.substr(i).starts_with("operator()") ? 9 : 0));
      return name.append(text.substr(i, arguments == std::string_view::npos ? arguments : arguments - i));
    }
    if (depth == 0 && c == '(' && !starts_part) break;
    if (c == '<' || c == '(') ++depth;
    if (depth == 0) name += c;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && c == ' ') name.clear();  // that was the result, or the kind of a table
  }
  return name;
}

std::string callee_of(const std::string& name) {
  const auto row = std::ranges::find_if(rows, [&](const Row& one) { return matches(one, name); });
  if (row != std::end(rows)) return std::string(row->to);
  if (is_in("libm.so.6", name)) return "";
  if (is_in("libc.so.6", name)) return std::string(system_calls);
  return prefix_of(name);
}

std::vector<Calls> calls_of(const std::set<std::string>& symbols) {
  std::map<std::string, std::set<std::string>> found;
  for (const std::string& symbol : symbols) {
    const std::string name = readable(symbol), to = callee_of(name);
    if (!to.empty()) found[to].insert(name);
  }
  std::vector<Calls> out;
  for (const auto& [to, names] : found) out.push_back({to, {names.begin(), names.end()}});
  return out;
}

std::string lines_of(const std::vector<Calls>& calls) {
  std::string out;
  for (const Calls& one : calls) {
    for (const std::string& name : one.names) out += fmt::format("{} {}\n", one.to, name);
  }
  return out;
}

std::string in_words(const Calls& calls) { return fmt::format("{} ({})", calls.to, first_of(calls.names)); }

Agreement agreement_of_declaration(const VariantInfo& variant) {
  if (!variant.calls) return {};
  const auto disagreement = [](std::string detail) {
    return Agreement{.agrees = false, .detail = std::move(detail)};
  };
  for (const Calls& one : *variant.calls) {
    if (one.to == replaced_of_c_library) {
      return disagreement(fmt::format(
          "defines {}, which the C library has and the whole program calls: rename it, or keep it "
          "to its file (static)",
          first_of(one.names)));
    }
    std::vector<std::string> undeclared;
    for (const std::string& name : one.names) {
      const auto means_it = [&](const std::string& library) { return means(library, one.to, name); };
      if (std::ranges::none_of(variant.libraries, means_it)) undeclared.push_back(name);
    }
    if (undeclared.empty() || one.to == threads || one.to == system_calls) continue;
    return disagreement(fmt::format(
        "calls {}, which {}: add .libraries = {{\"{}\"}}", first_of(undeclared),
        one.to == by_name ? "hides what else it calls, and does not declare it" : "it does not declare",
        one.to));
  }
  return {};
}

std::vector<std::string> unreached_libraries(const VariantInfo& variant) {
  if (!variant.calls) return {};
  const auto reached = [&](const std::string& library) {
    return std::ranges::any_of(*variant.calls, [&](const Calls& one) {
      return std::ranges::any_of(one.names,
                                 [&](const std::string& name) { return means(library, one.to, name); });
    });
  };
  std::vector<std::string> out;
  for (const std::string& library : variant.libraries) {
    if (!reached(library)) {
      out.push_back(library);
    } else if (library == by_name) {
      return {};  // the others may be what it finds by name
    }
  }
  return out;
}

bool is_of_c_library(std::string_view name) { return functions_of_libraries().contains(name); }

std::vector<std::string> replaced_functions(const ElfFile& file) {
  const bool is_shared = !file.dynamic_symbols.empty();
  std::set<std::string> out;
  for (const ElfSymbol& symbol : is_shared ? file.dynamic_symbols : file.symbols) {
    if (symbol.binding == STB_LOCAL || symbol.section == SHN_UNDEF) continue;
    // Whatever an assembler calls it: code lies in sections that may be executed.
    const bool is_code = symbol.section >= file.sections.size()
                             ? symbol.section == SHN_ABS
                             : (file.sections[symbol.section].flags & SHF_EXECINSTR) != 0;
    const std::string name(symbol.name);
    if (!is_code || !is_of_c_library(name)) continue;
    if (is_shared && std::ranges::find(allocator, name) != allocator.end()) continue;
    out.insert(name);
  }
  return {out.begin(), out.end()};
}

}  // namespace assay
