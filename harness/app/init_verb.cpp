// A project to start from, or what an existing one lacks.

#include "app/output.hpp"
#include "app/starter.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/programs/project.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/text/command.hpp"
#include "core/text/parts.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

namespace fs = std::filesystem;

struct StarterFile {
  fs::path path;  ///< from the project's folder
  std::string text;
};

std::string filled(std::string_view text, const std::string& source) {
  std::string out(text);
  const std::array<std::pair<std::string_view, std::string>, 4> words{
      {{"@source@", source},
       {"@repository@", std::string(starter::repository)},
       {"@version@", build_info().version},
       {"@suite@", (fs::path(source) / "kernels.json").lexically_normal().generic_string()}}};
  for (const auto& [word, value] : words) {
    for (std::size_t at = 0; (at = out.find(word, at)) != std::string::npos; at += value.size())
      out.replace(at, word.size(), value);
  }
  return out;
}

/// `source`: where kernels go, from the project's folder.
std::vector<StarterFile> files_of(const std::string& source) {
  const fs::path kernels = fs::path(source).lexically_normal();
  const auto beside = [&](const char* name) { return (kernels / name).lexically_normal(); };
  return {{beside("CMakeLists.txt"), filled(starter::cmake_lists, source)},
          {beside("kernel.cpp"), filled(starter::kernel, source)},
          {beside("kernels.json"), filled(starter::suite, source)},
          {"assay.json", filled(starter::project, source)},
          {".github/workflows/kernels.yml", filled(starter::measuring, source)},
          {".github/workflows/kernels_comment.yml", filled(starter::commenting, source)},
          {".gitignore", filled(starter::ignored, source)}};
}

/// A gate of what the project builds, beside its own files: nothing is built or checked in the job itself.
std::vector<StarterFile> files_of(const Project& project) {
  std::string job;
  const std::string measuring = filled(starter::measuring, project.source);
  for (const std::string_view line : parts_of(measuring, '\n')) {
    if (line.find("build/kernels") == std::string_view::npos) job += fmt::format("{}\n", line);
  }
  job.pop_back();
  return {{"assay.json", json_text(to_value(project)) + "\n"},
          {".github/workflows/kernels.yml", job},
          {".github/workflows/kernels_comment.yml", std::string(starter::commenting)},
          {".gitignore", "assay-report/\n"}};
}

/// Says what can be gated, and how to ask for it.
std::string offer(const std::string& folder, const std::vector<ProgramTarget>& programs) {
  std::string out = "A gate can be of\n";
  const auto add = [&](const std::string& option, std::string_view about) {
    out += fmt::format("  assay init {} --kind {}\n      {}\n", folder, option, about);
  };
  for (const ProgramTarget& one : programs) {
    if (one.benchmark)
      add("google-benchmark --target " + shell_word(one.name), "its benchmarks, by their processor time");
  }
  for (const ProgramTarget& one : programs) {
    if (!one.benchmark)
      add("command --target " + shell_word(one.name), "its time, or a number that it prints");
  }
  add("kernels", "kernels of your own, each checked by an oracle of assay");
  return out;
}

/// The project that a gate of one of these programs builds. Throws Error where it is not clear which is
/// meant.
Project project_of(const InitOptions& options, std::vector<ProgramTarget> programs) {
  const bool benchmark = options.kind == InitOptions::Kind::google_benchmark;
  std::erase_if(programs, [&](const ProgramTarget& one) {
    return options.target.empty() ? benchmark && !one.benchmark : one.name != options.target;
  });
  if (programs.size() != 1) {
    std::vector<std::string> names;
    for (const ProgramTarget& one : programs) names.push_back(one.name);
    const std::string found =
        !options.target.empty() ? fmt::format("{} is no program that it builds", options.target)
        : names.empty() ? fmt::format("no target {}", benchmark ? "links Google Benchmark" : "is a program")
                        : fmt::format("{} could be meant", fmt::join(names, ", "));
    throw Error("--target", found, "name a target; one that an option adds needs it: --configure=-DNAME=ON");
  }
  return {.use = {.kind = benchmark ? ProgramUse::Kind::google_benchmark : ProgramUse::Kind::command},
          .target = programs.front().name,
          .program = programs.front().program == programs.front().name ? "" : programs.front().program,
          .configure = options.configure};
}

