#include "core/code/changed_code.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// A part of memory that may be executed.
struct CodeInMemory {
  std::uint64_t begin = 0, end = 0, offset = 0;  ///< the latter in its file
  std::string file;
  bool has_own_pages = false;  ///< pages that were written to
};

constexpr std::string_view of_system = "[vdso]";

std::vector<CodeInMemory> code_of(std::istream& maps) {
  std::vector<CodeInMemory> out;
  bool wanted = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first, rights;
    words >> first;
    if (first.ends_with(':')) {  // about the part above
      std::uint64_t kibibytes = 0;
      if (wanted && first == "Anonymous:" && words >> kibibytes) out.back().has_own_pages = kibibytes > 0;
      continue;
    }
    CodeInMemory next;
    std::string offset, device, node;
    words >> rights >> offset >> device >> node >> std::ws;
    std::getline(words, next.file);
    wanted = rights.size() > 2 && rights[2] == 'x';
    if (!wanted) continue;
    next.begin = std::strtoull(first.c_str(), nullptr, 16);
    next.end = std::strtoull(first.c_str() + std::min(first.size(), first.find('-') + 1), nullptr, 16);
    next.offset = std::strtoull(offset.c_str(), nullptr, 16);
    out.push_back(std::move(next));
  }
  return out;
}

std::string bytes_at(const std::string& file, std::uint64_t offset, std::uint64_t size) {
  const int open_file = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (open_file < 0) return "";
  std::string out(size, '\0');
  std::size_t got = 0;
  for (ssize_t count = 1; got < size && count > 0;
       got += static_cast<std::size_t>(std::max<ssize_t>(count, 0)))
    count = pread(open_file, out.data() + got, size - got, static_cast<off_t>(offset + got));
  close(open_file);
  out.resize(got);
  return out;
}

/// Whether there is more than breakpoints: the instruction int3 of one byte, which the system puts there for
/// those who trace calls.
bool differs(const std::string& memory, const std::string& file) {
  constexpr char breakpoint = '\xcc';
  const std::size_t both = std::min(memory.size(), file.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (memory[i] != file[i] && memory[i] != breakpoint) return true;
  }
  return false;
}

bool is_of_assay(const std::string& file, const std::string& program) {
  constexpr std::array<std::string_view, 5> libraries{"libassay", "libc.so", "libm.so", "libstdc++.so",
                                                      "ld-linux"};
  const std::string name = std::filesystem::path(file).filename().string();
  return file == program ||
         std::ranges::any_of(libraries, [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::string changed_code(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/", process);
  std::ifstream maps(folder + "smaps");
  if (!maps) {
    const bool may_be_looked_at = prctl(PR_GET_DUMPABLE) == 1 && std::ifstream("/proc/self/smaps").good();
    return may_be_looked_at && std::filesystem::exists(folder) ? "memory that it hides from its parent" : "";
  }
  std::error_code unknown;
  const std::string program = std::filesystem::read_symlink(folder + "exe", unknown).string();
  for (const CodeInMemory& one : code_of(maps)) {
    const std::uint64_t size = one.end - one.begin;
    if (one.file == of_system) {
      const std::string here(reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR)), size);
      if (differs(bytes_at(folder + "mem", one.begin, size), here)) return "the clock of the system";
      continue;
    }
    if (!one.has_own_pages || !is_of_assay(one.file, program)) continue;
    const std::string& file = one.file == program ? folder + "exe" : one.file;
    if (differs(bytes_at(folder + "mem", one.begin, size), bytes_at(file, one.offset, size)))
      return std::filesystem::path(one.file).filename().string();
  }
  return "";
}

}  // namespace assay
