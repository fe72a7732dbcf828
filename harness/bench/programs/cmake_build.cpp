#include "bench/programs/cmake_build.hpp"

#include "assay/files.hpp"
#include "core/machine/build_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Options of a project are not among them: a revision may have changed what they are by default.
bool decides_machine_code(const std::string& name) {
  constexpr std::array<std::string_view, 11> names{"CMAKE_C_COMPILER",
                                                   "CMAKE_C_FLAGS",
                                                   "CMAKE_C_FLAGS_RELEASE",
                                                   "CMAKE_CXX_COMPILER",
                                                   "CMAKE_CXX_FLAGS",
                                                   "CMAKE_CXX_FLAGS_RELEASE",
                                                   "CMAKE_EXE_LINKER_FLAGS",
                                                   "CMAKE_INTERPROCEDURAL_OPTIMIZATION",
                                                   "CMAKE_PREFIX_PATH",
                                                   "CMAKE_TOOLCHAIN_FILE",
                                                   "assay_DIR"};
  return name.starts_with("ASSAY_WITH_") || name.starts_with("FETCHCONTENT_SOURCE_DIR_") ||
         std::ranges::find(names, name) != names.end();
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The value of `set(NAME "value")`.
std::string value_set(const std::string& script, std::string_view name) {
  const std::string opening = fmt::format("set({} \"", name);
  const std::size_t at = script.find(opening);
  if (at == std::string::npos) return "";
  const std::size_t from = at + opening.size();
  return script.substr(from, script.find('"', from) - from);
}

}  // namespace

std::map<std::string, std::string> cache_entries(std::string_view text) {
  std::map<std::string, std::string> out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    // NAME:TYPE=value, and comments that begin with # or //.
    const std::size_t colon = line.find(':'), equals = line.find('=');
    if (line.empty() || line.front() == '#' || line.front() == '/') continue;
    if (colon == std::string_view::npos || equals == std::string_view::npos || colon > equals) continue;
    out.emplace(line.substr(0, colon), line.substr(equals + 1));
  }
  return out;
}

std::map<std::string, std::string> cache_entries_of(const fs::path& build) {
  const fs::path file = build / "CMakeCache.txt";
  return fs::exists(file) ? cache_entries(read_file(file)) : std::map<std::string, std::string>{};
}

std::string compiler_of(const fs::path& build) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(build / "CMakeFiles", ignored)) {
    const fs::path file = entry.path() / "CMakeCXXCompiler.cmake";
    if (!fs::exists(file)) continue;
    const std::string script = read_file(file);
    return fmt::format("{} {}", value_set(script, "CMAKE_CXX_COMPILER_ID"),
                       value_set(script, "CMAKE_CXX_COMPILER_VERSION"));
  }
  return "";
}

fs::path build_folder_of(const fs::path& program) {
  for (fs::path folder = fs::absolute(program).parent_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / "CMakeCache.txt")) return folder;
    if (folder == folder.parent_path()) return {};
  }
}

fs::path own_build_folder() { return build_folder_of(fs::read_symlink("/proc/self/exe")); }

BuildSettings settings_of_this_build() {
  const BuildInfo& info = build_info();
  BuildSettings out;
  const fs::path folder = own_build_folder();
  // A library that was installed may have been built by another one than the program that it is part of.
  out.compiler = folder.empty() ? "" : compiler_of(folder);
  if (out.compiler.empty()) out.compiler = info.compiler;
  out.identity = fmt::format("{}\nHighway {}\nbenchmark {}\n", out.compiler, info.highway, info.benchmark);
  const auto decide = [&](const std::string& argument) {
    out.arguments.push_back(argument);
    out.identity += argument + '\n';
  };
  const auto entries = folder.empty() ? std::map<std::string, std::string>{} : cache_entries_of(folder);
  if (entries.empty()) {
    if (!variable("CXX").empty()) decide("-DCMAKE_CXX_COMPILER=" + variable("CXX"));
    // CMake reads these by itself.
    out.identity += fmt::format("{}\n{}\n", variable("CXXFLAGS"), variable("LDFLAGS"));
  }
  for (const auto& [name, value] : entries) {
    if (decides_machine_code(name)) decide(fmt::format("-D{}={}", name, value));
    if (name == "CMAKE_GENERATOR") decide("-G" + value);
    if (name == "CMAKE_BUILD_TYPE") out.build_type = value;
    // A cache of compilations makes no other machine code.
    if (name == "CMAKE_CXX_COMPILER_LAUNCHER") out.arguments.push_back(fmt::format("-D{}={}", name, value));
  }
  return out;
}

}  // namespace assay
