#include "bench/programs/project.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/programs/cmake_build.hpp"
#include "core/json/fields.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace assay {
namespace {

namespace fs = std::filesystem;

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

void describe(Fields& f, ProgramUse& use) {
  f("kind", use.kind, kinds,
    {.terse = true, .about = "of the program: kernels of assay, Google Benchmark, or any command"});
  f("filter", use.filter, {.terse = true, .about = "of benchmarks, for gates without -k"});
  f("match", use.match,
    {.terse = true, .about = "the number that a command prints, as `wrap --match`; default: its wall time"});
  f("rate", use.rate, {.terse = true, .about = "that number is a rate: more of it is better"});
  f("cpu", use.processor, {.terse = true, .about = "processor time of a command"});
  if (!f.reads()) return;
  if (!use.is_foreign() && !use.filter.empty()) f.refuse("filter", "is of other programs than kernels");
  const bool command = use.kind == ProgramUse::Kind::command, number = !use.match.empty();
  if (!command && number) f.refuse("match", "is of the kind \"command\"");
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
    if (out.target.empty() && !out.use.is_foreign()) {
      out.target = own->program.filename().string();
      if (out.program.empty()) out.program = own->program.generic_string();
    }
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

bool is_of_this_project() {
  const fs::path folder = own_build_folder();
  if (folder.empty()) return true;  // installed
  const auto entries = cache_entries_of(folder);
  const auto name = entries.find("CMAKE_PROJECT_NAME");
  return name != entries.end() && name->second == "assay";
}

}  // namespace assay
