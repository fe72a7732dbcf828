#include "bench/programs/cmake_build.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/json/json.hpp"
#include "core/machine/build_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Folders and files that were found are not among them: a revision finds its own.
bool decides_machine_code(const std::string& name, std::string_view type) {
  constexpr std::array<std::string_view, 5> paths{"CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER",
                                                  "CMAKE_PREFIX_PATH", "CMAKE_TOOLCHAIN_FILE", "assay_DIR"};
  if (name == "ASSAY_PLANT") return false;  // a slow-down of the head alone
  return type == "BOOL" || type == "STRING" || type == "UNINITIALIZED" ||
         name.starts_with("FETCHCONTENT_SOURCE_DIR_") || std::ranges::find(paths, name) != paths.end();
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

/// Calls take(name, type, value) for each entry of a CMakeCache.txt.
template <class Take>
void for_each_entry(std::string_view text, const Take& take) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    // NAME:TYPE=value, and comments that begin with # or //.
    const std::size_t colon = line.find(':'), equals = line.find('=');
    if (line.empty() || line.front() == '#' || line.front() == '/') continue;
    if (colon == std::string::npos || equals == std::string::npos || colon > equals) continue;
    take(line.substr(0, colon), line.substr(colon + 1, equals - colon - 1), line.substr(equals + 1));
  }
}

/// The entries that decide machine code. Other values than flags that name the folder of the sources or of
/// the build are for that build alone, and a cache of compilations makes no other code.
std::map<std::string, std::string> definitions_of(const fs::path& build) {
  std::map<std::string, std::string> out;
  const fs::path file = build / "CMakeCache.txt";
  if (!fs::exists(file)) return out;
  const std::string text = read_file(file), source = cache_entries(text)["CMAKE_HOME_DIRECTORY"];
  for_each_entry(text, [&](const std::string& name, const std::string& type, const std::string& value) {
    const bool flags = name.find("FLAGS") != std::string::npos;
    const bool own = !flags && (value.find(build.string()) != std::string::npos ||
                                (!source.empty() && value.find(source) != std::string::npos));
    if (decides_machine_code(name, type) && !own && !name.ends_with("_LAUNCHER")) out.emplace(name, value);
  });
  return out;
}

}  // namespace

std::map<std::string, std::string> cache_entries(std::string_view text) {
  std::map<std::string, std::string> out;
  for_each_entry(text, [&](const std::string& name, const std::string&, const std::string& value) {
    out.emplace(name, value);
  });
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

BuildSettings settings_of(const fs::path& build, bool kernels) {
  const BuildInfo& info = build_info();
  BuildSettings out;
  out.definitions = definitions_of(build);
  // A library that was installed may have been built by another one than the program that it is part of.
  out.compiler = build.empty() ? "" : compiler_of(build);
  if (out.compiler.empty() && kernels) out.compiler = info.compiler;
  out.identity = fmt::format("{}\nHighway {}\nbenchmark {}\n", out.compiler, info.highway, info.benchmark);
  const auto decide = [&](const std::string& argument) {
    out.arguments.push_back(argument);
    out.identity += argument + '\n';
  };
  if (build.empty()) {
    if (!variable("CXX").empty()) decide("-DCMAKE_CXX_COMPILER=" + variable("CXX"));
    // CMake reads these by itself.
    for (const char* name : {"CC", "CFLAGS", "CXXFLAGS", "LDFLAGS"}) out.identity += variable(name) + '\n';
  }
  for (const auto& [name, value] : out.definitions) decide(fmt::format("-D{}={}", name, value));
  auto entries = build.empty() ? std::map<std::string, std::string>{} : cache_entries_of(build);
  if (entries.contains("CMAKE_GENERATOR")) decide("-G" + entries["CMAKE_GENERATOR"]);
  for (const char* launcher : {"CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"}) {
    if (entries.contains(launcher))
      out.arguments.push_back(fmt::format("-D{}={}", launcher, entries[launcher]));
  }
  return out;
}

std::vector<std::string> differences(const BuildSettings& settings, const fs::path& build) {
  std::vector<std::string> out;
  const auto in_words = [](const std::string& value) { return value.empty() ? "empty" : value; };
  for (const auto& [name, value] : definitions_of(build)) {
    const auto head = settings.definitions.find(name);
    if (head == settings.definitions.end() || head->second == value) continue;
    out.push_back(fmt::format("{} is {} in the head and {} in the base", name, in_words(head->second),
                              in_words(value)));
  }
  return out;
}

std::vector<ProgramTarget> programs_in(const fs::path& source, const std::vector<std::string>& configure,
                                       const Hooks& hooks) {
  const ScratchFolder scratch;
  const fs::path api = scratch.path() / "build/.cmake/api/v1", log = scratch.path() / "log";
  fs::create_directories(api / "query");
  write_file(api / "query/codemodel-v2", "");
  Command command{.words = {"cmake", "-S", source.string(), "-B", (scratch.path() / "build").string()},
                  .folder = {}};
  command.words.insert(command.words.end(), configure.begin(), configure.end());
  if (run_child(command, log, hooks) != 0) {
    throw Error(source.string(), "cmake cannot configure it:\n" + last_lines(log, 10),
                "install what is missing, or say how: --configure=-DNAME=VALUE");
  }
  std::vector<ProgramTarget> out;
  for (const auto& entry : fs::directory_iterator(api / "reply")) {
    if (!entry.path().filename().string().starts_with("target-")) continue;
    const Json target = parse_json(read_file(entry.path()), entry.path().string());
    if (target.at("type").text() != "EXECUTABLE" || !target.contains("artifacts")) continue;
    ProgramTarget& program = out.emplace_back(
        ProgramTarget{target.at("name").text(), target.at("artifacts").at(0).at("path").text()});
    for (const Json& part : target.at("link").at("commandFragments").items()) {
      const std::string file = fs::path(part.at("fragment").text()).filename().string();
      program.benchmark = program.benchmark || file.starts_with("libbenchmark.");
    }
  }
  std::ranges::sort(out, {}, &ProgramTarget::name);
  return out;
}

}  // namespace assay