/// By the programs of a project that is there: one of Google Benchmark is what its gate is of. Says what else
/// could be.
InitOptions by_targets(InitOptions options, std::vector<ProgramTarget>& programs) {
  using Kind = InitOptions::Kind;
  const bool asked = options.kind != Kind::by_targets;
  const bool settled = !asked && fs::exists(options.folder / "assay.json");
  if (options.kind == Kind::kernels || settled || !fs::exists(options.folder / "CMakeLists.txt"))
    return options;
  try {
    programs = programs_in(options.folder, options.configure, Hooks{});
  } catch (const Error& failure) {
    if (asked) throw;
    print_visible(stdout, "{}\n", failure.what());
  }
  if (asked) return options;
  print_visible(stdout, "{}", offer(shell_word(options.folder.string()), programs));
  const auto benchmark = std::ranges::find(programs, true, &ProgramTarget::benchmark);
  if (benchmark == programs.end()) return options;
  options.kind = Kind::google_benchmark;
  if (options.target.empty()) options.target = benchmark->name;
  return options;
}

bool holds_something(const fs::path& folder) {
  if (!fs::exists(folder)) return false;
  if (!fs::is_directory(folder)) throw Error(folder.string(), "is no folder", "name one");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != ".git") return true;
  }
  return false;
}

std::string indented(const std::string& text) {
  const std::string out = "    " + spelled(text, {{'\n', "\n    "}});
  return out.substr(0, out.find_last_not_of(" \n") + 1) + "\n";
}

std::string next_steps(const InitOptions& options, const std::string& source) {
  constexpr const char* package =
      "ASSAY_SHA256 in .github/workflows/kernels.yml is the package's, of SHA256SUMS beside it.\n";
  if (options.kind > InitOptions::Kind::kernels) {
    return fmt::format(
        "next, in {}:\n"
        "  git add -A && git commit -m 'a gate'         # gates compare commits\n"
        "  assay gate --base HEAD~1                     # builds both, and says what became slower\n{}",
        options.folder.string(), package);
  }
  return fmt::format(
      "next, in {}:\n"
      "  git init && git add -A && git commit -m 'a first kernel'     # gates compare commits\n"
      "  cmake -S {} -B build -G Ninja && cmake --build build\n"
      "  build/kernels check rmsnorm\n"
      "  build/kernels run {}\n"
      "  build/kernels gate --base HEAD                               # after an edit and a build\n{}",
      options.folder.string(), source,
      (fs::path(source) / "kernels.json").lexically_normal().generic_string(), package);
}

}  // namespace

Outcome init_verb(const InitOptions& given) {
  const bool is_there = holds_something(given.folder);
  std::vector<ProgramTarget> programs;
  const InitOptions options = by_targets(given, programs);
  const bool foreign = options.kind > InitOptions::Kind::kernels;
  // Beside what others build, with a CMakeLists.txt of its own: nothing of theirs changes.
  const std::string source = fs::exists(options.folder / "assay.json") ? project_in(options.folder).source
                             : is_there                                ? "assay"
                                                                       : ".";
  const bool writes = !is_there || options.write;
  std::vector<fs::path> kept;
  for (const StarterFile& file : foreign ? files_of(project_of(options, programs)) : files_of(source)) {
    const fs::path path = options.folder / file.path;
    if (fs::exists(path)) {
      kept.push_back(file.path);
    } else if (writes) {
      fs::create_directories(path.parent_path());
      write_file(path, file.text);
      print_visible(stdout, "wrote {}\n", path.string());
    } else {
      print_visible(stdout, "{}:\n{}\n", file.path.string(), indented(file.text));
    }
  }
  for (const fs::path& path : kept)
    print_visible(stdout, "{} is there already, and stays as it is\n", path.string());
  if (writes) {
    print_visible(stdout, "{}", next_steps(options, source));
  } else {
    InitOptions writing = options;
    writing.write = true;
    print_visible(stdout, "nothing was changed: {} writes these files\n", command_of("init", writing));
  }
  return {};
}

}  // namespace assay
