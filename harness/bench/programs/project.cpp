#include "bench/programs/project.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/json/fields.hpp"
#include "core/json/json.hpp"
#include "core/machine/build_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
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

constexpr std::string_view project_file = "assay.json";

constexpr std::array<std::string_view, 3> kinds{"kernels", "google-benchmark", "command"};

constexpr std::string_view example = R"(write {"schema": "assay.project/1", "target": "NAME"} into it)";

/// `path` from `folder`; nothing when it does not lie in it.
std::optional<fs::path> inside(const fs::path& folder, const fs::path& path) {
  std::error_code failed;
  const fs::path out = fs::relative(path, folder, failed);
  if (failed || out.empty() || *out.begin() == "..") return std::nullopt;
  return out;
}

/// A build of the repository in which the running program lies.
struct OwnBuild {
  fs::path source;   ///< from the root
  fs::path folder;   ///< of the build
  fs::path program;  ///< from there
};

std::optional<OwnBuild> own_build(const fs::path& root) {
  const fs::path program = fs::read_symlink("/proc/self/exe"), folder = own_build_folder();
  if (folder.empty()) return std::nullopt;
  const auto entries = cache_entries_of(folder);
  const auto home = entries.find("CMAKE_HOME_DIRECTORY");
  if (home == entries.end()) return std::nullopt;
  const auto source = inside(root, home->second), from_folder = inside(folder, program);
  if (!source || !from_folder) return std::nullopt;
  return OwnBuild{*source, folder, *from_folder};
}

/// Throws Error if `path` leads out of the project.
void require_inside(const fs::path& file, std::string_view key, const std::string& path) {
  const fs::path given(path);
  const fs::path normal = given.lexically_normal();
  if (given.is_absolute() || (!normal.empty() && *normal.begin() == "..")) {
    throw Error(file.string(), fmt::format("{}: '{}' leads out of the project", key, path),
                "name a path inside it");
  }
}

Project read_project(const fs::path& file) {
  auto out = value_from<Project>(read_file(file), file.string(), "`assay schema project` lists its keys");
  require_inside(file, "source", out.source);
  require_inside(file, "program", out.program);
  require_inside(file, "suite", out.suite);
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
    const std::string compiler = variable("CXX").value_or("");
    if (!compiler.empty()) decide("-DCMAKE_CXX_COMPILER=" + compiler);
    // CMake reads these by itself.
    for (const char* name : {"CC", "CFLAGS", "CXXFLAGS", "LDFLAGS"})
      out.identity += variable(name).value_or("") + '\n';
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

void describe(Fields& f, ProgramUse& use) {
  f("kind", use.kind, kinds,
    {.terse = true, .about = "of the program: kernels of assay, Google Benchmark, or any command"});
  f("filter", use.filter, {.terse = true, .about = "of benchmarks, for gates without -k"});
  f("counters", use.counters,
    {.terse = true, .about = "user counters of benchmarks that are judged, as \"hits=higher\""});
  f("match", use.match,
    {.terse = true, .about = "the number that a command prints, as `wrap --match`; default: its wall time"});
  f("rate", use.rate, {.terse = true, .about = "that number is a rate: more of it is better"});
  f("cpu", use.processor, {.terse = true, .about = "processor time of a command"});
  if (!f.reads()) return;
  if (!use.is_foreign() && !use.filter.empty()) f.refuse("filter", "is of other programs than kernels");
  const bool command = use.kind == ProgramUse::Kind::command, number = !use.match.empty();
  if (!command && number) f.refuse("match", "is of the kind \"command\"");
  if (use.kind != ProgramUse::Kind::google_benchmark && !use.counters.empty())
    f.refuse("counters", "are of the kind \"google-benchmark\"");
  if (use.rate && !number) f.refuse("rate", "is of a number: give \"match\"");
  if (use.processor && (number || !command)) f.refuse("cpu", "is of a \"command\" without \"match\"");
}

void describe(Fields& f, Project& project) {
  f.only<Project>();
  f.schema("assay.project/1");
  describe(f, project.use);
  f("source", project.source, {.optional = true, .about = "folder of CMakeLists.txt; default: the root"});
  f("target", project.target,
    {.optional = true, .about = "of CMake; default: that of the program which is asked"});
  f("program", project.program,
    {.terse = true,
     .about = "what the target makes, from the build folder: a program, or a plug-in lib….so; default: of "
              "its name"});
  f("preset", project.preset, {.terse = true, .about = "configure preset; default: none"});
  f("configure", project.configure,
    {.terse = true, .about = "arguments for cmake, beside compiler, flags and build type of this program"});
  f("arguments", project.arguments, {.terse = true, .about = "of a program that is not assay's"});
  f("suite", project.suite, {.terse = true, .about = "for gates of kernels without --suite"});
  if (!f.reads()) return;
  if (project.use.is_foreign() && !project.suite.empty()) f.refuse("suite", "is of kernels");
  if (!project.use.is_foreign() && !project.arguments.empty()) f.refuse("arguments", "are of other programs");
}

bool makes_plugin(const Project& project) { return fs::path(project.program).extension() == ".so"; }

Project project_in(const fs::path& root) {
  const fs::path file = root / project_file;
  const bool told = fs::exists(file);
  Project out = told ? read_project(file) : Project{};
  if (const auto own = own_build(root)) {
    if (!told) out.source = own->source.generic_string();
    // A checkout has its build where this one has, so that compiler caches know the relative paths.
    if (const auto build = inside(root, own->folder); build && *build != ".") out.build = *build;
    if (out.target.empty() && !out.use.is_foreign()) out.target = own->program.filename().string();
    if (out.program.empty() && own->program.filename() == out.target)
      out.program = own->program.generic_string();
  }
  if (out.target.empty()) {
    throw Error(file.string(),
                told ? "target: is missing, and this program was not built from here"
                     : "is missing, and this program was not built from here",
                std::string(example));
  }
  if (out.program.empty()) out.program = out.target;
  if (out.build.empty()) out.build = "build/release";
  return out;
}

Project project_file_in(const fs::path& root) {
  const fs::path file = root / project_file;
  return fs::exists(file) ? read_project(file) : Project{};
}

bool is_built_from(const fs::path& root) { return own_build(root).has_value(); }

}  // namespace assay
