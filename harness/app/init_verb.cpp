// A project to start from, or what an existing one lacks.

#include "app/output.hpp"
#include "app/starter.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/pipeline.hpp"
#include "bench/programs/project.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;

struct StarterFile {
  fs::path path;  ///< from the project's folder
  std::string text;
};

std::string filled(std::string_view text, const std::string& source) {
  std::string out(text);
  const std::array<std::pair<std::string_view, std::string>, 2> words{
      {{"@source@", source},
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

bool holds_something(const fs::path& folder) {
  if (!fs::exists(folder)) return false;
  if (!fs::is_directory(folder)) throw Error(folder.string(), "is no folder", "name one");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != ".git") return true;
  }
  return false;
}

void write_starter(const fs::path& folder, const StarterFile& file) {
  fs::create_directories((folder / file.path).parent_path());
  write_file(folder / file.path, file.text);
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out.substr(0, out.find_last_not_of(" \n") + 1) + "\n";
}

std::string next_steps(const InitOptions& options, const std::string& source) {
  return fmt::format(
      "next, in {}:\n"
      "  git init && git add -A && git commit -m 'a first kernel'     # gates compare commits\n"
      "  cmake -S {} -B build -G Ninja && cmake --build build\n"
      "  build/kernels check rmsnorm\n"
      "  build/kernels run {}\n"
      "  build/kernels gate --base HEAD                               # after an edit and a build\n",
      options.folder.string(), source,
      (fs::path(source) / "kernels.json").lexically_normal().generic_string());
}

}  // namespace

Outcome init_verb(const InitOptions& options) {
  const bool is_there = holds_something(options.folder);
  // Beside what others build, with a CMakeLists.txt of its own: nothing of theirs changes.
  const std::string source = fs::exists(options.folder / "assay.json") ? project_in(options.folder).source
                             : is_there                                ? "assay"
                                                                       : ".";
  const bool writes = !is_there || options.write;
  std::vector<fs::path> kept;
  for (const StarterFile& file : files_of(source)) {
    if (fs::exists(options.folder / file.path)) {
      kept.push_back(file.path);
    } else if (writes) {
      write_starter(options.folder, file);
      print_visible(stdout, "wrote {}\n", (options.folder / file.path).string());
    } else {
      print_visible(stdout, "{}:\n{}\n", file.path.string(), indented(file.text));
    }
  }
  for (const fs::path& path : kept)
    print_visible(stdout, "{} is there already, and stays as it is\n", path.string());
  if (writes) {
    print_visible(stdout, "{}", next_steps(options, source));
  } else {
    print_visible(stdout, "nothing was changed: assay init {} --write writes these files\n",
                  shell_word(options.folder.string()));
  }
  return {};
}

}  // namespace assay
